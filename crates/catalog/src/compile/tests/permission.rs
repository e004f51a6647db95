//! For random objects and callers: one answer to who may run what, and incremental compilations that are none other
//! than fresh ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcc_crds::v1alpha1::SubjectKind;
use proptest::prelude::*;

use super::random::{Document, document, joined};
use crate::compile::{CatalogSettings, compile};
use crate::model::{Caller, Catalog, CompiledTool, Identity};
use crate::testing::{cases, objects, user};

fn caller() -> impl Strategy<Value = Caller> {
    let name = proptest::sample::select(vec!["alice", "bob", "carol"]);
    let claims = proptest::sample::subsequence(vec!["staff", "alice", "admin"], 0..3);
    (name, claims, any::<bool>(), 0..10_u8).prop_map(|(name, claims, account, other)| {
        let identity = Identity {
            kind: if account { SubjectKind::ServiceAccount } else { SubjectKind::User },
            namespace: account.then(|| "ci".to_owned()),
            provider_groups: claims.into_iter().map(str::to_owned).collect(),
            builtin_groups: if other == 1 { vec!["admin".to_owned()] } else { Vec::new() },
            ..user(name)
        };
        if other == 0 { Caller::Anonymous } else { Caller::Authenticated(Arc::new(identity)) }
    })
}

/// The rule of the design page, written down a second time and slowly.
fn may_run(catalog: &Catalog, caller: &Caller, now: jiff::Timestamp, tool: &CompiledTool) -> bool {
    let groups = &tool.facets.groups;
    if groups.iter().any(|group| group == "public") {
        return true;
    }
    let Some(identity) = caller.identity() else { return false };
    if identity.builtin_groups.iter().any(|group| group == "admin") {
        return true;
    }
    catalog.grants.iter().any(|grant| {
        let subject = &grant.spec.subject;
        let matches = match subject.kind {
            SubjectKind::Group => identity.provider_groups.contains(&subject.name),
            kind => {
                kind == identity.kind
                    && subject.name == identity.name
                    && subject.namespace == identity.namespace
            }
        };
        let live = grant.spec.expires_at.as_ref().is_none_or(|end| end.0 > now);
        let granted = |group: &String| match group.strip_suffix(".*") {
            Some(prefix) => {
                let wanted: Vec<&str> = prefix.split('.').collect();
                groups.len() >= wanted.len() && groups.iter().zip(&wanted).all(|(a, b)| a == b)
            }
            None => group == "admin" || groups.contains(group),
        };
        matches && live && (grant.spec.groups.iter().any(granted) || grant.spec.tools.contains(&tool.key))
    })
}

/// Everything of a catalog that anybody can see, as text.
fn visible(catalog: &Catalog) -> String {
    let tools: BTreeMap<&String, String> = catalog
        .tools
        .iter()
        .map(|(key, tool)| {
            (
                key,
                format!(
                    "{} {} {:?} {:?} {:?}",
                    tool.digest, tool.signature, tool.facets, tool.env, tool.image
                ),
            )
        })
        .collect();
    format!(
        "{} {tools:#?} {:#?} {:#?} {:#?} {:#?}",
        catalog.revision, catalog.groups, catalog.grants, catalog.verdicts, catalog.problems
    )
}

proptest! {
    #![proptest_config(cases(64, 2048))]

    #[test]
    fn what_is_shown_is_exactly_what_may_run(
        documents in proptest::collection::vec(document(), 0..30),
        caller in caller(),
        month in 1..6_u8,
    ) {
        let catalog = compile(Arc::new(objects(&joined(&documents))), &CatalogSettings::directory(), None);
        let now = format!("2026-0{month}-01T00:00:00Z").parse().unwrap();
        let access = catalog.access(&caller, now);
        let shown: Vec<&str> = catalog.reachable(&access).map(|tool| tool.key.as_str()).collect();
        for (key, tool) in &catalog.tools {
            let allowed = may_run(&catalog, &caller, now, tool);
            prop_assert_eq!(catalog.get(key, &access).is_some(), allowed, "{}", key);
            prop_assert_eq!(shown.contains(&key.as_str()), allowed, "{}", key);
            prop_assert_eq!(access.visibility.admits(&tool.document().facets), allowed, "{}", key);
        }
        prop_assert!(shown.is_sorted());
        // Nothing may be kept longer than the permission holds.
        if let Some(end) = access.valid_until {
            prop_assert!(end > now.as_second());
            let last = jiff::Timestamp::from_second(end - 1).unwrap();
            prop_assert_eq!(&catalog.access(&caller, last).visibility, &access.visibility);
        }
    }

    #[test]
    fn an_unknown_key_and_a_forbidden_one_are_the_same(
        documents in proptest::collection::vec(document(), 0..30),
        caller in caller(),
    ) {
        let catalog = compile(Arc::new(objects(&joined(&documents))), &CatalogSettings::directory(), None);
        let access = catalog.access(&caller, "2026-03-01T00:00:00Z".parse().unwrap());
        for key in catalog.tools.keys() {
            if catalog.get(key, &access).is_some() {
                continue;
            }
            // The same catalog without the tool, and so without anything that could tell that it exists.
            let near = catalog.nearest_keys(key, &access, 5);
            let mut without = objects(&joined(&documents));
            without.tools.retain(|name, _| *name != catalog.tools[key].object);
            let without = compile(Arc::new(without), &CatalogSettings::directory(), None);
            if without.tools.contains_key(key) {
                continue; // A younger Tool has the key now.
            }
            prop_assert!(without.get(key, &access).is_none());
            prop_assert_eq!(without.nearest_keys(key, &access, 5), near.clone());
            prop_assert!(near.iter().all(|near| catalog.get(near, &access).is_some()));
        }
    }

    #[test]
    fn incremental_compilations_equal_fresh_ones(
        edits in proptest::collection::vec((document(), any::<bool>()), 1..25),
        twist in any::<bool>(),
    ) {
        let mut settings = CatalogSettings { now: Some("2026-03-01T00:00:00Z".parse().unwrap()), ..CatalogSettings::directory() };
        let mut present: BTreeMap<String, Document> = BTreeMap::new();
        let mut catalog = Catalog::default();
        for (step, (document, remove)) in edits.into_iter().enumerate() {
            if remove {
                present.remove(&document.id);
            } else {
                present.insert(document.id.clone(), document);
            }
            if twist && step == 10 {
                settings.tool_namespaces = Some(std::collections::BTreeSet::new());
            }
            let set = Arc::new(objects(&joined(present.values())));
            catalog = compile(set.clone(), &settings, Some(&catalog));
            prop_assert_eq!(visible(&catalog), visible(&compile(set, &settings, None)));
        }
    }
}
