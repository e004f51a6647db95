//! The commands, one file each.

pub mod client_config;
pub mod completion;
pub mod crds;
pub mod import;
pub mod version;

use std::io;

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
        Command::Import(args) => import::run(&args, printer),
        Command::Crds(args) => crds::run(&args, printer),
        Command::ClientConfig(args) => client_config::run(&args, printer),
        Command::Completion(args) => completion::run(&args, printer),
        Command::Version(args) => version::run(args, printer),
    }
}
