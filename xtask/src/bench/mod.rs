//! `cargo xtask bench`: figures, for people as a table and for programs as JSON.

pub mod mcp;
mod retrieval;
mod search;

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
    /// nDCG@10, recall and MRR on the public tool-retrieval sets of the shared data.
    Retrieval(retrieval::Args),
    /// Load time, memory, p50 and p99 of searches in this process.
    Search(search::Args),
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
        Bench::Retrieval(args) => runtime()?.block_on(retrieval::run(args)),
        Bench::Search(args) => runtime()?.block_on(search::run(args)),
        Bench::Echo => mcp::echo::run(),
    }
}

/// The answer to `--check`: no, with every bound that is broken.
fn verdict(broken: &[String]) -> anyhow::Result<()> {
    anyhow::ensure!(broken.is_empty(), "out of bounds:\n  {}", broken.join("\n  "));
    Ok(())
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    if cfg!(debug_assertions) {
        eprintln!("note: a build without optimisation; use cargo run --release -p xtask -- bench …");
    }
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
