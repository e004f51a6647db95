//! What is no message of the protocol, and the answer to it.

use rmcp::model::ErrorCode;
use serde_json::{Value, json};

/// Longest reason, in characters: it may repeat what was sent.
const MAX_REASON: usize = 300;

/// Bytes that are no message, with a JSON-RPC code and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unreadable {
    /// Of the request, where it can be told (JSON-RPC 2.0, section 5).
    id: Value,
    code: ErrorCode,
    reason: String,
}

impl Unreadable {
    /// Finds out why `bytes`, which the protocol's own types don't take, are no message.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let error = |id: Value, code, reason: String| Self {
            id,
            code,
            reason: reason.chars().take(MAX_REASON).collect(),
        };
        let message: Value = match serde_json::from_slice(bytes) {
            Ok(message) => message,
            Err(cause) => return error(Value::Null, ErrorCode::PARSE_ERROR, format!("Parse error: {cause}")),
        };
        let invalid =
            |id, reason: &str| error(id, ErrorCode::INVALID_REQUEST, format!("Invalid Request: {reason}"));
        let Value::Object(message) = message else {
            let reason = "the body is no JSON-RPC message of this protocol (batches are not taken)";
            return invalid(Value::Null, reason);
        };
        let id = message.get("id").cloned().unwrap_or_default();
        if message.get("jsonrpc") != Some(&json!("2.0")) {
            return invalid(Value::Null, "\"jsonrpc\" must be \"2.0\"");
        }
        if !(id.is_null() || id.is_string() || id.is_i64() || id.is_u64()) {
            return invalid(Value::Null, "\"id\" must be a string or an integer");
        }
        if message.get("params").is_some_and(|params| !params.is_object()) {
            return invalid(id, "\"params\" must be an object");
        }
        invalid(id, "the body is no JSON-RPC message of this protocol")
    }

    /// A message of more than `most` bytes.
    pub(crate) fn too_long(most: usize) -> Self {
        Self {
            id: Value::Null,
            code: ErrorCode::INVALID_REQUEST,
            reason: format!("Invalid Request: the message has more than {most} bytes"),
        }
    }

    /// The error as a JSON-RPC message.
    pub(crate) fn message(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code.0, "message": self.reason}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_and_the_id_are_told() {
        let deep = "[".repeat(200);
        for (text, id, code, part) in [
            ("{", json!(null), -32700, "EOF"),
            ("\u{fffd}", json!(null), -32700, "expected value"),
            (r#"{"jsonrpc":"2.0","id":1,"params":{"x":"a\ud83d"}}"#, json!(null), -32700, "hex escape"),
            (r#"{"jsonrpc":"2.0","id":1,"params":{"x":1e400}}"#, json!(null), -32700, "out of range"),
            (deep.as_str(), json!(null), -32700, "recursion"),
            ("[]", json!(null), -32600, "batches"),
            (r#"{"id":1,"method":"ping"}"#, json!(null), -32600, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null), -32600, "id"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#, json!(7), -32600, "params"),
            (r#"{"jsonrpc":"2.0","id":"a","method":3}"#, json!("a"), -32600, "no JSON-RPC message"),
        ] {
            let message = Unreadable::of(text.as_bytes()).message();
            assert_eq!((&message["id"], &message["error"]["code"]), (&id, &json!(code)), "{text}");
            assert!(message["error"]["message"].as_str().unwrap().contains(part), "{message}");
        }
    }
}
