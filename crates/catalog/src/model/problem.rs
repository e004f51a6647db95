//! What is wrong with an object, where, why, and how to mend it.

use std::fmt;

use super::{ObjectRef, Place};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The object is not taken into the catalog.
    Error,
    /// The object is taken; somebody should look.
    Warning,
}

/// Reason of a problem: a condition reason of the Kubernetes API conventions, listed in the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The file could not be read or is not text.
    UnreadableFile,
    /// The text is not YAML or JSON.
    InvalidSyntax,
    /// A scalar that kubectl reads otherwise than it looks (`yes`, `010`).
    AmbiguousScalar,
    /// Not an object of the Kubernetes API, or of a kind that a catalog has no use for.
    UnknownKind,
    /// A field that the kind doesn't have.
    UnknownField,
    /// A field has a wrong type or a value out of bounds, or is missing.
    InvalidField,
    /// Two objects of the same kind, namespace and name.
    DuplicateObject,
    /// A group that isn't declared.
    GroupNotFound,
    /// A group that doesn't accept Tools of this namespace.
    NamespaceNotAllowed,
    /// Another Tool has the same key.
    KeyConflict,
    /// The name or the parameters of a Tool can't be used.
    InvalidParameter,
    /// A template doesn't parse, or a value stands where it can't be quoted.
    InvalidTemplate,
    /// The group doesn't allow what the Tool asks for.
    NotAllowedByGroup,
    /// A namespace that doesn't belong to the catalog: the object counts for nothing.
    OutsideCatalog,
    /// A Secret, a ConfigMap or a key of them isn't there.
    ReferenceNotFound,
    /// A grant names a group or a key that isn't there.
    GrantTargetNotFound,
    /// The grant has ended.
    GrantExpired,
    /// Something that works but is probably not meant.
    Suspicious,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One problem with an object or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Its reason.
    pub reason: Reason,
    /// The object it is about, when that much is known.
    pub object: Option<ObjectRef>,
    /// Where in which file; none for objects of a cluster.
    pub place: Option<Place>,
    /// Path of the field, `spec.params[2].default`; empty for the object as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it; may be empty where the message says it.
    pub fix: String,
}

/// Writes control characters as escapes: names of files and what stands in them must not move anybody's cursor.
struct Printable<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Printable<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive(char::is_control) {
            match piece.chars().next_back().filter(|c| c.is_control()) {
                None => self.0.write_str(piece)?,
                Some(control) => {
                    self.0.write_str(&piece[..piece.len() - control.len_utf8()])?;
                    write!(self.0, "{}", control.escape_default())?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let mut f = Printable(f);
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        match self.severity {
            Severity::Error => f.write_str("error")?,
            Severity::Warning => f.write_str("warning")?,
        }
        write!(f, "[{}]: ", self.reason)?;
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if !self.fix.is_empty() {
            write!(f, "; {}", self.fix)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let problem = Problem {
            severity: Severity::Error,
            reason: Reason::UnknownKind,
            object: None,
            place: Some(Place { file: Arc::new("a\u{1b}[31m\nb.yaml".into()), line: 1, column: 2 }),
            path: "kind".into(),
            message: "there is no kind To\u{1b}[31mol\u{9b}é".into(),
            fix: String::new(),
        };
        assert_eq!(
            problem.to_string(),
            "a\\u{1b}[31m\\nb.yaml:1:2: error[UnknownKind]: kind: there is no kind To\\u{1b}[31mol\\u{9b}é"
        );
    }
}
