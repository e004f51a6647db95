//! The MCP front: one handler for both eras of the protocol and both transports.
//!
//! ```text
//! request ─▶ Scope (who) ─▶ View (what they see) ─▶ search, execute, … ─▶ answer
//! ```

mod answer;
mod arguments;
mod completion;
mod definition;
mod describe_tools;
mod elicit;
mod execute;
mod follow;
mod get_session;
pub(crate) mod lines;
pub(crate) mod names;
mod prompts;
mod resources;
pub(crate) mod scope;
mod search;
pub(crate) mod set_session;
mod tasks;
pub(crate) mod unreadable;
pub(crate) mod view;
mod whoami;

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::state::Shared;
use names::{Names, OwnTool};
use scope::Scope;

/// What the server says of itself; made once.
pub(crate) struct Announcement {
    info: ServerConfig,
    tools: Vec<Tool>,
}

impl Announcement {
    pub(crate) fn new(names: &Names) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .enable_tasks()
            .build();
        let instructions = format!(
            "A catalog of tools. Find one with {search} and run it with {execute}; {whoami} tells who you are, and \
             {set} keeps values that every tool you run can see.",
            search = names.of(OwnTool::Search),
            execute = names.of(OwnTool::Execute),
            whoami = names.of(OwnTool::Whoami),
            set = names.of(OwnTool::SetSession),
        );
        let server = Implementation::new("mcc", env!("CARGO_PKG_VERSION")).with_title("mcc tool catalog");
        let info = ServerConfig::new(capabilities).with_server_info(server).with_instructions(instructions);
        Self { info, tools: definition::all(names) }
    }
}

/// Handles the requests of one session, or a single one. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
    /// The caller, where the transport has only one (stdio).
    fixed: Option<Scope>,
}

impl Handler {
    /// A handler that takes the caller from each HTTP request.
    pub(crate) fn http(shared: Arc<Shared>) -> Self {
        Self { shared, fixed: None }
    }

    /// A handler for one caller.
    pub(crate) fn of(shared: Arc<Shared>, scope: Scope) -> Self {
        Self { shared, fixed: Some(scope) }
    }

    fn scope(&self, context: &RequestContext<RoleServer>) -> Scope {
        Scope::of(context, self.fixed.as_ref())
    }

    fn list_ttl(&self) -> u64 {
        u64::try_from(self.shared.config.list_ttl.as_millis()).unwrap_or(u64::MAX)
    }

    async fn call(
        &self,
        tool: OwnTool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let shared = &self.shared;
        let scope = self.scope(context);
        let result = match tool {
            OwnTool::Execute => return execute::call(shared, &scope, request, context).await,
            OwnTool::Search => search::call(shared, &scope, request.arguments).await,
            OwnTool::DescribeTools => describe_tools::call(shared, &scope, request.arguments),
            OwnTool::Whoami => whoami::call(shared, &scope, request.arguments),
            OwnTool::SetSession => set_session::call(shared, &scope, request.arguments).await,
            OwnTool::GetSession => get_session::call(shared, &scope, request.arguments).await,
        };
        Ok(result.unwrap_or_else(CallToolResult::from).into())
    }
}

/// Why `params` aren't those of `method`; none for a method that isn't ours.
fn why(method: &str, params: &Value) -> Option<String> {
    fn of<T: DeserializeOwned>(params: &Value) -> String {
        let error = T::deserialize(params).err().map(|error| error.to_string());
        error.unwrap_or_else(|| "not as this method takes them".to_owned()).chars().take(300).collect()
    }
    Some(match method {
        "tools/call" => of::<CallToolRequestParams>(params),
        "prompts/get" => of::<GetPromptRequestParams>(params),
        "resources/read" => of::<ReadResourceRequestParams>(params),
        "completion/complete" => of::<CompleteRequestParams>(params),
        "tasks/get" => of::<GetTaskParams>(params),
        "tasks/update" => of::<UpdateTaskParams>(params),
        "tasks/cancel" => of::<CancelTaskParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            of::<PaginatedRequestParams>(params)
        }
        "initialize" => of::<InitializeRequestParams>(params),
        _ => return None,
    })
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.announcement.info.clone()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(self.list_ttl())
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.announcement.tools.clone())
            .with_ttl_ms(self.list_ttl())
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.shared.names.parse(&request.name) else {
            let known = OwnTool::ALL.map(|tool| self.shared.names.of(tool)).join(", ");
            let name: String = request.name.chars().take(100).collect();
            let execute = self.shared.names.of(OwnTool::Execute);
            return Err(ErrorData::invalid_params(
                format!(
                    "Unknown tool: {name}. This server has {known}; run a tool of the catalog with {execute}"
                ),
                None,
            ));
        };
        self.shared.metrics.request(tool.name());
        self.call(tool, request, &context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list())
            .with_ttl_ms(self.list_ttl())
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.shared, &self.scope(&context), &request).map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list())
            .with_ttl_ms(self.list_ttl())
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates())
            .with_ttl_ms(self.list_ttl())
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.shared, &self.scope(&context), &request.uri).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(completion::complete(&self.shared, &self.scope(&context), &request))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(&self.shared, &self.scope(&context), &request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::update(&self.shared, &self.scope(&context), &request.task_id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(&self.shared, &self.scope(&context), &request.task_id)
    }

    /// What no other method takes: an unknown method, or parameters of the wrong form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        Err(match why(&request.method, &params) {
            Some(reason) => ErrorData::invalid_params(format!("Invalid params: {reason}"), None),
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}
