//! Conversion of the original MCC's toolset files into manifests.
//!
//! ```text
//! *.yaml ─▶ source (fields as written) ─▶ convert ─▶ Tool, ToolGroup, Secret skeleton ─▶ emit (YAML text)
//!                                            │
//!               curl, shell, python, params ─┘        report: what became of every field that isn't a plain copy
//! ```
//!
//! Everything is deterministic: the same files give the same bytes.

mod check;
mod convert;
mod curl;
mod emit;
mod environment;
mod json_body;
mod names;
mod params;
mod python;
mod report;
mod shell;
mod source;
mod template;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use python::Interpreter;
pub use report::{Action, Line, Report};

use convert::Converter;

/// What an import made of some files.
#[derive(Debug, Default)]
pub struct Import {
    /// Manifests by file name, relative to the output folder.
    pub files: BTreeMap<String, String>,
    /// What became of the fields that aren't plain copies.
    pub report: Report,
    /// Tools that were imported.
    pub tools: usize,
}

/// Converts `files`, in this order. A file that can't be read is reported and the rest goes on.
pub fn import(files: &[PathBuf], python: Option<&Interpreter>) -> Import {
    let mut import = Import::default();
    let mut converter = Converter::default();
    let mut stems = BTreeSet::from(["groups".to_owned(), "secrets".to_owned()]);
    for file in files {
        let label = label(file);
        let toolset = match fs_err::read_to_string(file)
            .map_err(|error| error.to_string())
            .and_then(|text| source::read(&label, &text, &mut import.report))
        {
            Ok(toolset) => toolset,
            Err(reason) => {
                import.report.add(&label, "", "", Action::Skipped, reason);
                continue;
            }
        };
        let inspected = python.map(|python| python.inspect(&toolset)).unwrap_or_default();
        let text = converter.toolset(&toolset, &inspected, &mut import.report);
        let stem = names::free(&names::label(&stem(file), "toolset"), &mut stems);
        import.files.insert(format!("{stem}.yaml"), text);
    }
    import.tools = converter.tools();
    if let Some(text) = converter.groups() {
        import.files.insert("groups.yaml".to_owned(), text);
    }
    if let Some(text) = converter.secrets() {
        import.files.insert("secrets.yaml".to_owned(), text);
    }
    import
}

/// The file as reports and comments name it: without the folders, which differ between machines.
fn label(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}
