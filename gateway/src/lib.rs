//! Stub.

#[cfg(feature = "conformance")]
pub mod conformance;
