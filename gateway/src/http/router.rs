//! The routes that clients reach.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use http::StatusCode;
use mcc_catalog::seam::Authenticator;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

use super::error::{INTERNAL_ERROR, INVALID_REQUEST, response};
use super::guard::{Guard, guard};
use super::identity::{IdentityState, identify};
use crate::mcp::Handler;
use crate::session::mcp::BoundSessions;
use crate::state::Shared;

/// `/mcp` behind its layers. Cancelling `end` ends open streams.
pub(crate) fn router(
    shared: &Arc<Shared>,
    authenticator: Arc<dyn Authenticator>,
    end: CancellationToken,
) -> Router {
    let handler = Handler::http(shared.clone());
    let routes = Router::new();
    #[cfg(feature = "conformance")]
    let routes = if shared.config.conformance_fixtures {
        routes.route_service("/mcp", service(shared, end, crate::conformance::Fixtures(handler)))
    } else {
        routes.route_service("/mcp", service(shared, end, handler))
    };
    #[cfg(not(feature = "conformance"))]
    let routes = routes.route_service("/mcp", service(shared, end, handler));

    let identity = IdentityState { shared: shared.clone(), authenticator };
    routes
        .layer(from_fn_with_state(identity, identify))
        .fallback(async || {
            response(StatusCode::NOT_FOUND, INVALID_REQUEST, "there is nothing here: MCP is at /mcp")
        })
        .layer(from_fn_with_state(Guard::new(&shared.config), guard))
        // The guard's own bound holds.
        .layer(DefaultBodyLimit::disable())
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            response(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, "internal error")
        }))
}

/// Routes for requests that are addressed to us and sent by nobody else's web page alone.
pub(crate) fn guarded(routes: Router, shared: &Shared) -> Router {
    routes.layer(from_fn_with_state(Guard::new(&shared.config), guard))
}

fn service<H>(
    shared: &Arc<Shared>,
    end: CancellationToken,
    handler: H,
) -> StreamableHttpService<H, BoundSessions>
where
    H: ServerHandler + Clone,
{
    // Host and Origin are the guard's, for every route alike. The few bytes more: the guard refuses first.
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_cancellation_token(end)
        .with_max_request_body_bytes(shared.config.max_body_bytes + 1)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    StreamableHttpService::new(move || Ok(handler.clone()), shared.mcp_sessions.clone(), config)
}
