//! What lives between the calls of one caller: scratchpads, and the sessions of older protocol revisions.

#[cfg(test)]
pub(crate) mod contract;
pub(crate) mod handle;
pub(crate) mod mcp;
mod memory;

pub use memory::MemorySessions;
