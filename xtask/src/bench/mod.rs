//! `cargo xtask bench`: figures, for people as a table and for programs as JSON.

pub mod mcp;

use clap::{Subcommand, ValueEnum};

/// Arguments of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Requests a second and latency over MCP, against a bare rmcp server in the same run; memory and load time.
    Mcp(mcp::Args),
    /// The bare server that `mcp` measures against.
    #[command(hide = true)]
    Echo,
}

/// The form of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

/// Runs a bench.
pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.bench {
        Bench::Mcp(args) => mcp::run(args),
        Bench::Echo => mcp::echo::run(),
    }
}
