//! From a caller to the tools they reach.
//!
//! ```text
//! Caller ─▶ grants of its subjects, not expired ─▶ Access ─▶ Visibility ─▶ Catalog::{get, reachable, nearest_keys}
//! ```
//!
//! Search, describe_tools, whoami, resources and execute all go through [`Catalog::get`] and [`Catalog::reachable`].

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use mcc_crds::v1alpha1::SubjectKind;

use crate::model::{ADMIN, Access, Caller, Catalog, CompiledTool, Grant, Identity, ToolDocument, Visibility};

/// Finds the grants of a subject without looking at all of them.
#[derive(Debug, Default)]
pub struct SubjectIndex {
    by_subject: HashMap<Subject, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Subject {
    kind: SubjectKind,
    namespace: Option<String>,
    name: String,
}

impl SubjectIndex {
    /// Indexes grants by their subjects.
    pub(crate) fn new(grants: &[Arc<Grant>]) -> Self {
        let mut by_subject: HashMap<Subject, Vec<usize>> = HashMap::new();
        for (position, grant) in grants.iter().enumerate() {
            let subject = &grant.spec.subject;
            let namespace = match subject.kind {
                SubjectKind::ServiceAccount => subject.namespace.clone(),
                SubjectKind::User | SubjectKind::Group => None,
            };
            let key = Subject { kind: subject.kind, namespace, name: subject.name.clone() };
            by_subject.entry(key).or_default().push(position);
        }
        Self { by_subject }
    }

    /// Positions of the grants that name this identity or one of its provider's groups, oldest first.
    fn positions(&self, identity: &Identity) -> BTreeSet<usize> {
        let own = Subject {
            kind: identity.kind,
            namespace: match identity.kind {
                SubjectKind::ServiceAccount => identity.namespace.clone(),
                SubjectKind::User | SubjectKind::Group => None,
            },
            name: identity.name.clone(),
        };
        // An identity is never a Group itself: only what its provider claims is matched against those.
        let own = (identity.kind != SubjectKind::Group).then_some(own);
        let claimed = identity.provider_groups.iter().map(|group| Subject {
            kind: SubjectKind::Group,
            namespace: None,
            name: group.clone(),
        });
        own.into_iter()
            .chain(claimed)
            .filter_map(|subject| self.by_subject.get(&subject))
            .flatten()
            .copied()
            .collect()
    }
}

impl Catalog {
    /// The united grants of `caller` at `now`. Expired grants count for nothing.
    pub fn access(&self, caller: &Caller, now: Timestamp) -> Access {
        let Some(identity) = caller.identity() else {
            return Access { visibility: Visibility::public(), ..Access::default() };
        };
        let mut groups: BTreeSet<&str> = identity.builtin_groups.iter().map(String::as_str).collect();
        let mut tools: BTreeSet<&str> = BTreeSet::new();
        let mut email = identity.email.as_deref();
        let mut valid_until: Option<Timestamp> = None;
        for position in self.subjects.positions(identity) {
            let Some(grant) = self.grants.get(position) else { continue };
            if let Some(end) = grant.expires_at() {
                if end <= now {
                    continue;
                }
                valid_until = Some(valid_until.map_or(end, |earlier| earlier.min(end)));
            }
            groups.extend(grant.spec.groups.iter().map(String::as_str));
            tools.extend(grant.spec.tools.iter().map(String::as_str));
            // Grants come oldest first, so the first address is that of the oldest grant.
            email = email.or(grant.spec.email.as_deref());
        }
        Access {
            username: Some(identity.username()),
            email: email.map(str::to_owned),
            visibility: visibility(&groups, &tools),
            groups: groups.into_iter().map(str::to_owned).collect(),
            tools: tools.into_iter().map(str::to_owned).collect(),
            // Rounded down, so that nothing is kept past the end of a grant.
            valid_until: valid_until.map(Timestamp::as_second),
        }
    }

    /// The tool of this key, if the caller may run it: an unknown key and a forbidden one are the same `None`.
    pub fn get(&self, key: &str, access: &Access) -> Option<&Arc<CompiledTool>> {
        self.tools.get(key).filter(|tool| access.visibility.admits(&tool.facets))
    }

    /// Every tool the caller may run, by key.
    pub fn reachable<'a>(&'a self, access: &'a Access) -> impl Iterator<Item = &'a Arc<CompiledTool>> {
        self.tools.values().filter(|tool| access.visibility.admits(&tool.facets))
    }

    /// At most `n` keys the caller may run that look like `key`, the most alike first.
    pub fn nearest_keys(&self, key: &str, access: &Access, n: usize) -> Vec<String> {
        let candidates = self.reachable(access).map(|tool| tool.key.as_str());
        crate::compile::nearest(key, candidates, n).into_iter().map(str::to_owned).collect()
    }

    /// What an index is to know of all tools, by key.
    pub fn documents(&self) -> Vec<ToolDocument> {
        self.tools.values().map(|tool| tool.document()).collect()
    }
}

impl CompiledTool {
    /// What an index is to know of the tool.
    pub fn document(&self) -> ToolDocument {
        let visible = self.params.iter().filter(|param| param.fixed.is_none());
        let params: Vec<(String, String)> =
            visible.map(|param| (param.name.clone(), param.description.clone())).collect();
        ToolDocument {
            facets: self.facets.clone(),
            digest: crate::compile::document_digest(self, &params),
            name: self.name.clone(),
            description: self.description.clone(),
            keywords: self.keywords.clone(),
            params,
        }
    }
}

impl Grant {
    /// When the grant ends, if it does.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.spec.expires_at.as_ref().map(|time| time.0)
    }

    /// What the grant adds to what everybody reaches.
    pub fn visibility(&self) -> Visibility {
        let groups = self.spec.groups.iter().map(String::as_str);
        granted(groups, self.spec.tools.iter().map(String::as_str))
    }
}

/// The permission of a caller with these groups (wildcards as written) and keys.
fn visibility(groups: &BTreeSet<&str>, tools: &BTreeSet<&str>) -> Visibility {
    let mut visibility = granted(groups.iter().copied(), tools.iter().copied());
    visibility.groups.append(&mut Visibility::public().groups);
    visibility
}

/// What these groups (wildcards as written) and keys give.
fn granted<'a>(groups: impl Iterator<Item = &'a str>, tools: impl Iterator<Item = &'a str>) -> Visibility {
    let mut visibility = Visibility { keys: tools.map(str::to_owned).collect(), ..Visibility::default() };
    for group in groups {
        match group.strip_suffix(".*") {
            Some(prefix) => visibility.prefixes.insert(prefix.to_owned()),
            None => visibility.groups.insert(group.to_owned()),
        };
    }
    visibility.all = visibility.groups.contains(ADMIN);
    visibility
}
