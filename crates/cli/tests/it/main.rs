//! The program as a whole: what it prints and how it ends.
//!
//! - `support`: running `mcc`, and its output as one text
//! - `usage`: help, version, wrong usage
//! - `import`: own fixtures for every construct of a toolset file
//! - `client_config`: configuration of MCP clients, printed and written

mod client_config;
mod import;
mod support;
mod usage;
