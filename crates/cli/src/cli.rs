//! The command line.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::printer::{Color, Format};

/// Serve, lint, import, search and call a catalog of tools for LLM agents.
#[derive(Debug, Parser)]
#[command(name = "mcc", version, arg_required_else_help = true, propagate_version = true)]
#[command(
    after_help = "Exit status: 0 done, 1 the answer is no (problems found, a tool failed), 2 wrong usage."
)]
pub struct Cli {
    /// When to colour the output: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do: one file each in `commands/`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve manifests to MCP clients.
    Up(commands::up::Args),
    /// Say what is wrong with manifests, where, and how to mend it.
    Lint(commands::lint::Args),
    /// Find tools for a task.
    Search(commands::search::Args),
    /// List the tools that you may run.
    #[command(visible_alias = "ls")]
    List(commands::list::Args),
    /// Show all there is to know about a tool.
    Info(commands::info::Args),
    /// Run a tool.
    Call(commands::call::Args),
    /// Run the examples of tools.
    Test(commands::test::Args),
    /// Convert toolset files of the original MCC into manifests.
    Import(commands::import::Args),
    /// Print the CustomResourceDefinitions of the kinds.
    Crds(commands::crds::Args),
    /// Print, or write, the configuration with which an MCP client connects.
    ClientConfig(commands::client_config::Args),
    /// Print a completion script for a shell.
    Completion(commands::completion::Args),
    /// Print the version.
    Version(commands::version::Args),
}

/// The form of results.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct OutputArgs {
    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Format,
}
