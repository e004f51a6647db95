//! Who sends a request, and whether the MCP session it names is theirs.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use mcc_catalog::model::Caller;
use mcc_catalog::seam::{AuthError, Authenticator, Credentials};

use super::error::{INTERNAL_ERROR, INVALID_REQUEST, response};
use crate::mcp::scope::Scope;
use crate::session::mcp::Ownership;
use crate::state::Shared;

/// Header of a session id in protocol revisions that have sessions.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// First protocol revision without sessions.
const STATELESS: &str = "2026-07-28";

/// What handlers learn of a request's sender.
#[derive(Clone, Debug)]
pub(crate) struct RequestIdentity {
    pub caller: Caller,
    pub principal: Arc<str>,
    /// The session the request names, known to be the principal's.
    pub mcp_session: Option<Arc<str>>,
    pub peer: Option<IpAddr>,
}

/// What the layer needs.
#[derive(Clone)]
pub(crate) struct IdentityState {
    pub shared: Arc<Shared>,
    pub authenticator: Arc<dyn Authenticator>,
}

/// Finds out who calls, refuses sessions of others (404, as if there were none), and takes session ids out of requests
/// of revisions that have none.
pub(crate) async fn identify(
    State(state): State<IdentityState>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = match authenticate(&*state.authenticator, request.headers()).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let principal: Arc<str> = caller.principal().into();
    let sessions = &state.shared.mcp_sessions;
    if is_stateless(request.headers()) {
        request.headers_mut().remove(SESSION);
    }
    let named = request.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(Arc::<str>::from);
    let ownership = named.as_deref().map(|id| sessions.ownership(id, &principal));
    let ends = *request.method() == Method::DELETE;
    match ownership {
        Some(Ownership::Foreign) => return no_session(),
        Some(Ownership::Unknown) if ends => return no_session(),
        _ => {}
    }
    let own = named.filter(|_| ownership == Some(Ownership::Own));
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let identity = RequestIdentity {
        caller: caller.clone(),
        principal: principal.clone(),
        mcp_session: own.clone(),
        peer,
    };
    request.extensions_mut().insert(identity);
    let answer = next.run(request).await;
    if let Some(opened) = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        sessions.bind(opened, &principal);
    }
    if ends && let Some(id) = own {
        forget(&state.shared, caller, principal, &id).await;
    }
    answer
}

/// A session that its client ended takes its scratchpad along.
async fn forget(shared: &Shared, caller: Caller, principal: Arc<str>, id: &str) {
    let scope = Scope { caller, principal, mcp_session: None, peer: None };
    if let Err(error) = shared.sessions.delete(&scope.key(id, &shared.config.catalog)).await {
        tracing::warn!(%error, "the scratchpad of an ended session was not deleted");
    }
}

/// Revisions without sessions say so in a header, which rmcp checks against the body.
fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get(VERSION).and_then(|version| version.to_str().ok()).is_some_and(|version| version >= STATELESS)
}

fn no_session() -> Response {
    response(StatusCode::NOT_FOUND, INVALID_REQUEST, "Session not found: begin a new one with initialize")
}

async fn authenticate(authenticator: &dyn Authenticator, headers: &HeaderMap) -> Result<Caller, Response> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
    });
    let credentials = Credentials { bearer, api_key: text(API_KEY).map(str::to_owned) };
    let offered = credentials.bearer.is_some() || credentials.api_key.is_some();
    match authenticator.authenticate(&credentials).await {
        Ok(Some(caller)) => Ok(caller),
        Ok(None) if !offered => Ok(Caller::Anonymous),
        Ok(None) => Err(unauthorized("this kind of credential is not taken here")),
        Err(AuthError::Invalid(reason)) => {
            tracing::info!(%reason, "a credential was refused");
            Err(unauthorized("the credential is wrong, expired or revoked"))
        }
        Err(AuthError::Unavailable(reason)) => {
            tracing::warn!(%reason, "authentication is unavailable");
            let message = "authentication is unavailable: try again";
            Err(response(StatusCode::SERVICE_UNAVAILABLE, INTERNAL_ERROR, message))
        }
    }
}

fn unauthorized(message: &str) -> Response {
    let mut answer = response(StatusCode::UNAUTHORIZED, INVALID_REQUEST, message);
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""));
    answer
}
