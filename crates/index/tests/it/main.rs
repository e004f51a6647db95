//! Tests of the index as its users see it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and prints its figures"
)]

mod endpoint;
mod failures;
mod languages;
mod memory;
#[cfg(feature = "minilm")]
mod minilm;
mod retrieval;
mod support;
