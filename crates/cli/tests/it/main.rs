//! The program as a whole: what it prints and how it ends.
//!
//! - `support`: running `mcc`, and its output as one text
//! - `usage`: help, version, wrong usage
//! - `import`: own fixtures for every construct of a toolset file
//! - `client_config`: configuration of MCP clients, printed and written
//! - `local`: commands on a folder of manifests
//! - `served`: `mcc up`, and the commands on it as a server
//! - `toolsets`: the original system's own files, against `recorder`, an HTTP server that keeps what it got

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test program")]
#![allow(clippy::format_push_string, reason = "transcripts are put together piece by piece")]

mod client_config;
mod import;
mod local;
mod recorder;
mod served;
mod support;
mod toolsets;
mod usage;
