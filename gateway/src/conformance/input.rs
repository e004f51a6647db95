//! Requests that ask the client for something first (2026-07-28: the call is repeated with the answers).

use std::sync::LazyLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequiredResult, InputResponses,
    RequestStateCodec,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::tools::text;
use super::typed;

/// Signs the state that goes through the client. The key lives as long as the process, like the suite's run.
static CODEC: LazyLock<RequestStateCodec> =
    LazyLock::new(|| RequestStateCodec::new(rand::random::<[u8; 32]>()));

/// An `elicitation/create` request for one field.
pub fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": kind}}, "required": [field]},
    }})
}

fn sampling(prompt: &str, max_tokens: u32) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": max_tokens,
    }})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// The answer that asks for `requests`, with a signed state if there is one to carry.
pub fn required(requests: Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let sealed = state.map(|state| CODEC.seal(state.as_bytes()));
    Ok(InputRequiredResult::new(Some(typed(requests)?), sealed))
}

/// The value of `field` in the accepted elicitation `name`; none if it isn't there or was declined.
pub fn accepted(responses: Option<&InputResponses>, name: &str, field: &str) -> Option<Value> {
    let response = responses?.get(name)?;
    if response.get("action").and_then(Value::as_str) != Some("accept") {
        return None;
    }
    response.get("content")?.get(field).cloned()
}

/// The state that came back, verified.
fn state(request: &CallToolRequestParams) -> Result<Option<String>, ErrorData> {
    let Some(sealed) = &request.request_state else { return Ok(None) };
    let opened = CODEC
        .open(sealed)
        .map_err(|error| ErrorData::invalid_params(format!("requestState is not ours: {error}"), None))?;
    Ok(Some(String::from_utf8_lossy(&opened).into_owned()))
}

/// Answers a tool whose name begins `test_input_required_result_`.
pub fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let state = state(request)?;
    match request.name.strip_prefix("test_input_required_result_").unwrap_or_default() {
        "elicitation" => Ok(match accepted(responses, "user_name", "name") {
            Some(Value::String(name)) => text(format!("Hello, {name}!")),
            _ => required(json!({"user_name": elicitation("What is your name?", "name", "string")}), None)?
                .into(),
        }),
        "sampling" => Ok(match responses.and_then(|all| all.get("capital_question")) {
            Some(answer) => text(format!("The model says: {}", spoken(answer))),
            None => {
                required(json!({"capital_question": sampling("What is the capital of France?", 100)}), None)?
                    .into()
            }
        }),
        "list_roots" => Ok(match responses.and_then(|all| all.get("client_roots")) {
            Some(answer) => text(format!("Roots: {}", answer.get("roots").unwrap_or(&Value::Null))),
            None => required(json!({"client_roots": roots()}), None)?.into(),
        }),
        "request_state" | "tampered_state" => {
            Ok(if let (Some(_), Some("confirm")) = (accepted(responses, "confirm", "ok"), state.as_deref()) {
                text("state-ok".to_owned())
            } else {
                let ask = elicitation("Please confirm", "ok", "boolean");
                required(json!({"confirm": ask}), Some("confirm"))?.into()
            })
        }
        "multiple_inputs" => {
            let all = ["user_name", "greeting", "client_roots"];
            let complete = responses.is_some_and(|given| all.iter().all(|name| given.contains_key(*name)));
            if complete && state.as_deref() == Some("multiple") {
                return Ok(text("All three answers arrived.".to_owned()));
            }
            let requests = json!({
                "user_name": elicitation("What is your name?", "name", "string"),
                "greeting": sampling("Generate a greeting", 50),
                "client_roots": roots(),
            });
            Ok(required(requests, Some("multiple"))?.into())
        }
        "multi_round" => multi_round(responses, state.as_deref()),
        "capabilities" => by_capability(responses, &context.client_capabilities().unwrap_or_default()),
        other => Err(ErrorData::invalid_params(format!("unknown fixture {other}"), None)),
    }
}

fn multi_round(
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<CallToolResponse, ErrorData> {
    if let (Some(name), Some("one")) = (accepted(responses, "step1", "name"), state) {
        let ask = elicitation("Step 2: What is your favorite color?", "color", "string");
        return Ok(required(json!({"step2": ask}), Some(&format!("two {name}")))?.into());
    }
    if let (Some(color), Some(name)) =
        (accepted(responses, "step2", "color"), state.and_then(|state| state.strip_prefix("two ")))
    {
        return Ok(text(format!("{name} likes {color}")));
    }
    let ask = elicitation("Step 1: What is your name?", "name", "string");
    Ok(required(json!({"step1": ask}), Some("one"))?.into())
}

/// Asks only for what the client said it can do.
fn by_capability(
    responses: Option<&InputResponses>,
    client: &ClientCapabilities,
) -> Result<CallToolResponse, ErrorData> {
    if responses.is_some_and(|given| !given.is_empty()) {
        return Ok(text("Thank you.".to_owned()));
    }
    let mut requests = Map::new();
    if client.elicitation.is_some() {
        requests.insert("user_name".to_owned(), elicitation("What is your name?", "name", "string"));
    }
    if client.sampling.is_some() {
        requests.insert("greeting".to_owned(), sampling("Generate a greeting", 50));
    }
    if client.roots.is_some() {
        requests.insert("client_roots".to_owned(), roots());
    }
    if requests.is_empty() {
        return Ok(text("Nothing to ask this client for.".to_owned()));
    }
    Ok(required(Value::Object(requests), None)?.into())
}

/// The text of a sampled message, whose content is one block or a list of them.
fn spoken(answer: &Value) -> String {
    let content = answer.get("content").unwrap_or(&Value::Null);
    let block = content.get(0).unwrap_or(content);
    block.get("text").and_then(Value::as_str).unwrap_or("nothing").to_owned()
}
