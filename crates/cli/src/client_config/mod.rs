//! Configuration of MCP clients: what to write into which file.
//!
//! ```text
//! Client ─▶ Entry (http or stdio) ─▶ document to show
//!                                └─▶ merge into the client's file ─▶ backup, atomic write
//! ```

mod clients;
mod merge;
mod write;

pub use clients::{Client, Connection, Scope, Surroundings, Syntax};
pub use merge::{Merged, merge, toml_block, yaml_block};
pub use write::write;
