//! Tests of manifests: good ones, a table of bad ones, files over time.

mod bad;
mod good;
mod loading;
mod robust;

use std::path::Path;

use super::{Object, Parsed, parse};

fn yaml(text: &str) -> Parsed {
    parse(Path::new("f.yaml"), text.as_bytes())
}

fn json(text: &str) -> Parsed {
    parse(Path::new("f.json"), text.as_bytes())
}

/// The only Tool of a text without problems.
fn tool(text: &str) -> std::sync::Arc<mcc_crds::v1alpha1::Tool> {
    let parsed = yaml(text);
    assert!(parsed.problems.is_empty(), "{}", show(&parsed));
    match &parsed.objects[..] {
        [super::LoadedObject { object: Object::Tool(tool), .. }] => tool.clone(),
        other => panic!("{other:?}"),
    }
}

/// All problems, one a line.
fn show(parsed: &Parsed) -> String {
    parsed.problems.iter().map(|problem| format!("{problem}\n")).collect()
}
