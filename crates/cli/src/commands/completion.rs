//! `mcc completion SHELL`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::{ExitStatus, Outcome};
use crate::printer::Printer;

/// Arguments of `mcc completion`.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "Bash:  source <(mcc completion bash)\n\
    Zsh:   mcc completion zsh > \"${fpath[1]}/_mcc\"\n\
    Fish:  mcc completion fish | source")]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion script.
pub fn run(args: Args, printer: Printer) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcc", &mut script);
    printer.raw(&script)?;
    Ok(ExitStatus::Ok)
}
