//! Completion of tool keys: only of tools that the caller may run.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::prompts::WITH_KEY;
use super::resources::TOOL_TEMPLATE;
use super::scope::Scope;
use crate::state::Shared;

/// `completion/complete`.
pub(crate) fn complete(shared: &Shared, scope: &Scope, request: &CompleteRequestParams) -> CompleteResult {
    let names_a_tool = request.argument.name == "key"
        && match &request.r#ref {
            Reference::Prompt(prompt) => WITH_KEY.contains(&prompt.name.as_str()),
            Reference::Resource(resource) => resource.uri == TOOL_TEMPLATE,
            _ => false,
        };
    if !names_a_tool {
        return CompleteResult::default();
    }
    let view = shared.view(scope);
    let typed = request.argument.value.to_lowercase();
    let keys = || view.tools().map(|tool| tool.key.as_str());
    let begins = |key: &str| key.to_lowercase().starts_with(&typed);
    // Keys that begin so, then keys that have it elsewhere: a name without its groups is found, too.
    let matching = keys()
        .filter(|key| begins(key))
        .chain(keys().filter(|key| !begins(key) && key.to_lowercase().contains(&typed)));
    let mut values: Vec<String> = matching.map(str::to_owned).collect();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = total > values.len();
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more);
    info.map(CompleteResult::new).unwrap_or_default()
}
