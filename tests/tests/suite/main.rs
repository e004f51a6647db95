//! The suites that cross crates.

mod clients;
mod conformance;
mod docs;
mod fuzz;
mod layout;
mod permission;
