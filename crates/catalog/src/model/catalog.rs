//! The catalog: everything that search and execute need, immutable, swapped as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{CompiledTool, NamespacedName, ObjectRef, ObjectSet, Problem};
use crate::access::SubjectIndex;
use crate::compile::{CompileStats, Memory};

/// All tools, groups and grants of one catalog at one moment.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Changes whenever tools, groups, grants or objects do; equal objects give equal revisions. Places in files and
    /// problems that aren't the objects' don't count.
    pub revision: u64,
    /// Tools by key.
    pub tools: BTreeMap<String, Arc<CompiledTool>>,
    /// Declared groups by name.
    pub groups: BTreeMap<String, Arc<Group>>,
    /// Accepted grants, oldest first.
    pub grants: Vec<Arc<Grant>>,
    /// What became of every object.
    pub verdicts: BTreeMap<ObjectRef, Verdict>,
    /// Every problem found, in the order of files and lines.
    pub problems: Vec<Problem>,
    /// The objects it was compiled from (Secrets and ConfigMaps are read from here by the process executor).
    pub objects: Arc<ObjectSet>,
    /// What compiling it cost.
    pub stats: CompileStats,
    /// The grants by subject; filled together with `grants`.
    pub(crate) subjects: SubjectIndex,
    /// What the next compilation may reuse.
    pub(crate) memory: Memory,
}

impl Catalog {
    /// Adds problems found elsewhere, in files that aren't objects yet, in the order of files and lines.
    pub fn add_problems(&mut self, problems: Vec<Problem>) {
        self.problems.extend(problems);
        sort_problems(&mut self.problems);
    }
}

/// In the order of files and lines; those without a place last.
pub(crate) fn sort_problems(problems: &mut [Problem]) {
    problems.sort_by(|a, b| (a.place.is_none(), &a.place).cmp(&(b.place.is_none(), &b.place)));
}

/// A declared group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name.
    pub name: String,
    /// Description, may be empty.
    pub description: String,
    /// Keys of its tools, sorted.
    pub tools: Vec<String>,
}

/// An accepted grant.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The UserGrant object.
    pub object: NamespacedName,
    /// Its spec.
    pub spec: mcc_crds::v1alpha1::UserGrantSpec,
}

/// What became of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is part of the catalog.
    pub accepted: bool,
    /// Key of an accepted Tool.
    pub key: Option<String>,
    /// Its problems; the first error is the reason of `Accepted=False`.
    pub problems: Vec<Problem>,
}
