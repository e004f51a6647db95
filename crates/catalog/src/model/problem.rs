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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
