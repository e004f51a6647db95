//! A catalog on a server, over MCP: the modern protocol where the server speaks it, else the one with sessions.

use mcc_catalog::output;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    ProtocolVersion, ReadResourceRequestParams, ResourceContents,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Map, Value, json};

use crate::called::Called;
use crate::failure::Failure;

/// The last word of the names of our tools, with which a server's prefix is found.
const LONGEST: &str = "describe_tools";

/// A connection.
pub struct Remote {
    client: RunningService<RoleClient, ClientConfig>,
    prefix: String,
    url: String,
}

/// A tool in an answer of search or describe_tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Score, in an answer of search.
    pub score: Option<f32>,
    /// Key of the tool.
    pub key: String,
    /// The whole block, from `## key` on.
    pub text: String,
}

impl Block {
    /// The lines of the description: what follows the signature and the parameters.
    pub fn description(&self) -> String {
        let parameter = |line: &&str| line.starts_with('`') && line.contains("` — ");
        self.text.lines().skip(1).skip_while(parameter).collect::<Vec<_>>().join("\n")
    }
}

impl Remote {
    /// Connects to a server's MCP endpoint.
    pub async fn connect(url: &str) -> Result<Self, Failure> {
        let transport = StreamableHttpClientTransport::from_uri(url);
        let info = Implementation::new("mcc", env!("CARGO_PKG_VERSION"));
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let client = ClientConfig::new(ClientCapabilities::default(), info)
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .map_err(|error| {
                Failure::new(anyhow::Error::new(error).context(format!("no MCP server answers at {url}")))
                    .hint("start one with mcc up PATH, name one with --server URL, or use --dir PATH without a server")
            })?;
        let tools = client.list_all_tools().await?;
        let prefix = tools.iter().find_map(|tool| tool.name.strip_suffix(LONGEST)).ok_or_else(|| {
            Failure::msg(format!("{url} is no catalog: it has no tool {LONGEST}"))
                .hint("name the endpoint of mcc up or of a gateway, such as http://127.0.0.1:8080/mcp")
        })?;
        Ok(Self { prefix: prefix.to_owned(), url: url.to_owned(), client })
    }

    /// Calls one of the server's own tools.
    async fn tool(
        &self,
        name: &str,
        arguments: Value,
        meta: Option<Value>,
    ) -> Result<CallToolResult, Failure> {
        let mut request = CallToolRequestParams::new(format!("{}{name}", self.prefix));
        request.arguments = arguments.as_object().cloned();
        if let Some(meta) = meta {
            request.meta = Some(serde_json::from_value(meta)?);
        }
        self.client.call_tool(request).await.map_err(|error| self.lost(error))
    }

    fn lost(&self, error: ServiceError) -> Failure {
        let cause = match error {
            // Without the names of the types that make up the transport.
            ServiceError::TransportSend(error) => anyhow::Error::from_boxed(error.error),
            error => anyhow::Error::new(error),
        };
        Failure::new(cause.context(format!("{} did not answer", self.url)))
    }

    /// The text of an answer that has to be a success.
    async fn text(&self, name: &str, arguments: Value) -> Result<String, Failure> {
        let result = self.tool(name, arguments, None).await?;
        // What follows the first text are remarks for a model.
        let text = texts(&result).next().unwrap_or_default().to_owned();
        if result.is_error == Some(true) { Err(Failure::msg(text)) } else { Ok(text) }
    }

    /// Searches.
    pub async fn search(
        &self,
        query: &str,
        min_score: Option<f32>,
        limit: usize,
    ) -> Result<Vec<Block>, Failure> {
        let mut arguments = json!({ "query": query, "limit": limit });
        if let Some(score) = min_score {
            arguments["min_score"] = json!(score);
        }
        Ok(blocks(&self.text("search", arguments).await?))
    }

    /// The tools that the caller may see, and what the server says of those it left out.
    pub async fn list(&self, groups: &[String]) -> Result<(Vec<Block>, Option<String>), Failure> {
        let arguments = if groups.is_empty() { json!({}) } else { json!({ "groups": groups }) };
        let text = self.text(LONGEST, arguments).await?;
        // A long list ends with what was left out.
        match text.rsplit_once('\n').filter(|(_, last)| last.starts_with("[…")) {
            Some((list, rest)) => Ok((blocks(list), Some(rest.to_owned()))),
            None => Ok((blocks(&text), None)),
        }
    }

    /// The entry of a tool.
    pub async fn info(&self, key: &str) -> Result<String, Failure> {
        let request = ReadResourceRequestParams::new(format!("catalog://tools/{key}"));
        let result = self.client.read_resource(request).await.map_err(|error| match error {
            ServiceError::McpError(error) => Failure::msg(error.message),
            error => self.lost(error),
        })?;
        let text = result.contents.into_iter().find_map(|contents| match contents {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            ResourceContents::BlobResourceContents { .. } => None,
            #[allow(unreachable_patterns)]
            _ => None,
        });
        text.ok_or_else(|| Failure::msg(format!("{} has no text about {key}", self.url)))
    }

    /// Runs a tool.
    pub async fn call(
        &self,
        key: &str,
        params: &Map<String, Value>,
        idempotency_key: Option<&str>,
    ) -> Result<Called, Failure> {
        let meta = idempotency_key.map(|key| json!({ "mcc.dev/idempotencyKey": key }));
        let result = self.tool("execute", json!({ "key": key, "params": params }), meta).await?;
        let text = texts(&result).collect::<Vec<_>>().join("\n");
        Ok(Called::of_text(&text, result.is_error == Some(true), output::structured(&text)))
    }
}

fn texts(result: &CallToolResult) -> impl Iterator<Item = &str> {
    result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    })
}

/// The blocks of an answer of search or describe_tools: each begins with `## key`, after a line `[score]` in search.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut score = None;
    for line in text.lines() {
        if let Some(number) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))
            && let Ok(number) = number.parse()
        {
            score = Some(number);
        } else if let Some(heading) = line.strip_prefix("## ") {
            let key = heading.split(' ').next().unwrap_or_default().to_owned();
            blocks.push(Block { score: score.take(), key, text: line.to_owned() });
        } else if let Some(block) = blocks.last_mut() {
            block.text.push('\n');
            block.text.push_str(line);
        }
    }
    for block in &mut blocks {
        block.text.truncate(block.text.trim_end().len());
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_search() {
        let text = "[8.02]\n## a.b (x:str) -> str\n`x` — What.\nDoes b.\nAnd more.\n\n[1.50]\n## c () -> str\nDoes c.";
        let found = blocks(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].score, found[0].key.as_str()), (Some(8.02), "a.b"));
        assert_eq!(found[0].description(), "Does b.\nAnd more.");
        assert_eq!((found[1].score, found[1].description().as_str()), (Some(1.5), "Does c."));
    }

    #[test]
    fn answers_of_describe_tools() {
        let found = blocks("## a\nDoes a.\n\n## b\nDoes b.");
        assert_eq!(found.iter().map(|block| block.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(found[0].description(), "Does a.");
        assert!(blocks("No tools available.").is_empty());
    }
}
