//! What can be wrong with a template, and with a value at the time of a call.

use std::fmt;
use std::ops::Range;

/// A place in the source of a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Byte offset.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The place of a byte offset of `source`.
    pub(crate) fn of(source: &str, offset: usize) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            offset,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// An edit of the template's source that mends a problem without changing what the template does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rewrite {
    /// Bytes of the source to replace.
    pub range: Range<usize>,
    /// What stands there instead.
    pub replacement: String,
}

/// A reason why a template is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateProblem {
    /// Where in the template's source.
    pub position: Position,
    /// What is wrong.
    pub reason: String,
    /// How to write it instead.
    pub fix: String,
    /// The parameters in question, in the order they are used.
    pub params: Vec<String>,
    /// An edit that is certain to keep the template's meaning, where there is one.
    pub rewrite: Option<Rewrite>,
}

impl fmt::Display for TemplateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.reason)?;
        if !self.fix.is_empty() {
            write!(f, "; {}", self.fix)?;
        }
        Ok(())
    }
}

/// Something about a template that works but is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where in the template's source.
    pub position: Position,
    /// What it is.
    pub reason: String,
    /// How to write it instead.
    pub fix: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.reason)?;
        if !self.fix.is_empty() {
            write!(f, "; {}", self.fix)?;
        }
        Ok(())
    }
}

/// Why a template can't be rendered with the values of a call: an error of the values, not of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct RenderError {
    /// The parameter at fault, where it is known.
    pub param: Option<String>,
    /// What is wrong with its value.
    pub reason: String,
    /// What to do; may be empty.
    pub fix: String,
    /// Where in the template's source, for the tool's author.
    pub position: Option<Position>,
}

impl RenderError {
    fn text(&self) -> String {
        let mut text = match &self.param {
            Some(param) => format!("parameter '{param}': {}", self.reason),
            None => self.reason.clone(),
        };
        if !self.fix.is_empty() {
            text.push_str("; ");
            text.push_str(&self.fix);
        }
        text
    }
}

/// Applies the rewrites of `problems` to the source they were found in.
///
/// Rewrites that overlap an earlier one are left out.
pub fn apply_rewrites(source: &str, problems: &[TemplateProblem]) -> String {
    let mut rewrites: Vec<&Rewrite> =
        problems.iter().filter_map(|problem| problem.rewrite.as_ref()).collect();
    rewrites.sort_by_key(|rewrite| rewrite.range.start);
    let mut text = String::with_capacity(source.len());
    let mut done = 0;
    for rewrite in rewrites {
        if rewrite.range.start < done || rewrite.range.end > source.len() {
            continue;
        }
        text.push_str(&source[done..rewrite.range.start]);
        text.push_str(&rewrite.replacement);
        done = rewrite.range.end;
    }
    text.push_str(&source[done..]);
    text
}
