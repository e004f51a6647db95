//! From Kubernetes watches to the catalog.
//!
//! ```text
//! watch Tools, ToolGroups, UserGrants, labels of Namespaces ─▶ Store (ObjectSet) ─▶ quiet for 10 ms ─▶ compile ─▶ Catalog
//!                                                                │
//!                                                                └▶ Observer: status and generation of every object
//! ```
//!
//! A watch that breaks is taken up again where it stood, or lists anew; meanwhile everything stays as it was. An object
//! that can't be read is reported and counts for nothing; it never stops the rest. A change of nothing but a status
//! compiles nothing.

mod client;
mod observer;
mod source;
mod store;
#[cfg(feature = "testsuite")]
pub mod testing;
mod watch;
mod watched;

pub use client::{ClientOptions, ConnectError, client, config, explain};
pub use observer::{Observed, Observer, Status};
pub use source::{ClusterOptions, ClusterSource, WatchHealth};
