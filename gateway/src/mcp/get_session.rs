//! `get_session`: reads a value of the session.

use mcc_catalog::session::{identity_values, is_reserved};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::{Value, json};

use super::answer::{self, Refusal};
use super::arguments::Arguments;
use super::definition::{Definition, session_property};
use super::names::{Names, OwnTool};
use super::scope::Scope;
use super::set_session::failure;
use crate::state::Shared;

pub(crate) fn definition(names: &Names) -> Definition {
    let description = format!(
        "Reads a value that {} or a tool has kept in your session, as JSON; null if there is none. The names user, \
         email, groups and tools answer your identity.",
        names.of(OwnTool::SetSession)
    );
    let properties = json!({
        "name": {"type": "string", "description": "Name of the value."},
        "session": session_property(names),
    });
    ("Get session value", description, properties, vec!["name"])
}

pub(crate) async fn call(
    shared: &Shared,
    scope: &Scope,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, Refusal> {
    let own = shared.names.of(OwnTool::GetSession);
    let usage = format!("{own}(name=\"project\")");
    let mut given = Arguments::new(&own, &usage, &["name", "session"], arguments);
    let name = given.required_text("name");
    let handle = given.text("session");
    given.finish()?;
    let scratchpad = scope
        .scratchpad(handle.as_deref(), &shared.config.catalog, &shared.handles)
        .map_err(|error| answer::refused(error.to_string()))?;
    let value = if is_reserved(&name) {
        identity_values(&shared.view(scope).access).shift_remove(&name)
    } else {
        match scratchpad {
            Some(key) => {
                let mut bag =
                    shared.sessions.load(&key).await.map_err(|error| answer::refused(failure(&error)))?;
                bag.shift_remove(&name)
            }
            None => None,
        }
    };
    Ok(answer::text(value.unwrap_or(Value::Null).to_string()))
}
