//! The catalog as the controllers see it, and which objects a new one concerns.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mcc_catalog::model::{
    Catalog, CompiledTool, Entry, Facets, Grant, NamespacedName, ObjectKind, ObjectRef, Reason,
};

/// So many changed tools that looking each up in every grant costs more than counting anew.
const MANY: usize = 500;

/// A catalog, and how many tools each grant reaches.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Whether there was a catalog at all.
    pub is_synced: bool,
    pub catalog: Arc<Catalog>,
    /// Number of tools by UserGrant; accepted ones only.
    pub reach: HashMap<NamespacedName, i64>,
}

impl View {
    /// The view of `catalog`, and the objects about which something else is to be said than with `self`.
    pub fn next(&self, catalog: Arc<Catalog>) -> (Self, BTreeSet<ObjectRef>) {
        let before = &self.catalog;
        let mut concerned = judged_anew(before, &catalog);
        let moved = Moved::between(&before.tools, &catalog.tools);
        concerned.extend(moved.objects.iter().cloned());
        for (name, group) in &catalog.groups {
            if before.groups.get(name).is_none_or(|known| known.tools.len() != group.tools.len()) {
                concerned.extend(group_object(&catalog, name));
            }
        }
        let members = LazyCell::new(|| Members::new(&catalog.tools));
        let mut reach = HashMap::with_capacity(catalog.grants.len());
        for grant in &catalog.grants {
            let known = self.reach.get(&grant.object).copied();
            let object = ObjectRef::new(ObjectKind::UserGrant, grant.object.clone());
            let tools = match known {
                Some(known) if !concerned.contains(&object) && !moved.concern(grant) => known,
                _ if is_expired(&catalog, &object) => 0,
                _ => members.reached_by(grant),
            };
            if known != Some(tools) {
                concerned.insert(object);
            }
            reach.insert(grant.object.clone(), tools);
        }
        (Self { is_synced: true, catalog, reach }, concerned)
    }
}

/// Whether a grant has ended, as its verdict says.
fn is_expired(catalog: &Catalog, grant: &ObjectRef) -> bool {
    let problems = catalog.verdicts.get(grant).map(|verdict| verdict.problems.as_slice());
    problems.unwrap_or_default().iter().any(|problem| problem.reason == Reason::GrantExpired)
}

fn group_object(catalog: &Catalog, name: &str) -> Option<ObjectRef> {
    let named = catalog.objects.groups.keys().filter(|object| object.name == name);
    let mut objects = named.map(|object| ObjectRef::new(ObjectKind::ToolGroup, object.clone()));
    objects.find(|object| catalog.verdicts.get(object).is_some_and(|verdict| verdict.accepted))
}

/// Objects that are new, were changed, or are judged otherwise than before.
fn judged_anew(before: &Catalog, after: &Catalog) -> BTreeSet<ObjectRef> {
    let differs = |object: &ObjectRef| {
        let name = &object.name;
        let (old, new) = (&before.objects, &after.objects);
        match object.kind {
            ObjectKind::Tool => !same(old.tools.get(name), new.tools.get(name)),
            ObjectKind::ToolGroup => !same(old.groups.get(name), new.groups.get(name)),
            ObjectKind::UserGrant => !same(old.grants.get(name), new.grants.get(name)),
            ObjectKind::Secret | ObjectKind::ConfigMap => false,
        }
    };
    let judged = after
        .verdicts
        .iter()
        .filter(|(object, verdict)| before.verdicts.get(*object) != Some(*verdict) || differs(object));
    judged.map(|(object, _)| object.clone()).collect()
}

fn same<T>(old: Option<&Entry<T>>, new: Option<&Entry<T>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => Arc::ptr_eq(&old.object, &new.object),
        (None, None) => true,
        _ => false,
    }
}

/// What two sets of tools differ in.
#[derive(Default)]
struct Moved {
    /// Facets of tools that came, went or changed their groups: before and after.
    facets: Vec<Facets>,
    /// The Tools that were compiled anew.
    objects: Vec<ObjectRef>,
}

impl Moved {
    fn between(
        before: &BTreeMap<String, Arc<CompiledTool>>,
        after: &BTreeMap<String, Arc<CompiledTool>>,
    ) -> Self {
        let mut moved = Self::default();
        for (key, tool) in after {
            let known = before.get(key);
            if known.is_some_and(|known| Arc::ptr_eq(known, tool)) {
                continue;
            }
            moved.objects.push(ObjectRef::new(ObjectKind::Tool, tool.object.clone()));
            if known.is_none_or(|known| known.facets != tool.facets) {
                moved.facets.extend(known.map(|known| known.facets.clone()));
                moved.facets.push(tool.facets.clone());
            }
        }
        let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
        moved.facets.extend(gone.map(|(_, tool)| tool.facets.clone()));
        moved
    }

    /// Whether a grant may reach other tools than before.
    fn concern(&self, grant: &Grant) -> bool {
        if self.facets.is_empty() {
            return false;
        }
        let visibility = grant.visibility();
        self.facets.len() > MANY || self.facets.iter().any(|facets| visibility.admits(facets))
    }
}

/// Tools by what grants name, so that a grant isn't held against all of them.
struct Members<'a> {
    tools: &'a BTreeMap<String, Arc<CompiledTool>>,
    by_group: HashMap<&'a str, Vec<&'a Facets>>,
    by_prefix: HashMap<&'a str, Vec<&'a Facets>>,
}

impl<'a> Members<'a> {
    fn new(tools: &'a BTreeMap<String, Arc<CompiledTool>>) -> Self {
        let mut members = Self { tools, by_group: HashMap::new(), by_prefix: HashMap::new() };
        for tool in tools.values() {
            for group in &tool.facets.groups {
                members.by_group.entry(group).or_default().push(&tool.facets);
            }
            for prefix in &tool.facets.prefixes {
                members.by_prefix.entry(prefix).or_default().push(&tool.facets);
            }
        }
        members
    }

    fn reached_by(&self, grant: &Grant) -> i64 {
        let visibility = grant.visibility();
        if visibility.all {
            return count(self.tools.len());
        }
        let by_group = visibility.groups.iter().filter_map(|group| self.by_group.get(group.as_str()));
        let by_prefix = visibility.prefixes.iter().filter_map(|prefix| self.by_prefix.get(prefix.as_str()));
        let named = by_group.chain(by_prefix).flatten().copied();
        let single = visibility.keys.iter().filter_map(|key| self.tools.get(key)).map(|tool| &tool.facets);
        let candidates = named.chain(single);
        let reached: BTreeSet<&str> =
            candidates.filter(|facets| visibility.admits(facets)).map(|facets| facets.key.as_str()).collect();
        count(reached.len())
    }
}

/// A number as the API has numbers.
pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
