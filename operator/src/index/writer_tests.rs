//! The writer over an index in memory that fails on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use async_trait::async_trait;
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{Entry, NamespacedName, ObjectKind, ObjectRef, ObjectSet, ToolDocument};
use mcc_catalog::seam::{Hit, Query};
use serde_json::json;

use super::*;
use crate::index::Standing;
use crate::queue::{Inboxes, queues};

const PATIENCE: Duration = Duration::from_secs(120);

/// Documents by key, and what goes wrong.
#[derive(Default)]
struct Fake {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    documents: BTreeMap<String, ToolDocument>,
    calls: Vec<String>,
    down: bool,
    /// A document with this in its description is refused.
    refuses: Option<&'static str>,
}

impl Fake {
    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().documents.keys().cloned().collect()
    }

    fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }

    fn call(&self, call: String, documents: &[ToolDocument]) -> Result<(), IndexError> {
        let mut state = self.state.lock().unwrap();
        state.calls.push(call);
        if state.down {
            return Err(IndexError::Unavailable("down".to_owned()));
        }
        match state.refuses {
            Some(word) if documents.iter().any(|document| document.description.contains(word)) => {
                Err(IndexError::Refused(format!("no {word} here")))
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl ToolIndex for Fake {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        self.call(format!("replace {}", documents.len()), &documents)?;
        let by_key = documents.into_iter().map(|document| (document.facets.key.clone(), document));
        self.set(|state| state.documents = by_key.collect());
        Ok(())
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        self.call(format!("update +{} -{}", upserts.len(), removals.len()), &upserts)?;
        self.set(|state| {
            state.documents.retain(|key, _| !removals.contains(key));
            state
                .documents
                .extend(upserts.into_iter().map(|document| (document.facets.key.clone(), document)));
        });
        Ok(())
    }

    async fn search(&self, _: &Query) -> Result<Vec<Hit>, IndexError> {
        Ok(Vec::new())
    }

    async fn len(&self) -> Result<usize, IndexError> {
        let state = self.state.lock().unwrap();
        if state.down { Err(IndexError::Unavailable("down".to_owned())) } else { Ok(state.documents.len()) }
    }

    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError> {
        self.check().await?;
        let state = self.state.lock().unwrap();
        Ok(state.documents.iter().map(|(key, document)| (key.clone(), document.fingerprint())).collect())
    }

    async fn check(&self) -> Result<(), IndexError> {
        self.len().await.map(|_| ())
    }
}

/// A writer at work.
struct Bench {
    index: Arc<Fake>,
    holdings: Arc<Holdings>,
    views: watch::Sender<Arc<View>>,
    inboxes: Inboxes,
    objects: ObjectSet,
}

impl Bench {
    fn new() -> Self {
        let (queues, inboxes) = queues();
        queues.set_open(true);
        let (views, view) = watch::channel(Arc::default());
        let index = Arc::new(Fake::default());
        let holdings = Arc::new(Holdings::default());
        let rhythm = Rhythm { count: Duration::from_millis(300), sweep: Duration::from_secs(3600) };
        let metrics = Arc::new(Metrics::new());
        let writer = Writer::new(index.clone(), holdings.clone(), view, queues, metrics, rhythm);
        tokio::spawn(writer.run());
        Self { index, holdings, views, inboxes, objects: ObjectSet::default() }
    }

    fn tool(&mut self, name: &str, description: &str) {
        let object = json!({
            "metadata": { "name": name, "namespace": "c" },
            "spec": { "groups": ["public"], "description": description, "shell": { "script": "true" } },
        });
        let entry = Entry::from_cluster(serde_json::from_value(object).unwrap());
        self.objects.tools.insert(NamespacedName::new("c", name), entry);
    }

    fn remove(&mut self, name: &str) {
        self.objects.tools.remove(&NamespacedName::new("c", name));
    }

    fn publish(&self) {
        let before = self.views.borrow().clone();
        let settings = CatalogSettings::cluster("c", BTreeSet::new());
        let catalog = compile(Arc::new(self.objects.clone()), &settings, Some(&before.catalog));
        self.views.send_replace(Arc::new(before.next(Arc::new(catalog)).0));
    }

    fn standing(&self, name: &str) -> Standing {
        self.holdings.standing(&self.views.borrow().catalog.tools[&format!("public.{name}")])
    }

    async fn until(&self, holds: impl Fn(&Self) -> bool) {
        let wait = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it never came to be so");
    }

    fn triggered(&mut self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        while let Ok(request) = self.inboxes.tools.try_recv() {
            names.insert(request.message.name.name);
        }
        names
    }
}

#[tokio::test]
async fn what_changes_is_written_and_its_tools_are_told() {
    let mut bench = Bench::new();
    bench.tool("a", "x");
    bench.tool("b", "x");
    bench.publish();
    bench.until(|bench| bench.index.keys() == ["public.a", "public.b"]).await;
    bench.until(|bench| bench.standing("b") == Standing::Held).await;
    assert_eq!(bench.triggered(), BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    bench.index.take_calls();

    bench.tool("c", "x");
    bench.tool("a", "changed");
    bench.remove("b");
    bench.publish();
    bench.until(|bench| bench.index.keys() == ["public.a", "public.c"]).await;
    bench.until(|bench| bench.standing("c") == Standing::Held).await;
    assert_eq!(bench.index.take_calls(), ["update +2 -1"]);
    assert_eq!(bench.triggered(), BTreeSet::from(["a".to_owned(), "c".to_owned()]));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(bench.index.take_calls().is_empty(), "nothing is written when nothing has changed");
}

#[tokio::test]
async fn an_index_that_is_away_is_told_of_and_heals() {
    let mut bench = Bench::new();
    bench.index.set(|state| state.down = true);
    bench.tool("a", "x");
    bench.publish();
    bench.until(|bench| matches!(bench.standing("a"), Standing::Failed(_))).await;
    let Standing::Failed(failure) = bench.standing("a") else { panic!() };
    assert_eq!(failure.reason, crate::conditions::reason::INDEX_UNAVAILABLE);
    assert!(bench.triggered().contains("a"));
    bench.index.set(|state| state.down = false);
    bench.until(|bench| bench.standing("a") == Standing::Held).await;
    assert!(bench.triggered().contains("a"));

    // While it is away a Tool that it holds has nothing to complain of; a change waits.
    bench.index.set(|state| state.down = true);
    bench.tool("b", "x");
    bench.remove("a");
    bench.tool("c", "x");
    bench.publish();
    bench.until(|bench| matches!(bench.standing("b"), Standing::Failed(_))).await;
    bench.remove("b");
    bench.publish();
    bench.index.set(|state| state.down = false);
    bench.until(|bench| bench.index.keys() == ["public.c"]).await;
}

#[tokio::test]
async fn a_wiped_index_is_written_again_and_strange_documents_go() {
    let mut bench = Bench::new();
    bench.tool("a", "x");
    bench.publish();
    bench.until(|bench| bench.standing("a") == Standing::Held).await;
    bench.index.set(|state| state.documents.clear());
    bench.until(|bench| bench.index.keys() == ["public.a"]).await;
    let strange =
        ToolDocument { facets: mcc_catalog::model::Facets::new("strange", &[]), ..ToolDocument::default() };
    bench.index.set(|state| {
        state.documents.insert("strange".to_owned(), strange);
    });
    bench.until(|bench| bench.index.keys() == ["public.a"]).await;
}

#[tokio::test]
async fn documents_of_before_are_swept_at_the_start() {
    let strange =
        ToolDocument { facets: mcc_catalog::model::Facets::new("strange", &[]), ..ToolDocument::default() };
    let mut bench = Bench::new();
    bench.index.set(|state| {
        state.documents.insert("strange".to_owned(), strange);
    });
    bench.tool("a", "x");
    bench.publish();
    bench.until(|bench| bench.index.keys() == ["public.a"]).await;
}

#[tokio::test]
async fn one_document_that_is_refused_hurts_only_itself() {
    let mut bench = Bench::new();
    bench.index.set(|state| state.refuses = Some("poison"));
    (0..300).for_each(|number| bench.tool(&format!("t{number}"), "x"));
    bench.tool("bad", "poison");
    bench.publish();
    bench.until(|bench| bench.index.keys().len() == 300).await;
    bench.until(|bench| matches!(bench.standing("bad"), Standing::Failed(_))).await;
    let Standing::Failed(failure) = bench.standing("bad") else { panic!() };
    assert_eq!(failure.reason, crate::conditions::reason::INDEX_REFUSED);
    assert!(failure.message.contains("no poison here"));
    assert_eq!(bench.standing("t299"), Standing::Held);
    bench.tool("bad", "harmless");
    bench.publish();
    bench.until(|bench| bench.standing("bad") == Standing::Held).await;
}

#[tokio::test]
async fn an_index_that_refuses_everything_is_tried_again_as_a_whole() {
    let mut bench = Bench::new();
    bench.index.set(|state| state.refuses = Some("x"));
    (0..40).for_each(|number| bench.tool(&format!("t{number}"), "x"));
    bench.publish();
    bench.until(|bench| matches!(bench.standing("t9"), Standing::Failed(_))).await;
    bench.index.set(|state| state.refuses = None);
    bench.until(|bench| bench.index.keys().len() == 40).await;
    bench.until(|bench| (0..40).all(|number| bench.standing(&format!("t{number}")) == Standing::Held)).await;
}

#[tokio::test]
async fn the_first_tools_need_not_wait_for_the_last() {
    let mut bench = Bench::new();
    (0..1000).for_each(|number| bench.tool(&format!("t{number}"), "x"));
    bench.publish();
    bench.until(|bench| bench.index.keys().len() == 1000).await;
    let calls = bench.index.take_calls();
    // The empty catalog, then batch by batch.
    assert_eq!(calls.last().map(String::as_str), Some("update +232 -0"), "{calls:?}");
    let object = ObjectRef::new(ObjectKind::Tool, NamespacedName::new("c", "t999"));
    assert!(
        bench
            .holdings
            .pending(&bench.views.borrow().catalog.clone())
            .iter()
            .all(|pending| *pending != object)
    );
}
