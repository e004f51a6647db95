//! What the index is known to hold, and what is in the way of the rest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcc_catalog::model::{Catalog, CompiledTool, ObjectKind, ObjectRef, ToolDocument};
use mcc_catalog::seam::IndexError;
use tokio::time::Instant;

use crate::conditions::reason;

/// Why the index doesn't hold a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Reason of the condition `Indexed`.
    pub reason: &'static str,
    /// What it is, and what to do.
    pub message: String,
}

impl From<&IndexError> for Failure {
    fn from(error: &IndexError) -> Self {
        let reason = match error {
            IndexError::Unavailable(_) => reason::INDEX_UNAVAILABLE,
            IndexError::Embed(_) => reason::EMBEDDING_FAILED,
            IndexError::Refused(_) => reason::INDEX_REFUSED,
        };
        Self { reason, message: format!("{error}; it is tried again") }
    }
}

/// Where a Tool stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The index holds it as it is.
    Held,
    /// It is on its way; the index has answered last at this time.
    Pending(Option<Instant>),
    /// Something is in the way.
    Failed(Failure),
}

/// What the index holds of one key.
#[derive(Clone, Debug)]
enum Held {
    /// The document of this tool.
    Tool(Arc<CompiledTool>),
    /// Perhaps something: a batch with this key failed.
    Unknown,
}

/// A document that the index refused.
#[derive(Clone, Debug)]
struct Rejected {
    digest: String,
    failure: Failure,
}

#[derive(Default)]
struct State {
    held: HashMap<String, Held>,
    rejected: HashMap<String, Rejected>,
    failure: Option<Failure>,
    answered: Option<Instant>,
}

/// What the index is known to hold. Shared by the writer and the controllers.
#[derive(Default)]
pub(crate) struct Holdings {
    state: Mutex<State>,
}

/// One step towards the catalog.
#[derive(Default)]
pub(crate) struct Batch {
    pub upserts: Vec<ToolDocument>,
    pub tools: Vec<Arc<CompiledTool>>,
    pub removals: Vec<String>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.upserts.is_empty() && self.removals.is_empty()
    }

    /// The Tools whose documents the batch brings.
    pub fn objects(&self) -> impl Iterator<Item = ObjectRef> + '_ {
        self.tools.iter().map(|tool| object(tool))
    }
}

fn object(tool: &CompiledTool) -> ObjectRef {
    ObjectRef::new(ObjectKind::Tool, tool.object.clone())
}

impl Holdings {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a Tool of the catalog stands.
    pub fn standing(&self, tool: &Arc<CompiledTool>) -> Standing {
        let state = self.lock();
        if state.holds(tool) {
            return Standing::Held;
        }
        if let Some(rejected) = state.rejected.get(&tool.key)
            && rejected.digest == tool.document().digest
        {
            return Standing::Failed(rejected.failure.clone());
        }
        match &state.failure {
            Some(failure) => Standing::Failed(failure.clone()),
            None => Standing::Pending(state.answered),
        }
    }

    /// What is to be written next, at most `limit` documents.
    pub fn difference(&self, catalog: &Catalog, limit: usize) -> Batch {
        let mut state = self.lock();
        let mut batch = Batch::default();
        for tool in catalog.tools.values() {
            if batch.upserts.len() == limit {
                break;
            }
            if state.holds(tool) {
                continue;
            }
            let document = tool.document();
            if let Some(Held::Tool(known)) = state.held.get(&tool.key)
                && known.document() == document
            {
                // Something else than its document has changed.
                state.held.insert(tool.key.clone(), Held::Tool(tool.clone()));
                batch.tools.push(tool.clone());
                continue;
            }
            if state.rejected.get(&tool.key).is_some_and(|rejected| rejected.digest == document.digest) {
                continue;
            }
            batch.upserts.push(document);
            batch.tools.push(tool.clone());
        }
        let gone = state.held.keys().filter(|key| !catalog.tools.contains_key(*key));
        batch.removals = gone.cloned().collect();
        state.rejected.retain(|key, _| catalog.tools.contains_key(key));
        batch
    }

    /// The index took a batch.
    pub fn took(&self, batch: &Batch) {
        let mut state = self.lock();
        for tool in &batch.tools {
            state.held.insert(tool.key.clone(), Held::Tool(tool.clone()));
            state.rejected.remove(&tool.key);
        }
        for key in &batch.removals {
            state.held.remove(key);
        }
        state.answer();
    }

    /// The index holds exactly this catalog.
    pub fn took_all(&self, catalog: &Catalog) {
        let mut state = self.lock();
        let tools = catalog.tools.iter().map(|(key, tool)| (key.clone(), Held::Tool(tool.clone())));
        state.held = tools.collect();
        state.rejected.clear();
        state.answer();
    }

    /// Nothing is known of what the index holds.
    pub fn forget(&self) {
        *self.lock() = State::default();
    }

    /// A batch failed: whether the index holds it isn't known.
    pub fn failed(&self, batch: &Batch, failure: Failure) {
        let mut state = self.lock();
        for tool in &batch.tools {
            state.held.insert(tool.key.clone(), Held::Unknown);
        }
        state.failure = Some(failure);
    }

    /// The index refused one document by itself.
    pub fn rejected(&self, batch: &Batch, failure: &Failure) {
        let mut state = self.lock();
        for document in &batch.upserts {
            let rejected = Rejected { digest: document.digest.clone(), failure: failure.clone() };
            state.rejected.insert(document.facets.key.clone(), rejected);
            state.held.insert(document.facets.key.clone(), Held::Unknown);
        }
        state.answer();
    }

    /// Number of documents that the index holds; none while that isn't certain.
    pub fn certain(&self) -> Option<usize> {
        let state = self.lock();
        let certain = state.held.values().all(|held| matches!(held, Held::Tool(_)));
        certain.then_some(state.held.len())
    }

    /// What is in the way of every document, if anything is.
    pub fn failure(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// The Tools of a catalog that the index doesn't hold as they are.
    pub fn pending(&self, catalog: &Catalog) -> Vec<ObjectRef> {
        let state = self.lock();
        catalog.tools.values().filter(|tool| !state.holds(tool)).map(|tool| object(tool)).collect()
    }
}

impl State {
    fn holds(&self, tool: &Arc<CompiledTool>) -> bool {
        matches!(self.held.get(&tool.key), Some(Held::Tool(held)) if Arc::ptr_eq(held, tool))
    }

    fn answer(&mut self) {
        self.failure = None;
        self.answered = Some(Instant::now());
    }
}
