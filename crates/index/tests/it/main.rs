//! Tests of the index as its users see it.

mod retrieval;
mod support;
