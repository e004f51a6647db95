//! Tests of the index as its users see it.

mod endpoint;
mod failures;
mod languages;
mod memory;
mod retrieval;
mod support;
