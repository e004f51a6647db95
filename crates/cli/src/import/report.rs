//! What became of the fields that aren't plain copies.

use serde::Serialize;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Kept, but written otherwise.
    Changed,
    /// Left out: there is nothing like it, or it has no effect.
    Dropped,
    /// The tool or the file was not imported.
    Skipped,
    /// Kept; somebody should know or look.
    Note,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// Key of the tool; empty for the file as a whole.
    pub tool: String,
    /// The field of the original.
    pub field: String,
    /// What was done.
    pub action: Action,
    /// Why, and what to do about it.
    pub note: String,
}

/// All lines, in the order of files and tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The lines.
    pub lines: Vec<Line>,
}

impl Report {
    /// Adds a line, once.
    pub fn add(&mut self, file: &str, tool: &str, field: &str, action: Action, note: impl Into<String>) {
        let line = Line {
            file: file.to_owned(),
            tool: tool.to_owned(),
            field: field.to_owned(),
            action,
            note: note.into(),
        };
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// Whether a file or a tool was not imported.
    pub fn has_skipped(&self) -> bool {
        self.lines.iter().any(|line| line.action == Action::Skipped)
    }
}

/// Collects the lines about one tool, for the report and for the comments in its manifest.
#[derive(Debug, Default)]
pub struct Notes {
    /// Field, what was done, note.
    pub lines: Vec<(String, Action, String)>,
}

impl Notes {
    /// Adds a line, once.
    pub fn add(&mut self, field: &str, action: Action, note: impl Into<String>) {
        let line = (field.to_owned(), action, note.into());
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}
