//! The index in Qdrant, on the double of `tests/qdrant` or on the server at `$MCC_TEST_QDRANT_URL`.

mod contract;
mod faults;
mod order;
mod schema;
mod secure;
mod switch;

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Embedder, Hit, IndexError, Query, ToolIndex};
use mcc_index::testsuite::qdrant::TestQdrant;
use mcc_index::testsuite::tool;
use mcc_index::{QdrantIndex, QdrantSettings, StaticEmbedder};

use crate::support::Custom;

/// An index at this address; its collection isn't built yet.
fn connect(url: &str, prefix: &str, embedder: Arc<dyn Embedder>) -> QdrantIndex {
    let settings = QdrantSettings {
        prefix: prefix.to_owned(),
        // Long enough for a machine that is busy with other tests.
        timeout: Duration::from_secs(20),
        ..QdrantSettings::new(url)
    };
    QdrantIndex::new(settings, embedder).unwrap()
}

fn bundled() -> Arc<dyn Embedder> {
    Arc::new(StaticEmbedder::bundled().unwrap())
}

/// The default embedder under another name: for Qdrant, another model.
fn renamed(id: &'static str) -> Arc<dyn Embedder> {
    Arc::new(Custom { id: Some(id), ..Custom::default() })
}

/// An index of these tools on a server of the test's own; none where there is no server.
async fn built(test: &str, tools: &[ToolDocument]) -> Option<(TestQdrant, QdrantIndex)> {
    let server = TestQdrant::start(test)?;
    let index = connect(&server.url, &server.prefix, bundled());
    index.replace(tools.to_vec()).await.unwrap();
    Some((server, index))
}

async fn ask(index: &dyn ToolIndex, text: &str, visibility: &Visibility) -> Result<Vec<Hit>, IndexError> {
    let query = Query { text: text.to_owned(), min_score: None, limit: 50, visibility: visibility.clone() };
    index.search(&query).await
}

/// Why a search fails that must fail because the index isn't there.
async fn unavailable(index: &dyn ToolIndex) -> String {
    match ask(index, "send a mail", &Visibility::everything()).await {
        Err(IndexError::Unavailable(reason)) => reason,
        other => panic!("not Unavailable: {other:?}"),
    }
}

fn mails(n: usize) -> Vec<ToolDocument> {
    (0..n)
        .map(|at| {
            tool(
                &[&format!("g{}", at % 9)],
                &format!("send_{at}"),
                &format!("Sends mail number {at} to people"),
            )
        })
        .collect()
}
