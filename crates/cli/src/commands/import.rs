//! `mcc import PATH… -o DIR`: toolset files of the original MCC to manifests.

use std::path::{Path, PathBuf};

use crate::failure::{ExitStatus, Failure, Outcome};
use crate::import::{Action, Import, Interpreter, Line, import};
use crate::printer::{Format, Printer, Tone};

/// Arguments of `mcc import`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit status 1: something was not imported; the rest was written, and the report says why."
)]
pub struct Args {
    /// Toolset files, or folders of them (their *.yaml and *.yml, not deeper).
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Folder for the manifests. Files that are there already are left alone.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Overwrite files of the same names.
    #[arg(short, long)]
    force: bool,
    /// Print the report to standard output in this form, instead of to standard error.
    #[arg(long, value_enum, value_name = "FORMAT")]
    report: Option<Format>,
    /// Python that can import the functions of `fn` tools: their parameters and docstrings are read from it. This
    /// runs the modules' top-level code.
    #[arg(long, env = "MCC_PYTHON", value_name = "PYTHON", num_args = 0..=1, default_missing_value = "python3")]
    python: Option<PathBuf>,
    /// Folder put in front of Python's module search path (repeatable).
    #[arg(long, env = "MCC_PYTHON_PATH", value_name = "DIR", value_delimiter = ':', requires = "python")]
    python_path: Vec<PathBuf>,
}

/// Converts files and writes the manifests.
pub fn run(args: &Args, printer: Printer) -> Outcome {
    let files = files(&args.paths)?;
    let python = match &args.python {
        Some(program) => Some(Interpreter { program: program.clone(), path: absolute(&args.python_path)? }),
        None => None,
    };
    let import = import(&files, python.as_ref());
    if !args.force {
        check_overwriting(&import, &args.output)?;
    }
    fs_err::create_dir_all(&args.output)?;
    for (name, text) in &import.files {
        fs_err::write(args.output.join(name), text)?;
    }
    report(&import, args, printer)?;
    Ok(if import.report.has_skipped() { ExitStatus::No } else { ExitStatus::Ok })
}

/// Refuses to write over what somebody else has written, or another import.
fn check_overwriting(import: &Import, folder: &Path) -> Result<(), Failure> {
    let differs = |name: &str, text: &str| {
        let path = folder.join(name);
        path.exists() && fs_err::read_to_string(path).ok().as_deref() != Some(text)
    };
    let in_the_way: Vec<&str> = import
        .files
        .iter()
        .filter(|(name, text)| differs(name, text))
        .map(|(name, _)| name.as_str())
        .collect();
    if in_the_way.is_empty() {
        return Ok(());
    }
    let text = format!("{} would be overwritten in {}", in_the_way.join(", "), folder.display());
    Err(Failure::msg(text)
        .hint("choose another folder with -o, import all files in one run, or overwrite them with --force"))
}

fn absolute(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    paths.iter().map(|path| fs_err::canonicalize(path).map_err(Failure::from)).collect()
}

/// The files to read: folders by their YAML files, in order of name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            if !path.exists() {
                return Err(Failure::msg(format!("{} doesn't exist", path.display())));
            }
            files.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        for entry in fs_err::read_dir(path)? {
            let file = entry?.path();
            if is_yaml(&file) && file.is_file() {
                found.push(file);
            }
        }
        if found.is_empty() {
            return Err(Failure::msg(format!("{} has no YAML files", path.display())));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

fn is_yaml(file: &Path) -> bool {
    file.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    })
}

fn report(import: &Import, args: &Args, printer: Printer) -> Result<(), Failure> {
    let summary = format!(
        "{} tools in {} files written to {}",
        import.tools,
        import.files.len(),
        args.output.display()
    );
    match args.report {
        Some(Format::Table) => {
            let rows = import.report.lines.iter().map(|line| {
                let Line { file, tool, field, action, note } = line;
                vec![file.clone(), tool.clone(), field.clone(), word(*action).to_owned(), note.clone()]
            });
            printer.table(&["FILE", "TOOL", "FIELD", "ACTION", "NOTE"], rows.collect())?;
        }
        Some(format) => printer.with_format(format).data(&import.report)?,
        None => {
            for line in &import.report.lines {
                printer.note(human(line, printer))?;
            }
        }
    }
    Ok(printer.note(summary)?)
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Changed => "changed",
        Action::Dropped => "left out",
        Action::Skipped => "not imported",
        Action::Note => "note",
    }
}

fn human(line: &Line, printer: Printer) -> String {
    let tone = match line.action {
        Action::Changed | Action::Note => Tone::Faint,
        Action::Dropped => Tone::Warn,
        Action::Skipped => Tone::Bad,
    };
    let mut text = format!("{}: ", line.file);
    for part in [&line.tool, &line.field] {
        if !part.is_empty() {
            text.push_str(part);
            text.push_str(": ");
        }
    }
    format!("{text}{}: {}", printer.paint_err(tone, word(line.action)), line.note)
}
