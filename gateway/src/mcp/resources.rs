//! Resources: the catalog, the caller, and outputs that an answer had to cut.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::answer;
use super::prompts::entry;
use super::scope::Scope;
use crate::state::Shared;

const TOOLS: &str = "catalog://tools";
const ME: &str = "user://me";
/// Template of one tool.
pub(crate) const TOOL_TEMPLATE: &str = "catalog://tools/{key}";
const OUTPUT_TEMPLATE: &str = "catalog://executions/{id}/output{?offset}";

/// `resources/list`.
pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(TOOLS, "tools")
            .with_title("Tools")
            .with_description("Every tool that you may run, with its parameters")
            .with_mime_type("text/markdown"),
        Resource::new(ME, "me")
            .with_title("Me")
            .with_description("Who you are to this catalog")
            .with_mime_type("application/json"),
    ]
}

/// `resources/templates/list`.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(TOOL_TEMPLATE, "tool")
            .with_title("Tool")
            .with_description("One tool: parameters, what it returns, an example")
            .with_mime_type("text/markdown"),
        ResourceTemplate::new(OUTPUT_TEMPLATE, "output")
            .with_title("Output")
            .with_description("The output of a run whose answer was cut, page by page; kept for a while")
            .with_mime_type("text/plain"),
    ]
}

/// `resources/read`.
pub(crate) fn read(shared: &Shared, scope: &Scope, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind, ttl) = if uri == TOOLS {
        (tools(shared, scope), "text/markdown", shared.config.list_ttl)
    } else if uri == ME {
        (me(shared, scope), "application/json", std::time::Duration::ZERO)
    } else if let Some(key) = uri.strip_prefix("catalog://tools/") {
        (tool(shared, scope, key, uri)?, "text/markdown", shared.config.list_ttl)
    } else if let Some(rest) = uri.strip_prefix("catalog://executions/") {
        (output(shared, scope, rest, uri)?, "text/plain", std::time::Duration::ZERO)
    } else {
        return Err(not_found(format!("Resource '{}' not found.", short(uri)), uri));
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
        .with_cache_scope(CacheScope::Private))
}

fn tools(shared: &Shared, scope: &Scope) -> String {
    let view = shared.view(scope);
    let blocks = view.tools().map(|tool| tool.signature.trim_end());
    let rest = |more| format!("[… {more} more tools left out: read {TOOL_TEMPLATE}, or search …]");
    answer::blocks(blocks, shared.config.answer_bytes, rest)
        .unwrap_or_else(|| "No accessible tools.".to_owned())
}

fn me(shared: &Shared, scope: &Scope) -> String {
    let view = shared.view(scope);
    let access = &view.access;
    json!({
        "username": access.username.as_deref().unwrap_or("anonymous"),
        "email": access.email,
        "groups": access.groups,
        "tools": access.tools,
    })
    .to_string()
}

/// The same answer for an unknown and a forbidden key.
fn tool(shared: &Shared, scope: &Scope, key: &str, uri: &str) -> Result<String, ErrorData> {
    let key = percent_decode_str(key).decode_utf8_lossy();
    let view = shared.view(scope);
    let tool = view.tool(&key).ok_or_else(|| not_found(format!("Tool '{}' not found.", short(&key)), uri))?;
    Ok(entry(tool))
}

/// `ID/output` with `?offset=N`.
fn output(shared: &Shared, scope: &Scope, rest: &str, uri: &str) -> Result<String, ErrorData> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let offset = match query.split('&').find_map(|pair| pair.strip_prefix("offset=")) {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            ErrorData::invalid_params("offset must be a whole number of bytes, as in ?offset=65536", None)
        })?,
    };
    let id = path.strip_suffix("/output").unwrap_or_default();
    let page = shared.outputs.page(id, &scope.owner(), offset, shared.config.answer_bytes);
    let page = page.ok_or_else(|| {
        not_found(
            "There is no such output: it was never yours, was not cut, or is no longer kept.".to_owned(),
            uri,
        )
    })?;
    let mut text = page.text;
    if page.offset > offset {
        text.insert_str(0, &format!("[… bytes {offset} to {} were not kept …]\n", page.offset));
    }
    if let Some(next) = page.next {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let total = page.total;
        let _ =
            write!(text, "[… go on at catalog://executions/{id}/output?offset={next} of {total} bytes …]");
    }
    Ok(text)
}

fn not_found(message: String, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(message, Some(json!({"uri": short(uri)})))
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
