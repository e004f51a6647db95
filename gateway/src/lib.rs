//! The MCP front of mcc: search and execute over a catalog of tools.
//!
//! ```text
//! HTTP ─▶ http (guard, identity) ─▶ mcp (the six tools, prompts, resources) ─▶ index
//! stdio ──────────────────────────▶                                        ─▶ calls (runs) ─▶ executor
//!                                                                          ─▶ session (scratchpads)
//! source ─▶ sync ─▶ index
//! ```
//!
//! [`Gateway`] puts it together from the seams of `mcc-catalog`: which source, index, executor and store, whoever makes
//! it decides.

pub mod auth;
mod calls;
mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod exec;
mod http;
mod limits;
mod mcp;
mod metrics;
mod server;
pub mod session;
pub mod source;
mod state;
mod sync;

pub use config::{ConfigError, GatewayConfig, MAX_TOOL_NAME};
pub use server::Gateway;
