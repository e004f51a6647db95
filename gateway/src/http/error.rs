//! Errors of the HTTP layer, in the form that MCP clients read: JSON-RPC without a request id.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::json;

/// JSON-RPC: not a request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: our own failure.
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// `status` with a JSON-RPC error.
pub(crate) fn response(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
