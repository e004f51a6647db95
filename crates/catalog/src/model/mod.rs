//! The values that the rest of the crate computes with.

mod access;
mod catalog;
mod identity;
mod object;
mod place;
mod problem;
mod tool;

pub use access::{ADMIN, Access, Facets, PUBLIC, Visibility};
pub(crate) use catalog::sort_problems;
pub use catalog::{Catalog, Grant, Group, Verdict};
pub use identity::{Caller, Identity};
pub use object::{Entry, NamespacedName, ObjectKind, ObjectRef, ObjectSet};
pub use place::{FieldPlaces, FieldPlacesBuilder, Origin, Place};
pub use problem::{Problem, Reason, Severity};
pub use tool::{
    CompiledTool, Delivery, HttpProgram, Implementation, Parameter, PythonCode, ResolvedLimits, ToolDocument,
};
