//! The operator as a whole: over an API server in memory (`scenarios`), and over a real one (the rest; skipped without
//! `MCC_TEST_KUBECONFIG`).

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]
#![expect(clippy::needless_pass_by_value, reason = "json! makes values")]

mod admission;
mod cluster;
mod faults;
mod leaders;
mod order;
mod scenarios;
mod support;
