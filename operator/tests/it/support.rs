//! What the tests share.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::compile::CatalogSettings;
use mcc_catalog::seam::ToolIndex;
use mcc_index::{MemoryIndex, StaticEmbedder};
use mcc_operator::{Health, Operator, OperatorOptions};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Generous: a loaded machine keeps it.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// An operator at work. Dropping it is like killing it.
pub struct Running {
    pub health: Arc<Health>,
    shutdown: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Running {
    pub fn start(client: kube::Client, index: Arc<dyn ToolIndex>, options: OperatorOptions) -> Self {
        let operator = Operator::new(client, index, options);
        let (health, shutdown) = (operator.health(), CancellationToken::new());
        let task = tokio::spawn(operator.run(shutdown.clone()));
        Self { health, shutdown, task }
    }

    /// Ends it in good order.
    pub async fn stop(mut self) {
        self.shutdown.cancel();
        (&mut self.task).await.unwrap().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The options of an operator without a Lease.
pub fn options(catalog: &str, tools: &[&str]) -> OperatorOptions {
    let tools: BTreeSet<String> = tools.iter().map(|&name| name.to_owned()).collect();
    OperatorOptions {
        settings: CatalogSettings::cluster(catalog, tools),
        lease: None,
        identity: "test".to_owned(),
        count_index: Duration::from_secs(2),
        sweep_index: Duration::from_secs(60),
    }
}

/// An index in memory.
pub fn index() -> Arc<MemoryIndex> {
    Arc::new(MemoryIndex::new(Arc::new(StaticEmbedder::bundled().unwrap())))
}

/// The conditions of an object as `Type=Status/Reason`, in order.
pub fn conditions(object: &Value) -> Vec<String> {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let texts = conditions.iter().map(|condition| {
        format!("{}={}/{}", text(condition, "type"), text(condition, "status"), text(condition, "reason"))
    });
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

/// The message of a condition.
pub fn message(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.and_then(|condition| condition["message"].as_str()).unwrap_or_default().to_owned()
}

/// Waits until `holds`; says what was seen last if it never does.
pub async fn until<T: std::fmt::Debug>(mut look: impl AsyncFnMut() -> T, holds: impl Fn(&T) -> bool) -> T {
    let began = tokio::time::Instant::now();
    loop {
        let seen = look().await;
        if holds(&seen) {
            return seen;
        }
        assert!(began.elapsed() < PATIENCE, "it never came to be so: {seen:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
