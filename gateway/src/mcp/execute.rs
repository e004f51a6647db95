//! `execute`: runs a tool of the catalog.
//!
//! ```text
//! arguments ─▶ tool, if the caller may run it ─▶ parameters ─▶ (elicitation) ─▶ start ─▶ follow ─▶ answer
//! ```

use std::sync::Arc;

use mcc_catalog::model::CompiledTool;
use mcc_catalog::params::validate;
use mcc_catalog::signature::parameter_list;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::answer::{self, Refusal};
use super::arguments::{Arguments, shown};
use super::definition::{Definition, session_property};
use super::elicit::{self, Elicited};
use super::follow;
use super::names::{Names, OwnTool};
use super::scope::Scope;
use super::view::View;
use crate::calls::start::{Call, Outset, start};
use crate::state::Shared;

/// `_meta` key of a client's idempotency key.
const IDEMPOTENCY_META: &str = "mcc.dev/idempotencyKey";
/// HTTP header of the same (draft-ietf-httpapi-idempotency-key-header, without its quotes).
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Names of our own arguments: a tool that has such a parameter can't be called in the flat form.
const OWN: [&str; 3] = ["key", "params", "session"];
/// Keys named to a caller who asked for one they can't run.
const NEAREST: usize = 3;

pub(crate) fn definition(names: &Names) -> Definition {
    let description = format!(
        "Runs a tool of the catalog by its key, as {search} answers it, and answers the tool's output. Put the tool's \
         parameters into params, by name; the line ## in {search} has their types and defaults. A tool that fails \
         answers [exit code, \"output\", \"errors\"].",
        search = names.of(OwnTool::Search)
    );
    let properties = json!({
        "key": {
            "type": "string",
            "description": "Key of the tool: groups and name with dots, as in academic.semantic_scholar_search.",
        },
        "params": {
            "type": "object",
            "description": "Parameters of the tool, by name. Leave it out for a tool without parameters.",
        },
        "session": session_property(names),
    });
    ("Run tool", description, properties, vec!["key"])
}

/// A call as far as its arguments go.
struct Request {
    tool: Arc<CompiledTool>,
    params: Map<String, Value>,
    handle: Option<String>,
}

pub(crate) async fn call(
    shared: &Arc<Shared>,
    scope: &Scope,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    match attempt(shared, scope, request, context).await {
        Ok(response) => Ok(response),
        Err(Stop::Refused(refusal)) => Ok(CallToolResult::from(refusal).into()),
        Err(Stop::Protocol(error)) => Err(error),
    }
}

