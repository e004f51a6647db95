//! `describe_tools`: what there is.

use rmcp::model::{CallToolResult, JsonObject};
use serde_json::json;

use super::answer::{self, Refusal};
use super::arguments::Arguments;
use super::definition::Definition;
use super::names::{Names, OwnTool};
use super::scope::Scope;
use crate::state::Shared;

pub(crate) fn definition(names: &Names) -> Definition {
    let description = format!(
        "Lists the tools that you may run: key and description of each, by key. With groups, only tools that are in \
         all of them. To find a tool for a task, {} is quicker.",
        names.of(OwnTool::Search)
    );
    let properties = json!({
        "groups": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Only tools that are in every one of these groups.",
        },
    });
    ("Describe tools", description, properties, Vec::new())
}

pub(crate) fn call(
    shared: &Shared,
    scope: &Scope,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, Refusal> {
    let name = shared.names.of(OwnTool::DescribeTools);
    let usage = format!("{name}() or {name}(groups=[\"a\", \"b\"])");
    let mut given = Arguments::new(&name, &usage, &["groups"], arguments);
    let groups = given.texts("groups");
    given.finish()?;
    let view = shared.view(scope);
    let blocks = view
        .tools()
        .filter(|tool| groups.iter().all(|group| tool.facets.groups.contains(group)))
        .map(|tool| format!("## {}\n{}", tool.key, tool.description).trim_end().to_owned());
    let search = shared.names.of(OwnTool::Search);
    let rest =
        |more| format!("[… {more} more tools left out: name groups to narrow it down, or use {search} …]");
    let text = answer::blocks(blocks, shared.config.answer_bytes, rest);
    Ok(answer::text(text.unwrap_or_else(|| "No tools available.".to_owned())))
}
