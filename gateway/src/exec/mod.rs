//! Running tools.
//!
//! ```text
//! Invocation ─ plan ─→ fixed program ─ conversation ─→ Conclusion ─ outcome ─→ Outcome
//!              (what this      (a transport: child process,         (write_back)
//!               machine needs)  later an attached pod)
//! ```

pub mod capture;
pub mod conversation;
pub mod descendants;
pub mod environment;
mod outcome;
mod plan;
mod process;
pub mod python;
mod quantity;
pub mod shell;
mod workspace;
mod write_back;

pub use process::{ProcessExecutor, ProcessOptions};
