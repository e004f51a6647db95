//! Prompts: ready-made requests for a model. What they say of a tool, its caller may know anyway.

use mcc_catalog::model::CompiledTool;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

use super::execute::unauthorized;
use super::names::OwnTool;
use super::scope::Scope;
use super::view::View;
use crate::state::Shared;

/// Longest argument, in bytes.
const MAX_ARGUMENT_BYTES: usize = 32 * 1024;

/// The prompts whose argument `key` names a tool.
pub(crate) const WITH_KEY: [&str; 2] = ["explain_tool", "debug_error"];

/// `prompts/list`.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str| {
        PromptArgument::new(name).with_description(description).with_required(true)
    };
    let key = || argument("key", "Key of the tool");
    vec![
        Prompt::new(
            "find_and_run",
            Some("Find a tool for a task and run it"),
            Some(vec![argument("task", "What is to be done")]),
        )
        .with_title("Find and run"),
        Prompt::new("explain_tool", Some("What a tool does and how it is called"), Some(vec![key()]))
            .with_title("Explain a tool"),
        Prompt::new(
            "debug_error",
            Some("Why a tool failed and how to call it right"),
            Some(vec![key(), argument("error", "What the tool answered")]),
        )
        .with_title("Debug an error"),
    ]
}

/// `prompts/get`.
pub(crate) fn get(
    shared: &Shared,
    scope: &Scope,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let search = shared.names.of(OwnTool::Search);
    let execute = shared.names.of(OwnTool::Execute);
    let argument = |name| argument(request.arguments.as_ref(), &request.name, name);
    let text = match request.name.as_str() {
        "find_and_run" => {
            let task = argument("task")?;
            format!(
                "Do this task with a tool of the catalog:\n\n{task}\n\nCall {search} with a description of what is \
                 needed. From what it answers choose the tool that fits best by its description and parameters, not by \
                 its score alone; if none fits, search once more in other words. Run it with {execute}, its parameters \
                 filled in from the task, and ask me for what the task doesn't say. Then tell me the result."
            )
        }
        "explain_tool" => {
            let view = shared.view(scope);
            let tool = tool(shared, &view, &argument("key")?)?;
            format!(
                "Explain this tool of the catalog to me: what it does, which parameters it needs, which it can do \
                 without and what then holds, and when to use it. Show one example call with {execute}.\n\n{}",
                entry(&tool)
            )
        }
        "debug_error" => {
            let view = shared.view(scope);
            let tool = tool(shared, &view, &argument("key")?)?;
            let error = argument("error")?;
            format!(
                "A call of this tool of the catalog failed.\n\n{}\n\nIt answered:\n\n{error}\n\nFind out why: say what \
                 the error means, which parameters to change and how, and whether another tool would do better (look \
                 with {search}). Then call it right with {execute}, or tell me what is missing.",
                entry(&tool)
            )
        }
        other => {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt {other:?}: use find_and_run, explain_tool or debug_error"),
                None,
            ));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// What explain and the resource of a tool show: signature, what it returns, example.
pub(crate) fn entry(tool: &CompiledTool) -> String {
    let mut text = tool.signature.trim_end().to_owned();
    if !tool.returns_description.is_empty() {
        text.push_str("\nReturns: ");
        text.push_str(tool.returns_description.trim_end());
    }
    if !tool.example.is_empty() {
        text.push_str("\nExample: ");
        text.push_str(tool.example.trim_end());
    }
    text
}

fn tool(shared: &Shared, view: &View, key: &str) -> Result<std::sync::Arc<CompiledTool>, ErrorData> {
    view.tool(key)
        .cloned()
        .ok_or_else(|| ErrorData::invalid_params(unauthorized(&shared.names, view, key), None))
}

fn argument(given: Option<&JsonObject>, prompt: &str, name: &str) -> Result<String, ErrorData> {
    let text = match given.and_then(|given| given.get(name)) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    };
    if text.is_empty() {
        return Err(ErrorData::invalid_params(
            format!("the prompt {prompt} needs the argument {name}"),
            None,
        ));
    }
    if text.len() > MAX_ARGUMENT_BYTES {
        let message =
            format!("the argument {name} has {} bytes, at most {MAX_ARGUMENT_BYTES} are taken", text.len());
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(text)
}
