//! Tests of the index as its users see it.

mod endpoint;
mod failures;
mod languages;
mod memory;
#[cfg(feature = "minilm")]
mod minilm;
mod retrieval;
mod support;
