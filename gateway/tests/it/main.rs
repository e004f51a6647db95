//! The gateway over its wire: HTTP requests and byte streams in, exact answers out. Index and executor are small
//! stand-ins, so that every outcome can be had at will.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod elicitation;
mod execution;
mod identity;
mod limits;
mod mutation;
mod processes;
mod resources;
mod support;
mod tasks;
mod texts;
mod transport;
