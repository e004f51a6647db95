//! Running tools.
//!
//! ```text
//! Invocation ─ plan ─→ fixed program ─ conversation ─→ Conclusion ─ outcome ─→ Outcome
//!              (what this      (a transport: child process,         (write_back)
//!               machine needs)  later an attached pod)
//! ```

pub mod capture;
#[cfg(any(test, feature = "testsuite"))]
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::return_self_not_must_use,
    reason = "tests, built as a library for other test binaries"
)]
pub mod contract;
pub mod conversation;
pub mod descendants;
pub mod environment;
mod outcome;
mod plan;
mod process;
pub mod python;
pub mod shell;
mod workspace;
mod write_back;

#[cfg(test)]
mod catalog_tests;
#[cfg(test)]
mod process_tests;

pub use process::{ProcessExecutor, ProcessOptions};
