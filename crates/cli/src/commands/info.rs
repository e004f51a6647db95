//! `mcc info KEY`: all there is to know about a tool.

use mcc_catalog::model::{CompiledTool, Implementation, PythonCode};
use mcc_catalog::params::input_schema;
use serde_json::{Value, json};

use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Outcome};
use crate::printer::{Printer, Tone};
use crate::target::{Target, TargetArgs};

/// Arguments of `mcc info`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Key of the tool.
    key: String,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Prints the entry of a tool; with `--dir` also what only its manifest says.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    match args.target.open(printer).await? {
        Target::Local(local) => {
            let tool = local.tool(&args.key)?;
            if printer.is_table() {
                printer.line(describe(tool, printer))?;
            } else {
                printer.data(&data(tool))?;
            }
        }
        Target::Remote(remote) => {
            let entry = remote.info(&args.key).await?;
            if printer.is_table() {
                printer.line(entry.trim_end())?;
            } else {
                printer.data(&json!({ "key": args.key, "entry": entry }))?;
            }
        }
    }
    Ok(ExitStatus::Ok)
}

fn runs(tool: &CompiledTool) -> String {
    match &tool.implementation {
        Implementation::Shell { .. } => "a shell script".to_owned(),
        Implementation::Python { code: PythonCode::Function(path), .. } => {
            format!("the Python function {path}")
        }
        Implementation::Python { code: PythonCode::Source(_), .. } => {
            "Python source in the manifest".to_owned()
        }
        Implementation::Http(_) => "an HTTP request".to_owned(),
        Implementation::Container { .. } => "a container image's own program".to_owned(),
    }
}

fn describe(tool: &CompiledTool, printer: Printer) -> String {
    let mut lines = vec![tool.signature.trim_end().to_owned()];
    if !tool.example.is_empty() {
        lines.push(format!("\n{} {}", printer.paint(Tone::Faint, "Example:"), tool.example));
    }
    let mut field = |name: &str, value: String| {
        let label = printer.paint(Tone::Faint, &format!("{:<10}", format!("{name}:")));
        lines.push(format!("{label} {value}"));
    };
    field("Runs", runs(tool));
    field(
        "Groups",
        if tool.facets.groups.is_empty() { "(none)".to_owned() } else { tool.facets.groups.join(", ") },
    );
    field("Object", format!("Tool {}", tool.object));
    field(
        "Limits",
        format!("{} s, {} bytes of output", tool.limits.timeout.as_secs(), tool.limits.output_bytes),
    );
    if !tool.env.is_empty() {
        field("Env", tool.env.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", "));
    }
    if !tool.keywords.is_empty() {
        field("Keywords", tool.keywords.join(", "));
    }
    if let Some(cache) = &tool.cache {
        field("Cache", format!("{} s for {:?}", cache.seconds, cache.scope));
    }
    if let Some(rate) = tool.rate_per_minute {
        field("Rate", format!("{rate} a minute and caller"));
    }
    lines.join("\n")
}

fn data(tool: &CompiledTool) -> Value {
    json!({
        "key": tool.key,
        "name": tool.name,
        "groups": tool.facets.groups,
        "description": tool.description,
        "example": tool.example,
        "keywords": tool.keywords,
        "inputSchema": input_schema(tool),
        "returns": { "type": tool.returns, "description": tool.returns_description },
        "hints": tool.hints,
        "object": { "kind": "Tool", "namespace": tool.object.namespace, "name": tool.object.name },
        "runs": runs(tool),
        "limits": { "timeoutSeconds": tool.limits.timeout.as_secs(), "outputBytes": tool.limits.output_bytes },
        "env": tool.env.iter().map(|entry| &entry.name).collect::<Vec<_>>(),
        "cache": tool.cache,
        "ratePerMinute": tool.rate_per_minute,
        "entry": tool.signature,
    })
}
