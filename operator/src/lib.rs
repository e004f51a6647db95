//! The operator of mcc.
//!
//! Watches Tools, ToolGroups and UserGrants, says in their conditions what became of them, and keeps the search index at
//! the catalog. What becomes of an object is decided by [`mcc_catalog::compile`], as `mcc lint` and the gateway decide it;
//! the operator only says so.
//!
//! Everything is level-triggered: a controller compares what the API server has with what is to be said, and writes the
//! difference. So nothing is lost by a restart, a second operator, or a server that was away. See [`Operator`] for how
//! the parts hang together.

mod args;
pub mod conditions;
mod context;
mod controller;
mod dereference;
mod events;
mod grant;
mod group;
mod http;
mod index;
mod lease;
mod metrics;
mod operator;
mod queue;
mod status;
mod table;
mod tool;
mod view;

pub use args::Args;
pub use lease::LeaseOptions;
pub use operator::{Health, Operator, OperatorOptions};
