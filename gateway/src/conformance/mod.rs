//! What the MCP conformance suite calls: tools, prompts and resources that no catalog has.
//!
//! The suite (npm `@modelcontextprotocol/conformance`) wants a server that answers its own fixtures. [`Fixtures`] puts
//! them around the gateway's handler, so that the suite runs through the transport stack that real clients use; every
//! other request goes to the gateway unchanged. Compiled with the feature `conformance` only, served with
//! `mcc up --conformance-fixtures` only.

// Sampling, roots and logging are deprecated in the protocol and still tested by the suite.
#![expect(deprecated, reason = "the suite exercises deprecated parts of the protocol")]

mod content;
mod input;
mod tools;

use std::sync::LazyLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// A list that a fixture tool says has changed.
#[derive(Clone, Copy, Debug)]
enum Changed {
    Tools,
    Prompts,
}

/// Carries a change from the call that makes it to the streams that listen: modern requests share no session.
static CHANGES: LazyLock<broadcast::Sender<Changed>> = LazyLock::new(|| broadcast::channel(16).0);

/// A handler that answers the suite's fixtures and leaves everything else to the handler inside.
#[derive(Clone, Debug)]
pub struct Fixtures<H>(pub H);

/// A protocol type from its JSON.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("conformance fixture: {error}"), None))
}

/// Whether the request is of the stateless era.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Adds what the fixtures need to what the gateway declares.
fn extend(capabilities: &mut ServerCapabilities) {
    capabilities.logging.get_or_insert_default();
    capabilities.completions.get_or_insert_default();
    capabilities.tools.get_or_insert_default().list_changed = Some(true);
    capabilities.prompts.get_or_insert_default().list_changed = Some(true);
    capabilities.resources.get_or_insert_default().subscribe = Some(true);
}

impl<H: ServerHandler> ServerHandler for Fixtures<H> {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.0.get_info();
        extend(&mut info.capabilities);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.0.initialize(request, context).await?;
        extend(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.0.discover(context).await?;
        extend(&mut result.capabilities);
        Ok(result)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.0.ping(context).await
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.0.list_tools(request, context).await?;
        result.tools.extend(tools::list()?);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = tools::list().ok()?.into_iter().find(|tool| tool.name == name);
        fixture.or_else(|| self.0.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = tools::in_catalog(request);
        if !tools::NAMES.contains(&request.name.as_ref()) {
            return self.0.call_tool(request, context).await;
        }
        tools::call(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.0.list_prompts(request, context).await?;
        result.prompts.extend(content::prompts()?);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match content::prompt(&request)? {
            Some(response) => Ok(response),
            None => self.0.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if json!(request.r#ref).to_string().contains("test_") {
            return Ok(CompleteResult::default());
        }
        self.0.complete(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.0.list_resources(request, context).await?;
        result.resources.extend(content::resources()?);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.0.list_resource_templates(request, context).await?;
        result.resource_templates.extend(content::templates()?);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match content::read(&request.uri)? {
            Some(response) => Ok(response),
            None => self.0.read_resource(request, context).await,
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = CHANGES.subscribe();
        let wants_tools = subscription.accepted().tools_list_changed == Some(true);
        let wants_prompts = subscription.accepted().prompts_list_changed == Some(true);
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            let sent = match change {
                Ok(Changed::Tools) if wants_tools => subscription.sink().notify_tool_list_changed().await,
                Ok(Changed::Prompts) if wants_prompts => {
                    subscription.sink().notify_prompt_list_changed().await
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
                _ => Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.0.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.cancel_task(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }
}
