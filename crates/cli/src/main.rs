//! `mcc`: serve, lint, import, search and call a catalog of tools.
//!
//! ```text
//! cli (clap) ─▶ commands/<verb> ─▶ Printer ─▶ stdout, stderr
//!                    │
//!                    └▶ ExitStatus: 0 done, 1 the answer is no, 2 wrong usage
//! ```

#![expect(clippy::format_push_string, reason = "texts are put together piece by piece, and none is long")]
#![expect(clippy::match_same_arms, reason = "the order of the arms is how a lexer reads")]
#![expect(clippy::single_match_else, reason = "both arms weigh the same")]
#![expect(clippy::struct_field_names, reason = "fields are named as they are printed")]

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
mod signals;
mod target;

fn main() -> std::process::ExitCode {
    commands::main().into()
}
