//! `mcc list`: the tools that the caller may run.

use mcc_catalog::model::CompiledTool;
use mcc_catalog::signature::parameter_list;
use serde::Serialize;

use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Outcome};
use crate::printer::{Printer, Tone};
use crate::target::{Target, TargetArgs};

/// Arguments of `mcc list`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only tools of this group (repeatable: of all of them).
    #[arg(short, long, value_name = "GROUP")]
    group: Vec<String>,
    /// Show keys only.
    #[arg(short, long, conflicts_with = "long")]
    keys: bool,
    /// Show whole entries: signature, parameters, description.
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// A tool in the list.
#[derive(Debug, Serialize)]
pub struct Item {
    /// Key.
    pub key: String,
    /// Parameters as the signature shows them; empty where the server wasn't asked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub params: String,
    /// Description.
    pub description: String,
    #[serde(skip)]
    entry: String,
}

impl Item {
    /// The item of a tool in this process.
    pub fn of(tool: &CompiledTool) -> Self {
        Self {
            key: tool.key.clone(),
            params: parameter_list(tool),
            description: tool.description.clone(),
            entry: tool.signature.clone(),
        }
    }
}

/// Prints the list.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let (items, rest) = items(args, printer).await?;
    if !printer.is_table() {
        printer.data(&items)?;
    } else if args.keys {
        for item in &items {
            printer.line(&item.key)?;
        }
    } else if args.long {
        let entries: Vec<&str> = items.iter().map(|item| item.entry.trim_end()).collect();
        printer.line(entries.join("\n\n"))?;
    } else if !items.is_empty() {
        let rows = items
            .iter()
            .map(|item| vec![printer.paint(Tone::Strong, &item.key), first_line(&item.description)]);
        printer.table(&["KEY", "DESCRIPTION"], rows.collect())?;
    }
    if items.is_empty() {
        printer.note("no tools")?;
    }
    if let Some(rest) = rest {
        printer.note(rest)?;
    }
    Ok(if items.is_empty() { ExitStatus::No } else { ExitStatus::Ok })
}

async fn items(
    args: &Args,
    printer: Printer,
) -> Result<(Vec<Item>, Option<String>), crate::failure::Failure> {
    match args.target.open(printer).await? {
        Target::Local(local) => {
            let in_groups =
                |tool: &CompiledTool| args.group.iter().all(|group| tool.facets.groups.contains(group));
            Ok((local.tools().filter(|tool| in_groups(tool)).map(|tool| Item::of(tool)).collect(), None))
        }
        Target::Remote(remote) => {
            let (blocks, rest) = remote.list(&args.group).await?;
            let items = blocks.into_iter().map(|block| Item {
                description: block.description(),
                key: block.key,
                params: String::new(),
                entry: block.text,
            });
            Ok((items.collect(), rest))
        }
    }
}

/// The first line of a description, at most 100 characters.
pub fn first_line(text: &str) -> String {
    const WIDTH: usize = 100;
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let cut: String = line.chars().take(WIDTH - 1).collect();
    format!("{}…", cut.trim_end())
}
