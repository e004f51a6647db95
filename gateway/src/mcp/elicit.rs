//! Asking a person for parameters that are missing, in both eras of the protocol.
//!
//! Sessions: the server sends `elicitation/create` while the call waits. 2026-07-28: the call ends with an
//! `InputRequiredResult`, and the client repeats it with the answers and a state that we sealed: bound to principal,
//! tool and parameters, and good for a limited time.

use std::collections::BTreeMap;

use mcc_catalog::model::{CompiledTool, Parameter};
use mcc_crds::v1alpha1::ParamType;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::scope::Scope;
use crate::limits::cache::canonical;
use crate::state::Shared;

/// Name of our one request within an `InputRequiredResult`.
const REQUEST: &str = "params";

/// A call that lacks parameters.
pub(crate) struct Ask<'a> {
    pub tool: &'a CompiledTool,
    pub params: &'a Map<String, Value>,
    pub missing: &'a [String],
    /// What a repeated call brings.
    pub responses: Option<InputResponses>,
    pub state: Option<String>,
}

/// What came of asking.
pub(crate) enum Elicited {
    /// The parameters, the missing ones added.
    Params(Map<String, Value>),
    /// The client has to repeat the call with answers.
    InputRequired(Box<InputRequiredResult>),
    /// The person didn't want to.
    Declined,
    /// The client can't ask, or asking failed.
    NotPossible,
}

/// Asks for the missing parameters, if the client can.
pub(crate) async fn ask(
    shared: &Shared,
    scope: &Scope,
    ask: Ask<'_>,
    context: &RequestContext<RoleServer>,
) -> Result<Elicited, ErrorData> {
    if !can_ask(context) {
        return Ok(Elicited::NotPossible);
    }
    let Some(form) = form(ask.tool, ask.missing) else { return Ok(Elicited::NotPossible) };
    if is_modern(context) {
        return modern(&shared.states, scope, ask, form);
    }
    let timeout = shared.config.elicitation_timeout;
    Ok(match context.peer.create_elicitation_with_timeout(form, Some(timeout)).await {
        Ok(result) => merge(ask.params, ask.missing, result),
        Err(error) => {
            tracing::debug!(%error, "elicitation failed");
            Elicited::NotPossible
        }
    })
}

/// Whether the request is of 2026-07-28 or later: the server can't send requests.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether the client declares form elicitation; one that says no more than `elicitation` means forms.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    declared.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

fn modern(
    states: &RequestStateCodec,
    scope: &Scope,
    ask: Ask<'_>,
    form: ElicitRequestParams,
) -> Result<Elicited, ErrorData> {
    let binding = binding(scope, ask.tool, ask.params);
    let response = ask.responses.and_then(|mut responses| responses.remove(REQUEST));
    if let (Some(response), Some(state)) = (response, &ask.state) {
        states.open_with(state, &binding).map_err(|_| {
            ErrorData::invalid_params(
                "requestState doesn't belong to this call or has expired: repeat the call without requestState and \
                 inputResponses",
                None,
            )
        })?;
        let result: ElicitResult = serde_json::from_value(response).map_err(|error| {
            ErrorData::invalid_params(
                format!("inputResponses.{REQUEST} is no elicitation result: {error}"),
                None,
            )
        })?;
        return Ok(merge(ask.params, ask.missing, result));
    }
    let options = SealOptions::new().associated_data(&binding).ttl(STATE_LIVES);
    let state = states.seal_with(b"", &options);
    let request = InputRequest::Elicitation(ElicitRequest::new(form));
    let requests = BTreeMap::from([(REQUEST.to_owned(), request)]);
    Ok(Elicited::InputRequired(Box::new(InputRequiredResult::new(Some(requests), Some(state)))))
}

/// Time in which a person has to answer.
const STATE_LIVES: std::time::Duration = std::time::Duration::from_secs(10 * 60);

/// What a state is bound to.
fn binding(scope: &Scope, tool: &CompiledTool, params: &Map<String, Value>) -> [u8; 32] {
    let mut hash = Sha256::new();
    let owner = scope.owner();
    let params = canonical(params).to_string();
    for part in [owner.as_str(), &tool.key, &tool.digest, &params] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn merge(params: &Map<String, Value>, missing: &[String], result: ElicitResult) -> Elicited {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(content))) => {
            let mut params = params.clone();
            // Nothing but what was asked for.
            params.extend(content.into_iter().filter(|(name, _)| missing.contains(name)));
            Elicited::Params(params)
        }
        (ElicitationAction::Accept, _) => Elicited::Params(params.clone()),
        _ => Elicited::Declined,
    }
}

fn form(tool: &CompiledTool, missing: &[String]) -> Option<ElicitRequestParams> {
    let asked: Vec<&Parameter> = tool.params.iter().filter(|param| missing.contains(&param.name)).collect();
    let list =
        asked.iter().map(|param| format!("{} ({})", param.name, param.kind.name())).collect::<Vec<_>>();
    let properties: Map<String, Value> =
        asked.iter().map(|param| (param.name.clone(), property(param))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": missing});
    let Value::Object(schema) = schema else { return None };
    let requested_schema = ElicitationSchema::from_json_schema(schema)
        .inspect_err(|error| tracing::warn!(%error, tool = %tool.key, "no elicitation form"))
        .ok()?;
    let message = format!("Tool '{}' requires: {}", tool.key, list.join(", "));
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn property(param: &Parameter) -> Value {
    let mut schema = Map::new();
    let kind = match param.kind {
        ParamType::Int => "integer",
        ParamType::Float => "number",
        ParamType::Bool => "boolean",
        _ => "string",
    };
    schema.insert("type".to_owned(), kind.into());
    if !param.description.is_empty() {
        schema.insert("description".to_owned(), param.description.as_str().into());
    }
    match kind {
        "integer" | "number" => {
            let whole = |bound: f64| {
                #[expect(clippy::cast_possible_truncation, reason = "bounds of whole numbers")]
                if kind == "integer" { Value::from(bound as i64) } else { Value::from(bound) }
            };
            schema.extend(param.minimum.map(|least| ("minimum".to_owned(), whole(least))));
            schema.extend(param.maximum.map(|most| ("maximum".to_owned(), whole(most))));
        }
        "string" if !param.choices.is_empty() && param.choices.iter().all(Value::is_string) => {
            schema.insert("enum".to_owned(), param.choices.clone().into());
        }
        "string" => {
            schema.extend(param.min_length.map(|least| ("minLength".to_owned(), Value::from(least))));
            schema.extend(param.max_length.map(|most| ("maxLength".to_owned(), Value::from(most))));
        }
        _ => {}
    }
    Value::Object(schema)
}
