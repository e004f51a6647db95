//! The answer of a run, shared by everybody who waits for it.

use std::sync::Arc;

use mcc_catalog::output::Answer;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Value;

/// `_meta` key that names the run an answer comes from.
const EXECUTION_META: &str = "mcc.dev/execution";

/// The answer of a run. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Finished(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    execution: String,
    answer: Answer,
    notes: Vec<String>,
    ran: bool,
}

impl Finished {
    /// `answer` of the run `execution`. `ran` is false if the tool certainly didn't: then it may be tried again.
    pub(crate) fn new(execution: &str, answer: Answer, notes: Vec<String>, ran: bool) -> Self {
        Self(Arc::new(Inner { execution: execution.to_owned(), answer, notes, ran }))
    }

    /// Whether the tool ran, or may have.
    pub(crate) fn ran(&self) -> bool {
        self.0.ran
    }

    /// Whether the tool succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        !self.0.answer.is_error
    }

    /// About the memory it takes, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let structured = if self.0.answer.structured.is_some() { 3 } else { 1 };
        256 + self.0.answer.text.len() * structured
    }

    /// As MCP's result: the text, notes about the session apart from it, a JSON object also as structured content.
    pub(crate) fn to_result(&self) -> CallToolResult {
        let Inner { execution, answer, notes, ran } = &*self.0;
        let mut content = vec![ContentBlock::text(answer.text.clone())];
        content.extend(notes.iter().map(ContentBlock::text));
        let mut result =
            if answer.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = answer.structured.clone().map(Value::Object);
        if *ran {
            let mut meta = MetaObject::new();
            meta.0.insert(EXECUTION_META.to_owned(), Value::from(execution.as_str()));
            result = result.with_meta(Some(meta));
        }
        result
    }
}
