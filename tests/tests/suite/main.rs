//! The suites that cross crates.

mod clients;
mod conformance;
mod docs;
mod examples;
mod fuzz;
mod layout;
mod permission;
mod reload;
