//! Development tasks of mcc: `cargo xtask generate`, and what other parts add beside it.
//!
//! One file a task; `main` only picks it. A task returns an error for "the answer is no", which exits 1.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task's output is for the terminal")]

mod bench;
mod cluster;
mod generate;
mod model;
mod qdrant;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of mcc.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure something.
    Bench(bench::Args),
    /// One real Kubernetes node for the tests: start it, stop it, say what runs.
    Cluster(cluster::Args),
    /// Write the generated files of the repository, or check that they are up to date.
    Generate(generate::Args),
    /// Fetch the weights of the optional embedder all-MiniLM-L6-v2.
    Model(model::Args),
    /// Build the Qdrant that tests run against.
    Qdrant(qdrant::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Bench(args) => bench::run(&args),
        Task::Cluster(args) => cluster::run(&args),
        Task::Generate(args) => generate::run(&args),
        Task::Model(args) => model::run(&args),
        Task::Qdrant(args) => qdrant::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
