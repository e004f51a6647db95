//! `cargo xtask qdrant build`: the Qdrant that tests run against.

use anyhow::{Result, anyhow};
use clap::{Args as ClapArgs, Subcommand};

/// Arguments of `qdrant`.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build the double of tests/qdrant into the cache folder, unless it is there; minutes the first time.
    Build,
}

/// Prints where the program is.
pub(crate) fn run(args: &Args) -> Result<()> {
    match args.action {
        Action::Build => {
            let program = mcc_index::testsuite::qdrant::binary().map_err(|reason| anyhow!(reason))?;
            println!("the Qdrant double is {}", program.display());
            Ok(())
        }
    }
}
