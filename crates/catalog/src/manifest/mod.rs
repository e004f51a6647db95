//! Manifests: bytes of files → objects with the place of every field, and every problem found.
//!
//! ```text
//! bytes ─▶ text ─▶ yaml, json ─▶ located tree ─▶ check (schema of the CRD) ─▶ rules (CEL) ─▶ object
//! files ─▶ Loader ─▶ ObjectSet, problems
//! ```
//!
//! A manifest means here what it means to `kubectl apply`: the schema and the rules are those of the CRDs, and a scalar
//! that kubectl reads otherwise than it looks is refused.

mod check;
mod dotenv;
mod files;
mod json;
mod loader;
mod object;
mod params;
mod rules;
mod scalar;
mod schema;
mod suggest;
mod text;
mod tree;
mod yaml;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::model::{Place, Problem, Severity};

pub use loader::{Loaded, Loader};
pub use object::{LoadedObject, Object};
pub use text::MAX_FILE_BYTES;
use tree::Fault;

/// Namespace of objects whose manifest names none: the catalog namespace.
pub const DEFAULT_NAMESPACE: &str = "mcc-catalog";

/// Most problems that are reported of one file.
const MAX_PROBLEMS: usize = 100;

/// What a file holds.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The objects without errors, in the order of the file.
    pub objects: Vec<LoadedObject>,
    /// What is wrong, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads the manifests of a file. `file` is only named in places and decides about JSON (`.json`) and YAML (all else).
pub fn parse(file: &Path, bytes: &[u8]) -> Parsed {
    let file = Arc::new(file.to_path_buf());
    let mut parsed = Parsed::default();
    match text::decode(bytes) {
        Ok(text) => read(&file, text, &mut parsed),
        Err(fault) => parsed.problems.push(problem(&file, Severity::Error, fault)),
    }
    parsed.problems.sort_by(|a, b| a.place.cmp(&b.place));
    let more = parsed.problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        parsed.problems.truncate(MAX_PROBLEMS);
        if let Some(last) = parsed.problems.last_mut() {
            let _ = write!(last.message, " (and {more} more problems in this file)");
        }
    }
    parsed
}

fn read(file: &Arc<PathBuf>, text: &str, parsed: &mut Parsed) {
    let is_json = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    for document in if is_json { json::read(text) } else { yaml::read(text) } {
        object::read(file, document, parsed);
    }
}

fn problem(file: &Arc<PathBuf>, severity: Severity, fault: Fault) -> Problem {
    Problem {
        severity,
        reason: fault.reason,
        object: None,
        place: Some(Place { file: file.clone(), line: fault.mark.line, column: fault.mark.column }),
        path: fault.path,
        message: fault.message,
        fix: fault.fix,
    }
}

#[cfg(test)]
#[expect(clippy::format_collect, clippy::format_push_string, reason = "tests build their texts plainly")]
mod tests;
