//! What lives between the calls of one caller: scratchpads, and the sessions of older protocol revisions.

pub(crate) mod handle;
mod memory;
pub(crate) mod mcp;

pub use memory::MemorySessions;
