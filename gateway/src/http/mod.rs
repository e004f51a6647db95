//! HTTP around the MCP service.
//!
//! ```text
//! request ─▶ panic ▸ guard (Host, Origin, content type, size) ▸ identity (caller, session's owner) ─▶ rmcp
//! ```

pub(crate) mod error;
pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod identity;
pub(crate) mod router;
