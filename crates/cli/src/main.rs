//! `mcc`: serve, lint, import, search and call a catalog of tools.
//!
//! ```text
//! cli (clap) ─▶ commands/<verb> ─▶ Printer ─▶ stdout, stderr
//!                    │
//!                    └▶ ExitStatus: 0 done, 1 the answer is no, 2 wrong usage
//! ```

mod called;
mod cli;
mod client_config;
mod commands;
mod embedder;
mod failure;
mod import;
mod local;
mod printer;
mod remote;
mod target;

fn main() -> std::process::ExitCode {
    commands::main().into()
}
