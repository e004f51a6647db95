//! `mcc version`

use serde::Serialize;

use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Outcome};
use crate::printer::Printer;

/// Arguments of `mcc version`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    version: &'static str,
    api_version: &'static str,
    protocol_versions: [&'static str; 4],
}

/// Prints the version.
pub fn run(args: Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
        api_version: mcc_crds::v1alpha1::API_VERSION,
        protocol_versions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
    };
    if printer.is_table() {
        printer.line(format!("mcc {}", version.version))?;
    } else {
        printer.data(&version)?;
    }
    Ok(ExitStatus::Ok)
}
