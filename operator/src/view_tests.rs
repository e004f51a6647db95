//! Which objects a new catalog concerns, and how many tools grants reach.

use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::ObjectSet;
use serde_json::{Value, json};

use super::*;

fn typed<T: serde::de::DeserializeOwned>(kind: &str, name: &str, spec: &Value) -> (NamespacedName, Entry<T>) {
    let object = json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": kind,
        "metadata": { "name": name, "namespace": "c", "uid": name }, "spec": spec,
    });
    (NamespacedName::new("c", name), Entry::from_cluster(serde_json::from_value(object).unwrap()))
}

#[derive(Clone, Default)]
struct World(ObjectSet);

impl World {
    fn group(mut self, name: &str) -> Self {
        let (name, entry) = typed("ToolGroup", name, &json!({}));
        self.0.groups.insert(name, entry);
        self
    }

    fn tool(mut self, name: &str, groups: &[&str]) -> Self {
        let spec = json!({ "groups": groups, "description": "x", "shell": { "script": "true" } });
        let (name, entry) = typed("Tool", name, &spec);
        self.0.tools.insert(name, entry);
        self
    }

    fn without_tool(mut self, name: &str) -> Self {
        self.0.tools.remove(&NamespacedName::new("c", name));
        self
    }

    fn grant(mut self, name: &str, groups: &[&str], tools: &[&str]) -> Self {
        let spec = json!({ "subject": { "name": "alice" }, "groups": groups, "tools": tools });
        let (name, entry) = typed("UserGrant", name, &spec);
        self.0.grants.insert(name, entry);
        self
    }

    fn catalog(&self, before: &View) -> Arc<Catalog> {
        let settings = CatalogSettings::cluster("c", std::collections::BTreeSet::new());
        Arc::new(compile(Arc::new(self.0.clone()), &settings, Some(&before.catalog)))
    }
}

fn texts(concerned: &BTreeSet<ObjectRef>) -> Vec<String> {
    concerned.iter().map(ToString::to_string).collect()
}

fn reach(view: &View) -> Vec<(String, i64)> {
    let mut reach: Vec<_> = view.reach.iter().map(|(name, tools)| (name.name.clone(), *tools)).collect();
    reach.sort();
    reach
}

fn world() -> World {
    World::default()
        .group("a")
        .group("b")
        .tool("one", &["a"])
        .tool("two", &["a", "b"])
        .tool("three", &["b"])
        .tool("four", &["public"])
        .grant("all", &["admin"], &[])
        .grant("some", &["a"], &["b.three"])
        .grant("wild", &["a.b.*"], &[])
        .grant("single", &[], &["b.three"])
}

#[test]
fn at_first_everything_is_news() {
    let world = world();
    let (view, concerned) = View::default().next(world.catalog(&View::default()));
    assert!(view.is_synced);
    assert_eq!(concerned.len(), 10);
    let expected = [("all", 4), ("single", 1), ("some", 3), ("wild", 1)];
    assert_eq!(reach(&view), expected.map(|(name, tools)| (name.to_owned(), tools)));
}

#[test]
fn later_only_what_has_changed() {
    let world = world();
    let (view, _) = View::default().next(world.catalog(&View::default()));
    let (view, concerned) = view.next(world.catalog(&view));
    assert!(concerned.is_empty(), "{concerned:?}");

    // A Tool comes into a group: the group, and the grants that reach it.
    let world = world.tool("five", &["b"]);
    let (view, concerned) = view.next(world.catalog(&view));
    assert_eq!(texts(&concerned), ["Tool c/five", "ToolGroup c/b", "UserGrant c/all"]);

    // It goes: nobody says anything about it any more, but the counts change back.
    let world = world.without_tool("five");
    let (view, concerned) = view.next(world.catalog(&view));
    assert_eq!(texts(&concerned), ["ToolGroup c/b", "UserGrant c/all"]);

    // It leaves one group for another.
    let world = world.tool("three", &["a"]);
    let (view, concerned) = view.next(world.catalog(&view));
    assert_eq!(
        texts(&concerned),
        ["Tool c/three", "ToolGroup c/a", "ToolGroup c/b", "UserGrant c/single", "UserGrant c/some"]
    );
    let expected = [("all", 4), ("single", 0), ("some", 3), ("wild", 1)];
    assert_eq!(reach(&view), expected.map(|(name, tools)| (name.to_owned(), tools)));
}

#[test]
fn counts_made_step_by_step_are_those_made_at_once() {
    let mut world = world();
    let (mut view, _) = View::default().next(world.catalog(&View::default()));
    for step in 0..40_usize {
        let groups = [&["a"][..], &["b"], &["a", "b"], &["b", "a"], &["public"]][step % 5];
        let name = format!("t{}", step % 7);
        world = if step % 3 == 0 { world.without_tool(&name) } else { world.tool(&name, groups) };
        view = view.next(world.catalog(&view)).0;
        let (fresh, _) = View::default().next(world.catalog(&View::default()));
        assert_eq!(reach(&view), reach(&fresh), "step {step}");
        for grant in &view.catalog.grants {
            let visibility = grant.visibility();
            let admitted = view.catalog.tools.values().filter(|tool| visibility.admits(&tool.facets)).count();
            assert_eq!(view.reach[&grant.object], count(admitted), "step {step}: {}", grant.object);
        }
    }
}
