//! The harness of the suites that cross crates: programs under test, started and stopped.
//!
//! ```text
//! suite ──> server::Server (mcc up DIR, a process) <── client walks, conformance suite (Python, Node)
//!       ├─> cluster::Cluster (a Kubernetes node, one for the whole run) <── kubectl
//!       └─> workspace: where things are
//! ```

pub mod cluster;
pub mod http;
pub mod in_process;
pub mod server;
pub mod walk;
pub mod workspace;
