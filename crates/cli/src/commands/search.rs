//! `mcc search QUERY`: the tools that fit a request.

use serde::Serialize;

use super::list::first_line;
use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Failure, Outcome};
use crate::printer::{Printer, Tone};
use crate::remote::Block;
use crate::target::{Target, TargetArgs};

/// Arguments of `mcc search`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit status 1: nothing was found.")]
pub struct Args {
    /// What is looked for, in your own words.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Leave out tools with a lower score; useful scores run from 1 to 15.
    #[arg(short, long, value_name = "SCORE")]
    min_score: Option<f32>,
    /// Most tools shown.
    #[arg(short = 'n', long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=50))]
    limit: u8,
    /// Show whole entries, as a model sees them.
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Serialize)]
struct Hit {
    score: f32,
    key: String,
    description: String,
    entry: String,
}

/// Searches and prints what was found.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let hits = hits(args, printer).await?;
    if !printer.is_table() {
        printer.data(&hits)?;
    } else if hits.is_empty() {
        printer.note("nothing was found; try other words, or a lower --min-score")?;
    } else if args.long {
        let blocks: Vec<String> =
            hits.iter().map(|hit| format!("[{:.2}]\n{}", hit.score, hit.entry.trim_end())).collect();
        printer.line(blocks.join("\n\n"))?;
    } else {
        let rows = hits.iter().map(|hit| {
            vec![
                format!("{:.2}", hit.score),
                printer.paint(Tone::Strong, &hit.key),
                first_line(&hit.description),
            ]
        });
        printer.table(&["SCORE", "KEY", "DESCRIPTION"], rows.collect())?;
    }
    Ok(if hits.is_empty() { ExitStatus::No } else { ExitStatus::Ok })
}

async fn hits(args: &Args, printer: Printer) -> Result<Vec<Hit>, Failure> {
    let query = args.query.join(" ");
    let limit = usize::from(args.limit);
    match args.target.open(printer).await? {
        Target::Local(local) => {
            let found = local.search(&query, args.min_score, limit).await?;
            Ok(found
                .into_iter()
                .map(|(score, tool)| Hit {
                    score: (score * 100.0).round() / 100.0,
                    key: tool.key.clone(),
                    description: tool.description.clone(),
                    entry: tool.signature.clone(),
                })
                .collect())
        }
        Target::Remote(remote) => {
            let found = remote.search(&query, args.min_score, limit).await?;
            let hit = |block: Block| Hit {
                score: block.score.unwrap_or_default(),
                description: block.description(),
                key: block.key,
                entry: block.text,
            };
            Ok(found.into_iter().map(hit).collect())
        }
    }
}
