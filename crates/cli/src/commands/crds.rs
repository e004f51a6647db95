//! `mcc crds`: the CustomResourceDefinitions, ready for `kubectl apply -f -`.

use kube::CustomResourceExt;
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};

use crate::failure::{ExitStatus, Outcome};
use crate::printer::{Format, Printer};

/// Arguments of `mcc crds`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Args {
    /// Form of the output.
    #[arg(short, long, value_enum, default_value = "yaml", value_name = "FORMAT")]
    output: Format,
}

/// Prints the definitions.
pub fn run(args: Args, printer: Printer) -> Outcome {
    let crds = [Tool::crd(), ToolGroup::crd(), UserGrant::crd()];
    match args.output {
        Format::Yaml => {
            let documents = crds.iter().map(serde_yaml::to_string).collect::<Result<Vec<_>, _>>()?;
            printer.raw(documents.join("---\n").as_bytes())?;
        }
        Format::Json => {
            let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": crds });
            printer.with_format(Format::Json).data(&list)?;
        }
        Format::Table => {
            let rows = crds.iter().map(|crd| {
                let names = &crd.spec.names;
                let versions: Vec<&str> =
                    crd.spec.versions.iter().map(|version| version.name.as_str()).collect();
                vec![
                    names.kind.clone(),
                    crd.metadata.name.clone().unwrap_or_default(),
                    names.short_names.clone().unwrap_or_default().join(","),
                    versions.join(","),
                ]
            });
            printer.table(&["KIND", "NAME", "SHORT", "VERSIONS"], rows.collect())?;
        }
    }
    Ok(ExitStatus::Ok)
}
