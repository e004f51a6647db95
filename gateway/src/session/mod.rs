//! What lives between the calls of one caller: scratchpads, and the sessions of older protocol revisions.

pub(crate) mod handle;
pub(crate) mod mcp;
mod memory;

pub use memory::MemorySessions;
