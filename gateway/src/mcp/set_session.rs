//! `set_session`: keeps a value for the tools that are run later.

use mcc_catalog::seam::{SessionBag, SessionChanges, SessionError};
use mcc_catalog::session::check_value;
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::json;

use super::answer::{self, Refusal};
use super::arguments::Arguments;
use super::definition::{Definition, session_property};
use super::names::{Names, OwnTool};
use super::scope::Scope;
use crate::state::Shared;

pub(crate) fn definition(names: &Names) -> Definition {
    let description = format!(
        "Keeps a value in your session, for 24 hours after the last change. Every tool that you run with {} gets it \
         as the environment variable MCC_CTX_<NAME>; a Python tool that takes `context` finds it there with its type.",
        names.of(OwnTool::Execute)
    );
    let properties = json!({
        "name": {
            "type": "string",
            "pattern": "^[a-z_][a-z0-9_]*$",
            "maxLength": 64,
            "description": "Name of the value: lower-case letters, digits and _. user, email, groups and tools are \
                            reserved.",
        },
        "value": {"description": "Any JSON value; its type is kept. At most 32 KiB."},
        "session": session_property(names),
    });
    ("Set session value", description, properties, vec!["name", "value"])
}

pub(crate) async fn call(
    shared: &Shared,
    scope: &Scope,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, Refusal> {
    let own = shared.names.of(OwnTool::SetSession);
    let usage = format!("{own}(name=\"project\", value=\"any JSON value\")");
    let mut given = Arguments::new(&own, &usage, &["name", "value", "session"], arguments);
    let name = given.required_text("name");
    let value = given.value("value");
    let handle = given.text("session");
    if value.is_none() {
        given.problem("'value' is missing (null is a value)".to_owned());
    }
    given.finish()?;
    let value = value.unwrap_or_default();
    check_value(&name, &value).map_err(|error| answer::refused(error.to_string()))?;

    let scratchpad = scope
        .scratchpad(handle.as_deref(), &shared.config.catalog, &shared.handles)
        .map_err(|error| answer::refused(error.to_string()))?;
    let (key, minted) = match scratchpad {
        Some(key) => (key, None),
        None => shared.open_scratchpad(scope),
    };
    let changes = SessionChanges { set: SessionBag::from_iter([(name.clone(), value)]), deleted: Vec::new() };
    shared.sessions.apply(&key, &changes).await.map_err(|error| answer::refused(failure(&error)))?;
    Ok(answer::text(match minted {
        None => format!("Set '{name}'."),
        Some(handle) => format!("Set '{name}'.\n{}", handle_line(&shared.names, &handle)),
    }))
}

/// The line that hands out a new handle.
pub(crate) fn handle_line(names: &Names, handle: &str) -> String {
    format!(
        "Session handle: {handle}. Pass it as session to {}, {} and {}.",
        names.of(OwnTool::SetSession),
        names.of(OwnTool::GetSession),
        names.of(OwnTool::Execute)
    )
}

/// What a caller is told of a store that didn't take or give values.
pub(crate) fn failure(error: &SessionError) -> String {
    match error {
        SessionError::TooLarge(bound) => format!("Not set: {bound}."),
        SessionError::Unavailable(reason) => {
            tracing::warn!(%reason, "session store");
            "The session store is unavailable at the moment: try again in a few seconds.".to_owned()
        }
    }
}
