//! `mcc lint PATH…`: what is wrong with manifests, where, why, and how to mend it.

use std::path::PathBuf;

use mcc_catalog::compile::CatalogSettings;
use mcc_catalog::model::{Problem, Severity};
use mcc_catalog::seam::CatalogSource;
use mcc_gateway::source::DirectoryOptions;
use serde::Serialize;

use crate::cli::OutputArgs;
use crate::failure::{ExitStatus, Outcome};
use crate::local::open_source;
use crate::printer::{Printer, Tone};

/// Arguments of `mcc lint`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit status 1: there are errors; with --strict, warnings too.")]
pub struct Args {
    /// Folders of manifests, and manifests.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take warnings for errors.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    severity: &'static str,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    path: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    fix: &'a str,
}

impl<'a> Line<'a> {
    fn of(problem: &'a Problem) -> Self {
        let place = problem.place.as_ref();
        Self {
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            reason: problem.reason.to_string(),
            file: place.map(|place| place.file.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            object: problem.object.as_ref().map(ToString::to_string),
            path: &problem.path,
            message: &problem.message,
            fix: &problem.fix,
        }
    }
}

/// Prints all problems and how many there are.
pub fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let settings = CatalogSettings::directory();
    let source = open_source(DirectoryOptions { paths: args.paths.clone(), settings, secrets: Vec::new() })?;
    let catalog = source.subscribe().borrow().clone();
    let problems = &catalog.problems;
    if printer.is_table() {
        for problem in problems {
            printer.line(human(problem, printer))?;
        }
    } else {
        printer.data(&problems.iter().map(Line::of).collect::<Vec<_>>())?;
    }
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let summary = [
        (catalog.tools.len(), "tool", ", "),
        (catalog.groups.len(), "group", ", "),
        (catalog.grants.len(), "grant", ": "),
        (errors, "error", ", "),
        (warnings, "warning", ""),
    ];
    let summary = summary.map(|(number, thing, after)| Printer::count(number, thing) + after).concat();
    printer.note(summary)?;
    Ok(if errors > 0 || (args.strict && warnings > 0) { ExitStatus::No } else { ExitStatus::Ok })
}

/// A problem as people read it: place, reason and object in one line, then what is wrong and what to do.
pub fn human(problem: &Problem, printer: Printer) -> String {
    let text = problem.to_string();
    let (word, tone) = match problem.severity {
        Severity::Error => ("error[", Tone::Bad),
        Severity::Warning => ("warning[", Tone::Warn),
    };
    match text.find(word) {
        Some(at) => {
            let end = text[at..].find(']').map_or(text.len(), |length| at + length + 1);
            format!("{}{}{}", &text[..at], printer.paint(tone, &text[at..end]), &text[end..])
        }
        None => text,
    }
}
