//! `whoami`: the caller, as the catalog knows them.

use rmcp::model::{CallToolResult, JsonObject};
use serde_json::json;

use super::answer::{self, Refusal};
use super::arguments::Arguments;
use super::definition::Definition;
use super::names::OwnTool;
use super::scope::Scope;
use crate::state::Shared;

pub(crate) fn definition() -> Definition {
    let description =
        "Tells who you are to this catalog: user name, email, groups, and the keys of the tools that \
                       you may run."
            .to_owned();
    ("Who am I", description, json!({}), Vec::new())
}

pub(crate) fn call(
    shared: &Shared,
    scope: &Scope,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, Refusal> {
    if arguments.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
        let name = shared.names.of(OwnTool::Whoami);
        Arguments::new(&name, &format!("{name}()"), &[], arguments).finish()?;
    }
    Ok(answer::text(shared.view(scope).whoami(shared.config.whoami_tools)))
}
