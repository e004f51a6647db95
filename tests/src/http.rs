//! One modern MCP request over HTTP, with nothing but a socket: what fails here isn't some client's retry.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::in_process::MODERN;

/// How long an answer may take; generous, for a machine that also builds.
const ANSWER: Duration = Duration::from_secs(60);

/// Calls a tool of the server at `url`; gives the result of the call.
pub fn call(url: &str, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
    let (address, _) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("not a URL")?;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "mcc-tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\n\
         mcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").context("no body")?;
    // Plain JSON, or a stream of events whose last is the answer.
    let message = body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(body);
    let message: Value = serde_json::from_str(message).with_context(|| answer.clone())?;
    message.get("result").cloned().with_context(|| message.to_string())
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
