//! The harness of the suites that cross crates: programs under test, started and stopped.
//!
//! ```text
//! suite ──> server::Server (mcc up DIR, a process) <── client walks, conformance suite (Python, Node)
//!       └─> workspace: where things are
//! ```

pub mod http;
pub mod in_process;
pub mod server;
pub mod walk;
pub mod workspace;
