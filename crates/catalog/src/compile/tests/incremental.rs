//! One changed Tool costs one compile, and what comes out is what a fresh compilation gives.

use std::sync::Arc;

use crate::compile::{CatalogSettings, compile};
use crate::model::{Catalog, Entry, NamespacedName, ObjectSet};
use crate::testing::objects;

fn many(tools: usize) -> ObjectSet {
    let mut yaml = "kind: ToolGroup\nmetadata: {name: a}\nspec: {}\n---\nkind: ToolGroup\nmetadata: {name: b}\nspec: {}\n".to_owned();
    for number in 0..tools {
        let group = if number % 10 == 0 { "b" } else { "a" };
        let spec = format!("{{groups: [{group}], description: x, shell: {{script: 'true'}}}}");
        yaml +=
            &["---\nkind: Tool\nmetadata: {name: t", &number.to_string(), "}\nspec: ", &spec, "\n"].concat();
    }
    objects(&yaml)
}

fn next(objects: &ObjectSet, previous: &Catalog) -> Catalog {
    compile(Arc::new(objects.clone()), &CatalogSettings::directory(), Some(previous))
}

fn compiled(catalog: &Catalog) -> usize {
    catalog.stats.compiled
}

#[test]
fn one_changed_tool_is_one_compile_and_a_changed_group_only_its_tools() {
    let mut set = many(100);
    let first = compile(Arc::new(set.clone()), &CatalogSettings::directory(), None);
    assert_eq!((first.stats.compiled, first.stats.reused), (100, 0));
    assert_eq!(compiled(&next(&set, &first)), 0);

    let name = NamespacedName::new("mcc-catalog", "t1");
    let mut tool = (*set.tools[&name].object).clone();
    tool.spec.description = "changed".to_owned();
    set.tools.insert(name.clone(), Entry::from_cluster(tool));
    let second = next(&set, &first);
    assert_eq!((second.stats.compiled, second.stats.reused), (1, 99));
    assert!(Arc::ptr_eq(&second.tools["a.t2"], &first.tools["a.t2"]));
    assert!(!Arc::ptr_eq(&second.tools["a.t1"], &first.tools["a.t1"]));

    let group = NamespacedName::new("mcc-catalog", "b");
    let mut changed = (*set.groups[&group].object).clone();
    changed.spec.description = "words only".to_owned();
    set.groups.insert(group.clone(), Entry::from_cluster(changed.clone()));
    let third = next(&set, &second);
    assert_eq!(compiled(&third), 0);

    changed.spec.defaults =
        Some(mcc_crds::v1alpha1::GroupDefaults { image: Some("x".to_owned()), ..Default::default() });
    set.groups.insert(group.clone(), Entry::from_cluster(changed));
    let fourth = next(&set, &third);
    assert_eq!(compiled(&fourth), 10);

    set.tools.remove(&name);
    let fifth = next(&set, &fourth);
    assert_eq!((fifth.stats.compiled, fifth.stats.reused), (0, 99));
    set.groups.remove(&group);
    let sixth = next(&set, &fifth);
    assert_eq!((sixth.stats.compiled, sixth.tools.len()), (10, 89));
}

#[test]
fn a_tool_read_again_without_a_change_is_not_compiled_again() {
    let first = compile(Arc::new(many(20)), &CatalogSettings::directory(), None);
    let again = next(&many(20), &first);
    assert_eq!((again.stats.compiled, again.revision), (0, first.revision));
}