/// Why a call ends early.
pub(crate) enum Stop {
    /// With an answer for the model.
    Refused(Refusal),
    /// With a protocol error.
    Protocol(ErrorData),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    scope: &Scope,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Stop> {
    let view = shared.view(scope);
    let CallToolRequestParams { arguments, input_responses, request_state, .. } = request;
    let Request { tool, params, handle } = read(shared, scope, &view, arguments)?;
    let idempotency_key = idempotency_key(context)?;
    let scratchpad = scope
        .scratchpad(handle.as_deref(), &shared.config.catalog, &shared.handles)
        .map_err(|error| answer::refused(error.to_string()))?;

    let arguments = match validate(&tool, &params) {
        Ok(arguments) => arguments,
        Err(errors) if errors.problems.len() == errors.missing_primitives().len() => {
            let ask = elicit::Ask {
                tool: &tool,
                params: &params,
                missing: errors.missing_primitives(),
                responses: input_responses,
                state: request_state,
            };
            match elicit::ask(shared, scope, ask, context).await.map_err(Stop::Protocol)? {
                Elicited::Params(params) => {
                    validate(&tool, &params).map_err(|errors| invalid(shared, &tool, &errors))?
                }
                Elicited::InputRequired(result) => return Ok((*result).into()),
                Elicited::Declined => {
                    shared.metrics.call(&tool.key, "declined");
                    return Err(
                        answer::refused("Execution cancelled: required parameters not provided").into()
                    );
                }
                Elicited::NotPossible => return Err(invalid(shared, &tool, &errors).into()),
            }
        }
        Err(errors) => return Err(invalid(shared, &tool, &errors).into()),
    };

    let call = Call { tool, view, arguments, scratchpad, idempotency_key };
    match start(shared, scope, call).await {
        Outset::Run(interest) => Ok(follow::follow(shared, scope, interest, context).await),
        Outset::Cached(finished) => Ok(finished.to_result().into()),
        Outset::Refused(reason) => Err(answer::refused(reason).into()),
    }
}

/// Reads the arguments and finds the tool. The tool comes first: whoever may not run it learns nothing of it.
fn read(
    shared: &Shared,
    scope: &Scope,
    view: &View,
    arguments: Option<JsonObject>,
) -> Result<Request, Refusal> {
    let own = shared.names.of(OwnTool::Execute);
    let usage = format!("{own}(key=\"groups.name\", params={{\"parameter\": \"value\"}})");
    let mut given = Arguments::open(&own, &usage, &OWN, arguments);
    let key = given.required_text("key");
    let params = given.value("params");
    let handle = given.text("session");
    let rest = given.rest();
    given.finish()?;
    let Some(tool) = resolve(view, key.trim()) else {
        shared.metrics.denied.inc();
        // Not the key: it is whatever the caller wrote.
        tracing::info!(caller = %scope.name(), "a call of a tool that the caller may not run was refused");
        return Err(answer::refused(unauthorized(&shared.names, view, key.trim())));
    };
    let params = parameters(&tool, params, rest).map_err(|problem| {
        answer::refused(format!(
            "Invalid arguments for {own}: {problem}.\nCall it as {own}(key=\"{}\", params={{…}}); parameters: {}",
            tool.key,
            parameter_list(&tool)
        ))
    })?;
    Ok(Request { tool, params, handle })
}

/// The tool of this key; hyphens may stand for underscores or the other way round.
fn resolve(view: &View, key: &str) -> Option<Arc<CompiledTool>> {
    let spelled = [key.to_owned(), key.replace('-', "_"), key.replace('_', "-")];
    spelled.iter().find_map(|key| view.tool(key)).cloned()
}

/// The parameters, wherever a model put them.
fn parameters(
    tool: &CompiledTool,
    params: Option<Value>,
    rest: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let params = match params {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(params)) => params,
            Ok(Value::Null) => Map::new(),
            _ => return Err(format!("'params' must be an object, not the text {}", shown(&text))),
        },
        Some(other) => return Err(format!("'params' must be an object, not {}", shown(&other.to_string()))),
    };
    if rest.is_empty() {
        return Ok(params);
    }
    let names = rest.keys().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if !params.is_empty() {
        return Err(format!("beside 'params' there is {names}: put it into 'params'"));
    }
    match tool.params.iter().find(|param| OWN.contains(&param.name.as_str())) {
        Some(own) => Err(format!(
            "this tool has a parameter named '{}', so parameters must stand in 'params', not beside it: {names}",
            own.name
        )),
        None => Ok(rest),
    }
}

/// The answer to a key that the caller can't run: the same whether there is such a tool or not.
pub(crate) fn unauthorized(names: &Names, view: &View, key: &str) -> String {
    let key: String = key.chars().take(200).collect();
    let nearest = view.catalog.nearest_keys(&key, &view.access, NEAREST);
    let nearest = if nearest.is_empty() {
        String::new()
    } else {
        format!(" The nearest that you may run: {}.", nearest.join(", "))
    };
    format!(
        "Unauthorized: there is no tool '{key}' that you may run.{nearest} Use {} to find tools.",
        names.of(OwnTool::Search)
    )
}

fn invalid(shared: &Shared, tool: &CompiledTool, errors: &mcc_catalog::params::ParamErrors) -> Refusal {
    shared.metrics.call(&tool.key, "invalid");
    answer::refused(format!("Validation error for tool '{}': {errors}", tool.key))
}

/// The key under which a call runs once: of the message, else of its HTTP request.
fn idempotency_key(context: &RequestContext<RoleServer>) -> Result<Option<String>, Refusal> {
    let message = context.meta.0.0.get(IDEMPOTENCY_META);
    let headers = context.extensions.get::<http::request::Parts>().map(|parts| &parts.headers);
    let header = headers.and_then(|headers| headers.get(IDEMPOTENCY_HEADER));
    let message =
        message.map(|value| usable(value.as_str(), &format!("_meta[\"{IDEMPOTENCY_META}\"]"))).transpose()?;
    let header = header.map(|value| usable(value.to_str().ok(), "the header Idempotency-Key")).transpose()?;
    match (message, header) {
        (Some(message), Some(header)) if message != header => Err(answer::refused(format!(
            "Not started: the header Idempotency-Key and _meta[\"{IDEMPOTENCY_META}\"] differ; send one of them."
        ))),
        (message, header) => Ok(message.or(header)),
    }
}

fn usable(key: Option<&str>, place: &str) -> Result<String, Refusal> {
    let printable = |key: &&str| key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    match key.filter(|key| (1..=128).contains(&key.len())).filter(printable) {
        Some(key) => Ok(key.to_owned()),
        None => {
            Err(answer::refused(format!("Not started: {place} must be 1 to 128 printable ASCII characters.")))
        }
    }
}
