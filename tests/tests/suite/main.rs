//! The suites that cross crates.

#![expect(clippy::unwrap_used, reason = "everything here is a test")]

mod benches;
mod clients;
mod cluster;
mod cluster_life;
mod conformance;
mod docs;
mod examples;
mod fuzz;
mod layout;
mod permission;
mod reload;
mod secrecy;
mod toolsets;
