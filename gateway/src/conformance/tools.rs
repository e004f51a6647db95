//! The suite's tools.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CreateMessageRequestParams,
    ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::content::{PNG, WAV};
use super::{CHANGES, Changed, input, is_modern, typed};

/// Between two notifications: the suite checks that they arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// Every fixture tool.
pub const NAMES: [&str; 33] = [
    "confirm_delete",
    "failing_job",
    "greet",
    "json_schema_2020_12_tool",
    "slow_compute",
    "test_audio_content",
    "test_custom_header",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_logging_tool",
    "test_missing_capability",
    "test_multiple_content_types",
    "test_reconnection",
    "test_sampling",
    "test_simple_text",
    "test_streaming_elicitation",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_tool_with_task",
    "test_trigger_prompt_change",
    "test_trigger_tool_change",
];

/// Fixtures that are tools of the catalog (`tests/fixtures/conformance`), so that their tasks are the gateway's own.
const OF_CATALOG: [&str; 3] = ["failing_job", "slow_compute", "test_tool_with_task"];

/// The call of `execute` that such a fixture stands for; other calls stay as they are.
pub fn in_catalog(mut request: CallToolRequestParams) -> CallToolRequestParams {
    if OF_CATALOG.contains(&request.name.as_ref()) {
        let key = format!("public.{}", request.name);
        let arguments = [("key", key.into()), ("params", request.arguments.unwrap_or_default().into())];
        request.arguments = Some(
            arguments.map(|(name, value): (&str, Value)| (name.to_owned(), value)).into_iter().collect(),
        );
        request.name = "execute".into();
    }
    request
}

/// The tools, as `tools/list` shows them, by name.
pub fn list() -> Result<Vec<Tool>, ErrorData> {
    let tools = NAMES
        .map(|name| json!({"name": name, "description": "Conformance fixture", "inputSchema": schema(name)}));
    typed(Value::from(tools.to_vec()))
}

fn schema(name: &str) -> Value {
    let one_string = |field: &str| json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    match name {
        "test_sampling" => one_string("prompt"),
        "test_elicitation" => one_string("message"),
        "test_custom_header" => json!({
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            "required": ["region"],
        }),
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// A successful result of one text.
pub fn text(text: String) -> CallToolResponse {
    CallToolResult::success(vec![rmcp::model::ContentBlock::text(text)]).into()
}

fn result(mut value: Value) -> Result<CallToolResponse, ErrorData> {
    value["resultType"] = json!("complete");
    Ok(typed::<CallToolResult>(value)?.into())
}

/// Answers a call of one of [`NAMES`].
pub async fn call(
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name: &str| {
        let value =
            request.arguments.as_ref().and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    match request.name.as_ref() {
        "test_simple_text" => Ok(text("This is a simple text response for testing.".to_owned())),
        "test_image_content" => result(json!({"content": [image]})),
        "test_audio_content" => {
            result(json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}))
        }
        "test_embedded_resource" => result(json!({"content": [resource(
            "test://embedded-resource", "text/plain", "This is an embedded resource content.")]})),
        "test_multiple_content_types" => result(json!({"content": [
            {"type": "text", "text": "Multiple content types test:"},
            image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]})),
        "test_error_handling" => result(json!({"isError": true, "content": [
            {"type": "text", "text": "This tool intentionally returns an error for testing"}]})),
        "test_tool_with_logging" | "test_logging_tool" => with_logging(&context).await,
        "test_tool_with_progress" => with_progress(&context).await,
        "test_sampling" => sample(argument("prompt"), &context).await,
        "test_elicitation" => elicit(argument("message"), user_schema(), &context).await,
        "test_elicitation_sep1034_defaults" => {
            elicit("Accept or change".to_owned(), defaults_schema(), &context).await
        }
        "test_elicitation_sep1330_enums" => elicit("Choose".to_owned(), choices_schema(), &context).await,
        "test_streaming_elicitation" => {
            let ask = input::elicitation("What is your name?", "name", "string");
            Ok(input::required(json!({"user_name": ask}), None)?.into())
        }
        "test_missing_capability"
            if context.client_capabilities().is_none_or(|client| client.sampling.is_none()) =>
        {
            let required: ClientCapabilities = typed(json!({"sampling": {}}))?;
            Err(ErrorData::missing_required_client_capability(required))
        }
        "greet" => Ok(text(format!("Hello, {}!", argument("name")))),
        "test_trigger_tool_change" => Ok(announce(Changed::Tools)),
        "test_trigger_prompt_change" => Ok(announce(Changed::Prompts)),
        name if name.starts_with("test_input_required_result_") => input::call(&request, &context),
        name => Ok(text(format!("{name} was called"))),
    }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}

fn announce(change: Changed) -> CallToolResponse {
    // Nobody listening is no error.
    let listeners = CHANGES.send(change).unwrap_or(0);
    text(format!("{change:?} list changed, {listeners} listening"))
}

/// Three log messages; none to a modern client that set no level for this request.
async fn with_logging(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let wanted = !is_modern(context) || context.meta.log_level().is_some();
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wanted {
            let entry = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
            context.peer.notify_logging_message(entry).await.map_err(gone)?;
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(text("Logged.".to_owned()))
}

async fn with_progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let token = context.meta.get_progress_token();
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = &token {
            let step = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
            context.peer.notify_progress(step).await.map_err(gone)?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("Done.".to_owned()))
}

async fn sample(prompt: String, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let params: CreateMessageRequestParams = typed(json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100,
    }))?;
    match context.peer.create_message(params).await {
        Ok(answer) => {
            let blocks = json!(answer.message.content);
            let first = blocks.get(0).unwrap_or(&blocks);
            let spoken = first.get("text").and_then(Value::as_str).unwrap_or_default();
            Ok(text(format!("LLM response: {spoken}")))
        }
        Err(error) => {
            result(json!({"isError": true, "content": [{"type": "text", "text": error.to_string()}]}))
        }
    }
}

async fn elicit(
    message: String,
    schema: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let params: ElicitRequestParams =
        typed(json!({"mode": "form", "message": message, "requestedSchema": schema}))?;
    match context.peer.create_elicitation(params).await {
        Ok(answer) => Ok(text(format!(
            "User response: action={}, content={}",
            json!(answer.action).as_str().unwrap_or_default(),
            json!(answer.content)
        ))),
        Err(error) => {
            result(json!({"isError": true, "content": [{"type": "text", "text": error.to_string()}]}))
        }
    }
}

fn user_schema() -> Value {
    json!({"type": "object", "required": ["username", "email"], "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }})
}

fn defaults_schema() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})
}

fn choices_schema() -> Value {
    let titled = |nth: [&str; 3], noun: &str| {
        let choice = |(number, nth): (usize, &str)| json!({"const": format!("value{}", number + 1), "title": format!("{nth} {noun}")});
        nth.into_iter().enumerate().map(choice).collect::<Vec<_>>()
    };
    let nth = ["First", "Second", "Third"];
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(nth, "Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                       "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(nth, "Choice")}},
    }})
}

#[expect(clippy::needless_pass_by_value, reason = "given to map_err")]
fn gone(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
