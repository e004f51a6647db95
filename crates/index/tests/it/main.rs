//! Tests of the index as its users see it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and prints its figures"
)]

mod endpoint;
mod failures;
mod languages;
mod memory;
#[cfg(feature = "minilm")]
mod minilm;
#[cfg(feature = "qdrant")]
mod qdrant;
mod retrieval;
mod support;
