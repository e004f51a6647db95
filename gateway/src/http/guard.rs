//! What a request must be before anything reads it: addressed to us (DNS rebinding), not sent by somebody else's web
//! page, JSON if it writes, and of bounded size.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{ALLOW, CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

use super::error::{INTERNAL_ERROR, INVALID_REQUEST, response};
use crate::mcp::unreadable::Unreadable;

/// The rules, made once of the settings.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: Arc<[AllowedHost]>,
    origins: Arc<[AllowedOrigin]>,
    max_body: usize,
    body_timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedHost {
    name: String,
    port: Option<u16>,
}

/// An origin that may send requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowedOrigin {
    scheme: String,
    host: String,
    /// None: any.
    port: Option<u16>,
}

impl AllowedOrigin {
    /// Reads `scheme://host`, `scheme://host:port` or `scheme://host:*`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (authority, any_port) = match rest.strip_suffix(":*") {
            Some(host) => (host, true),
            None => (rest, false),
        };
        let authority: Authority = authority.parse().ok()?;
        let scheme = scheme.to_ascii_lowercase();
        let port = if any_port { None } else { Some(port(&scheme, &authority)?) };
        Some(Self { scheme, host: authority.host().to_ascii_lowercase(), port })
    }

    fn matches(&self, origin: &HeaderValue) -> bool {
        let Some((scheme, authority)) = origin.to_str().ok().and_then(|text| text.split_once("://")) else {
            return false;
        };
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        self.scheme.eq_ignore_ascii_case(scheme)
            && self.host.eq_ignore_ascii_case(authority.host())
            && (self.port.is_none() || self.port == port(&self.scheme, &authority))
    }
}

/// The port, or the one the scheme implies.
fn port(scheme: &str, authority: &Authority) -> Option<u16> {
    authority.port_u16().or(match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    })
}

impl Guard {
    pub(crate) fn new(config: &crate::GatewayConfig) -> Self {
        let host = |text: &String| match text.parse::<Authority>() {
            Ok(authority) => {
                AllowedHost { name: authority.host().to_ascii_lowercase(), port: authority.port_u16() }
            }
            Err(_) => AllowedHost { name: text.to_ascii_lowercase(), port: None },
        };
        Self {
            hosts: config.allowed_hosts.iter().map(host).collect(),
            origins: config.allowed_origins.iter().filter_map(|text| AllowedOrigin::parse(text)).collect(),
            max_body: config.max_body_bytes,
            body_timeout: config.body_timeout,
        }
    }

    /// Why a request is refused, judged by its head.
    fn check(&self, request: &Request) -> Result<(), (StatusCode, &'static str)> {
        let headers = request.headers();
        self.check_host(request)?;
        let foreign = |origin: &HeaderValue| !self.origins.iter().any(|allowed| allowed.matches(origin));
        if headers.get_all(ORIGIN).iter().any(foreign) {
            return Err((
                StatusCode::FORBIDDEN,
                "requests of this Origin are not allowed (--allowed-origin)",
            ));
        }
        let writes =
            !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS | Method::DELETE);
        if writes && !is_json(headers) {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json"));
        }
        Ok(())
    }

    fn check_host(&self, request: &Request) -> Result<(), (StatusCode, &'static str)> {
        if self.hosts.is_empty() {
            return Ok(());
        }
        let authority = match request.headers().get(HOST) {
            Some(host) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
            None => request.uri().authority().cloned(),
        };
        // A user name before the host belongs into no Host header (RFC 9110, 4.2.4).
        let authority = authority
            .filter(|authority| !authority.as_str().contains('@'))
            .ok_or((StatusCode::BAD_REQUEST, "the Host header is missing or malformed"))?;
        let allowed = self.hosts.iter().any(|host| {
            host.name.eq_ignore_ascii_case(authority.host())
                && host.port.is_none_or(|port| authority.port_u16() == Some(port))
        });
        if allowed {
            Ok(())
        } else {
            Err((StatusCode::FORBIDDEN, "requests to this Host are not allowed (--allowed-host)"))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let essence = kind.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

/// Refuses what must not come in, and makes errors of the transport readable.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    if let Err((status, message)) = guard.check(&request) {
        return response(status, INVALID_REQUEST, message);
    }
    if *request.method() == Method::OPTIONS {
        let mut answer = response(StatusCode::METHOD_NOT_ALLOWED, INVALID_REQUEST, "OPTIONS is not offered");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
        return answer;
    }
    let (parts, body) = request.into_parts();
    let body = match tokio::time::timeout(guard.body_timeout, to_bytes(body, guard.max_body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => return unread(&error, guard.max_body),
        Err(_) => {
            return response(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, "the body didn't arrive in time");
        }
    };
    let ends_session = parts.method == Method::DELETE;
    let mut answer = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    if ends_session && answer.status() == StatusCode::ACCEPTED {
        // The session has ended, nothing is left to do; the Python SDK takes no 202 for it.
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    readable(answer, &body)
}

fn unread(error: &axum::Error, max: usize) -> Response {
    let too_large = std::error::Error::source(error)
        .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>);
    if too_large {
        // No JSON-RPC error: it couldn't say which request it answers, and some clients (rmcp) wait on for one that does.
        let message = format!("the body is larger than {max} bytes");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    }
    response(StatusCode::BAD_REQUEST, INVALID_REQUEST, "the body could not be read")
}

/// rmcp answers 415 to what isn't a JSON-RPC message, and 500 where there is no room: JSON-RPC has codes for both.
fn readable(answer: Response, body: &Bytes) -> Response {
    match answer.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let unreadable = Unreadable::of(body);
            let message = unreadable.message();
            (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], message.to_string())
                .into_response()
        }
        // What was asked for may have been done: nobody is invited to repeat it.
        StatusCode::INTERNAL_SERVER_ERROR => failed(body),
        _ => answer,
    }
}

fn failed(body: &Bytes) -> Response {
    let request: Option<Value> = serde_json::from_slice(body).ok();
    let id = request.and_then(|request| request.get("id").cloned()).unwrap_or_default();
    let message =
        "the server ended the request without an answer; if it ran a tool, look before you repeat it";
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
    (StatusCode::SERVICE_UNAVAILABLE, [(CONTENT_TYPE, "application/json")], error.to_string()).into_response()
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
