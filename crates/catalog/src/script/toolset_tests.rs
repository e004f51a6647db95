//! The commands of the original system's own tools, as they stand.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::testing::tool_params;
use super::{ScriptTemplate, apply_rewrites};

/// The folder with shared data, if it is there.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("MCC_SHARED").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    folder.join("data/mcc-toolsets").is_dir().then_some(folder)
}

/// The command that the original runs for an entry.
fn command(tool: &Value) -> Option<String> {
    if let Some(command) = tool["exec"].as_str() {
        return Some(command.to_owned());
    }
    let value = tool["curl"].as_str()?.trim_start();
    let body = if tool["stdin"] == true { " --json @-" } else { "" };
    Some(if value.starts_with("http://") || value.starts_with("https://") {
        format!("curl -sL -o -{body} '{value}'")
    } else {
        format!("curl -sL -o -{body} {value}")
    })
}

#[test]
fn commands_of_the_original_are_taken_or_say_what_to_rewrite() {
    let Some(shared) = shared() else {
        println!("skipped: commands_of_the_original_are_taken_or_say_what_to_rewrite: no shared data");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(shared.join("data/mcc-toolsets"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut report, mut seen) = (String::new(), 0);
    for file in files {
        let document: Value = serde_yaml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for tool in document["tools"].as_array().unwrap() {
            let transforms: Vec<&str> = match &tool["transform"] {
                Value::String(one) => vec![one],
                Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            let Some(command) = command(tool) else { continue };
            seen += 1;
            let source = std::iter::once(command.as_str()).chain(transforms).collect::<Vec<_>>().join(" | ");
            let params = tool_params(&tool["params"]);
            let name = tool["name"].as_str().unwrap();
            match ScriptTemplate::compile(&source, &params) {
                Ok((_, warnings)) => {
                    for warning in warnings {
                        writeln!(report, "{name}: warning: {warning}").unwrap();
                    }
                }
                Err(problems) => {
                    writeln!(report, "{name}: {source}").unwrap();
                    for problem in &problems {
                        writeln!(report, "  {problem}").unwrap();
                    }
                    let rewritten = apply_rewrites(&source, &problems);
                    let outcome =
                        ScriptTemplate::compile(&rewritten, &params).map_or("not taken", |_| "taken");
                    writeln!(report, "  {outcome}: {rewritten}").unwrap();
                }
            }
        }
    }
    assert_eq!(seen, 23);
    insta::assert_snapshot!(report);
}
