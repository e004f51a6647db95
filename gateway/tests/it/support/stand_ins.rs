//! What stands in for a catalog source, an index and an executor.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mcc_catalog::model::{Catalog, ToolDocument};
use mcc_catalog::seam::{
    Capture, CatalogSource, Ending, Executor, Hit, IndexError, Invocation, Outcome, Progress, ProgressSink,
    Query, Refusal, SessionChanges, Stage, ToolIndex,
};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub struct Source(watch::Sender<Arc<Catalog>>);

impl Source {
    pub fn new(catalog: Catalog) -> Self {
        Self(watch::Sender::new(Arc::new(catalog)))
    }

    pub fn publish(&self, catalog: Catalog) {
        self.0.send_replace(Arc::new(catalog));
    }
}

impl CatalogSource for Source {
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.0.subscribe()
    }
}

/// Finds tools whose key or description has a word of the query; scores fall by key.
#[derive(Default)]
pub struct Index {
    documents: Mutex<BTreeMap<String, ToolDocument>>,
    /// Answers what the caller may not see, too, and what is gone: a stale index.
    pub careless: AtomicBool,
    /// Doesn't answer.
    pub away: AtomicBool,
}

#[async_trait]
impl ToolIndex for Index {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        if self.away.load(Ordering::Relaxed) {
            return Err(IndexError::Unavailable("away".into()));
        }
        let documents = documents.into_iter().map(|document| (document.facets.key.clone(), document));
        *self.documents.lock().unwrap() = documents.collect();
        Ok(())
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        let mut documents = self.documents.lock().unwrap();
        if !self.careless.load(Ordering::Relaxed) {
            documents.retain(|key, _| !removals.contains(key));
        }
        documents.extend(upserts.into_iter().map(|document| (document.facets.key.clone(), document)));
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        let careless = self.careless.load(Ordering::Relaxed);
        let matches = |document: &ToolDocument| {
            let text = format!("{} {}", document.facets.key, document.description).to_lowercase();
            query.text.split_whitespace().any(|word| text.contains(&word.to_lowercase()))
        };
        let documents = self.documents.lock().unwrap();
        let hits = documents
            .values()
            .filter(|document| careless || query.visibility.admits(&document.facets))
            .filter(|document| matches(document))
            .zip(0_u8..)
            .map(|(document, n)| Hit { key: document.facets.key.clone(), score: 8.02 - f32::from(n) });
        Ok(hits
            .filter(|hit| query.min_score.is_none_or(|least| hit.score >= least))
            .take(query.limit)
            .collect())
    }

    async fn len(&self) -> Result<usize, IndexError> {
        Ok(self.documents.lock().unwrap().len())
    }

    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError> {
        let documents = self.documents.lock().unwrap();
        Ok(documents.iter().map(|(key, document)| (key.clone(), document.fingerprint())).collect())
    }

    async fn check(&self) -> Result<(), IndexError> {
        Ok(())
    }
}

/// Does by a tool's name what the name says.
#[derive(Default)]
pub struct FakeExecutor {
    /// Runs begun.
    pub runs: AtomicUsize,
    /// Runs that were cancelled.
    pub cancelled: AtomicUsize,
    /// Lets `slow` end.
    pub release: tokio::sync::Notify,
}

impl FakeExecutor {
    pub fn count(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn done(stdout: &str) -> Outcome {
    Outcome {
        ending: Ending::Exited(0),
        stdout: Capture { head: stdout.into(), tail: Vec::new(), total: stdout.len() as u64 },
        stderr: Capture::default(),
        result: None,
        session: SessionChanges::default(),
        session_problem: None,
        startup: Duration::ZERO,
        duration: Duration::ZERO,
    }
}

#[async_trait]
impl Executor for FakeExecutor {
    async fn execute(
        &self,
        invocation: Invocation,
        progress: &dyn ProgressSink,
        cancel: CancellationToken,
    ) -> Outcome {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let text = |name: &str| {
            let mut env = invocation.params_env.iter().chain(&invocation.session_env);
            env.find(|(variable, _)| variable == name).map(|(_, value)| value.clone()).unwrap_or_default()
        };
        match invocation.tool.name.as_str() {
            "echo" => done(&text("MCC_PARAM_TEXT")),
            "greet" => done(&format!("hello {} x{}", text("MCC_PARAM_WHO"), text("MCC_PARAM_TIMES"))),
            "structured" => done("{\"b\": 1, \"a\": [2]}\n"),
            "fail" => {
                let mut outcome = done("out");
                outcome.ending = Ending::Exited(3);
                outcome.stderr = Capture { head: b"err".to_vec(), tail: Vec::new(), total: 3 };
                outcome
            }
            "slow" => {
                progress.report(Progress { stage: Stage::Running, message: "working".into() });
                tokio::select! {
                    () = cancel.cancelled() => {
                        self.cancelled.fetch_add(1, Ordering::SeqCst);
                        Outcome { ending: Ending::Cancelled, ..done("") }
                    }
                    () = self.release.notified() => done("slept"),
                }
            }
            "big" => done(&"0123456789".repeat(1_000)),
            "keep" => {
                let mut outcome = done("kept");
                outcome.session.set.insert("project".into(), json!({"id": 7}));
                outcome
            }
            "context" => done(&text("MCC_CTX_PROJECT")),
            "timeout" => Outcome { ending: Ending::TimedOut(Duration::from_secs(30)), ..done("") },
            "full" => {
                let refusal = Refusal {
                    reason: "the cluster is full".into(),
                    fix: "add nodes".into(),
                    transient: true,
                };
                Outcome { ending: Ending::Refused(refusal), ..done("") }
            }
            _ => done(&format!("run {run}")),
        }
    }
}
