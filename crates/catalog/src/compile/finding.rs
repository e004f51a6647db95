//! Problems before they have a place: an object moves within its file without being compiled again.

use crate::model::{ObjectRef, Origin, Problem, Reason, Severity};

/// One problem of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub severity: Severity,
    pub reason: Reason,
    /// Path of the field; empty for the object as a whole.
    pub path: String,
    /// Line within the field's text, from 1; 0 for the field as a whole.
    pub line: u32,
    pub message: String,
    pub fix: String,
}

impl Finding {
    /// The problem, with its place in the object's file.
    pub fn locate(&self, object: &ObjectRef, origin: &Origin) -> Problem {
        let mut place = origin.place(&self.path);
        if let (Some(place), true) = (&mut place, self.line > 0) {
            // A block scalar's place is that of its first line of text.
            place.line += self.line - 1;
        }
        Problem {
            severity: self.severity,
            reason: self.reason,
            object: Some(object.clone()),
            place,
            path: self.path.clone(),
            message: self.message.clone(),
            fix: self.fix.clone(),
        }
    }
}

/// Collects the problems of one object.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    pub fn error(
        &mut self,
        reason: Reason,
        path: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.push(Severity::Error, reason, path.into(), message.into(), fix.into());
    }

    pub fn warn(
        &mut self,
        reason: Reason,
        path: impl Into<String>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.push(Severity::Warning, reason, path.into(), message.into(), fix.into());
    }

    pub fn add(&mut self, finding: Finding) {
        self.all.push(finding);
    }

    pub fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub fn into_vec(self) -> Vec<Finding> {
        self.all
    }

    fn push(&mut self, severity: Severity, reason: Reason, path: String, message: String, fix: String) {
        self.all.push(Finding { severity, reason, path, line: 0, message, fix });
    }
}
