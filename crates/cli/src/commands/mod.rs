//! The commands, one file each.

pub mod call;
pub mod client_config;
pub mod completion;
pub mod crds;
pub mod import;
pub mod info;
pub mod lint;
pub mod list;
pub mod search;
pub mod test;
pub mod up;
pub mod version;

use std::io;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::{Cli, Command};
use crate::failure::{ExitStatus, Outcome};
use crate::printer::{Format, Printer};

/// Runs the program.
pub fn main() -> ExitStatus {
    // First of all: every TLS connection needs a provider, and only one may be installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let printer = Printer::new(Format::Table, cli.color);
    match run(cli.command, printer) {
        Ok(status) => status,
        Err(failure) if failure.is_broken_pipe() => ExitStatus::Ok,
        Err(failure) => {
            // Nobody is left to tell when standard error is closed too.
            let _ = printer.failure(&failure);
            failure.status
        }
    }
}

/// Prints what clap has to say: help and version are successes.
fn usage(error: &clap::Error) -> ExitStatus {
    match error.print() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitStatus::Ok,
        Ok(()) | Err(_) => {}
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitStatus::Ok,
        _ => ExitStatus::Usage,
    }
}

fn run(command: Command, printer: Printer) -> Outcome {
    match command {
        Command::Up(args) => wait(up::run(&args, printer)),
        Command::Lint(args) => lint::run(&args, printer),
        Command::Search(args) => wait(search::run(&args, printer)),
        Command::List(args) => wait(list::run(&args, printer)),
        Command::Info(args) => wait(info::run(&args, printer)),
        Command::Call(args) => wait(call::run(&args, printer)),
        Command::Test(args) => wait(test::run(&args, printer)),
        Command::Import(args) => import::run(&args, printer),
        Command::Crds(args) => crds::run(args, printer),
        Command::ClientConfig(args) => client_config::run(&args, printer),
        Command::Completion(args) => completion::run(args, printer),
        Command::Version(args) => version::run(args, printer),
    }
}

/// Runs a command that needs the Tokio runtime.
fn wait(command: impl Future<Output = Outcome>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(command);
    // Reads of standard input never end by themselves.
    runtime.shutdown_timeout(RUNTIME_SHUTDOWN);
    outcome
}

/// How long a runtime may take to end: running tools are killed within it.
const RUNTIME_SHUTDOWN: Duration = Duration::from_secs(2);
