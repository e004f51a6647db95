//! How our tools are announced.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::names::{Names, OwnTool};

/// The definition of each tool, in the order of `tools/list`.
pub(crate) fn all(names: &Names) -> Vec<Tool> {
    OwnTool::ALL.into_iter().map(|tool| define(tool, names)).collect()
}

fn define(tool: OwnTool, names: &Names) -> Tool {
    let (title, description, properties, required) = match tool {
        OwnTool::Search => super::search::definition(names),
        OwnTool::Execute => super::execute::definition(names),
        OwnTool::DescribeTools => super::describe_tools::definition(names),
        OwnTool::Whoami => super::whoami::definition(),
        OwnTool::SetSession => super::set_session::definition(names),
        OwnTool::GetSession => super::get_session::definition(names),
    };
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Tool::new(names.of(tool), description, object(schema))
        .with_title(title)
        .with_annotations(hints(tool, title))
}

/// What a tool's own module says of it: title, description, properties of the arguments, and which are required.
pub(crate) type Definition = (&'static str, String, Value, Vec<&'static str>);

fn hints(tool: OwnTool, title: &str) -> ToolAnnotations {
    let reads = ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true);
    match tool {
        OwnTool::Search | OwnTool::DescribeTools | OwnTool::Whoami | OwnTool::GetSession => {
            reads.open_world(false)
        }
        OwnTool::SetSession => reads.read_only(false).open_world(false),
        // Whatever the tools in the catalog do.
        OwnTool::Execute => ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(true),
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// The property `session` of three of the tools.
pub(crate) fn session_property(names: &Names) -> Value {
    json!({
        "type": "string",
        "description": format!(
            "Handle of the session to use, as {} answered it. Leave it out unless you were given one.",
            names.of(OwnTool::SetSession)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_hold_what_clients_bound() {
        for prefix in ["", &"p".repeat(50)] {
            for tool in all(&Names::new(prefix)) {
                assert!(tool.name.len() <= 64, "{}", tool.name);
                let description = tool.description.as_deref().unwrap();
                assert!((40..=1024).contains(&description.len()), "{}: {}", tool.name, description.len());
                assert!(tool.title.is_some() && tool.annotations.is_some());
                let schema = serde_json::to_string(&tool.input_schema).unwrap();
                assert!(!schema.contains("uint") && !schema.contains("$ref"), "{schema}");
                assert_eq!(tool.input_schema["additionalProperties"], false);
                let properties = tool.input_schema["properties"].as_object().unwrap();
                for property in properties.values() {
                    assert!(property["description"].is_string(), "{property}");
                }
            }
        }
    }

    #[test]
    fn only_execute_may_do_harm() {
        for tool in all(&Names::new("")) {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!(hints.destructive_hint, Some(tool.name == "execute"), "{}", tool.name);
            let changes = ["execute", "set_session"].contains(&tool.name.as_ref());
            assert_eq!(hints.read_only_hint, Some(!changes), "{}", tool.name);
        }
    }

    #[test]
    fn announced_definitions() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&all(&Names::new(""))).unwrap());
    }
}
