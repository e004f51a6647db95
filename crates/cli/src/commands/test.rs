//! `mcc test KEY…|--all`: runs the examples of tools.

use std::sync::Arc;
use std::time::Instant;

use mcc_catalog::example;
use mcc_catalog::model::CompiledTool;
use mcc_catalog::seam::SessionBag;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Failure, Outcome};
use crate::local::Local;
use crate::printer::{Printer, Tone};
use crate::target::TargetArgs;

/// Arguments of `mcc test`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit status 1: an example failed. Tools without an example run without arguments; those that need \
    some are skipped, and those that are marked as destructive unless they are named."
)]
pub struct Args {
    /// Keys of tools; `public.text.*` stands for all whose keys begin so.
    #[arg(value_name = "KEY", required_unless_present = "all")]
    keys: Vec<String>,
    /// Every tool.
    #[arg(long, conflicts_with = "keys")]
    all: bool,
    /// Show what tools wrote.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, Serialize)]
struct Tested {
    key: String,
    result: Verdict,
    seconds: f64,
    note: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
}

/// Runs the examples one after the other.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let local = args.target.local(printer)?;
    let mut results = Vec::new();
    for tool in chosen(args, &local)? {
        let tested = test(&local, tool, !args.keys.contains(&tool.key)).await?;
        if args.verbose && printer.is_table() {
            printer.note(format!(
                "{}\n{}",
                printer.paint_err(Tone::Strong, &tested.key),
                tested.output.trim_end()
            ))?;
        }
        results.push(tested);
    }
    if printer.is_table() {
        let rows = results.iter().map(|tested| {
            let (tone, word) = match tested.result {
                Verdict::Passed => (Tone::Good, "passed"),
                Verdict::Failed => (Tone::Bad, "FAILED"),
                Verdict::Skipped => (Tone::Faint, "skipped"),
            };
            vec![
                tested.key.clone(),
                printer.paint(tone, word),
                format!("{:.2} s", tested.seconds),
                tested.note.clone(),
            ]
        });
        printer.table(&["KEY", "RESULT", "TIME", "NOTE"], rows.collect())?;
    } else {
        printer.data(&results)?;
    }
    let failed = results.iter().any(|tested| tested.result == Verdict::Failed);
    Ok(if failed { ExitStatus::No } else { ExitStatus::Ok })
}

fn chosen<'a>(args: &Args, local: &'a Local) -> Result<Vec<&'a Arc<CompiledTool>>, Failure> {
    if args.all {
        return Ok(local.tools().collect());
    }
    let mut tools = Vec::new();
    for key in &args.keys {
        match key.strip_suffix('*') {
            None => tools.push(local.tool(key)?),
            Some(beginning) => {
                let before = tools.len();
                tools.extend(local.tools().filter(|tool| tool.key.starts_with(beginning)));
                if tools.len() == before {
                    return Err(Failure::msg(format!("no key begins with {beginning}"))
                        .hint("mcc list shows the keys"));
                }
            }
        }
    }
    Ok(tools)
}

/// Tests one tool; `unasked`: it wasn't named.
async fn test(local: &Local, tool: &Arc<CompiledTool>, unasked: bool) -> Result<Tested, Failure> {
    let mut tested = Tested {
        key: tool.key.clone(),
        result: Verdict::Skipped,
        seconds: 0.0,
        note: String::new(),
        output: String::new(),
    };
    if unasked && tool.example.is_empty() && tool.hints.destructive == Some(true) {
        "destructive, and no example: name it to run it".clone_into(&mut tested.note);
        return Ok(tested);
    }
    let arguments = match example::arguments(tool) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            "no example, and it needs arguments".clone_into(&mut tested.note);
            return Ok(tested);
        }
        Err(reason) => {
            tested.result = Verdict::Failed;
            tested.note = reason;
            return Ok(tested);
        }
    };
    let begun = Instant::now();
    let called = local.call(tool, &arguments, &SessionBag::new(), CancellationToken::new()).await;
    tested.seconds = (begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
    match called {
        Ok((called, _)) => {
            tested.result = if called.ok { Verdict::Passed } else { Verdict::Failed };
            tested.note = if called.ok { String::new() } else { called.reason() };
            tested.output = called.output + &called.errors;
        }
        // A call that can't be made is this tool's failure, not the run's.
        Err(failure) => {
            tested.result = Verdict::Failed;
            tested.note = failure.text().replace('\n', " ");
        }
    }
    Ok(tested)
}
