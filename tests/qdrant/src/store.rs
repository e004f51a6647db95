//! The collections of a data folder: `collections/NAME/` of the engine, and `aliases.json`.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use qdrant_edge::EdgeShard;
use tonic::{Response, Status};

use crate::faults::{self, Access};

/// Everything that is served.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    data: PathBuf,
    state: RwLock<State>,
}

/// What is there at one moment.
#[derive(Default)]
pub struct State {
    pub collections: HashMap<String, Arc<EdgeShard>>,
    /// Name of an alias to that of its collection.
    pub aliases: BTreeMap<String, String>,
}

impl Store {
    /// Opens the folder, with what an earlier process left in it.
    pub fn open(data: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = data.join("collections");
        std::fs::create_dir_all(&folder)?;
        let mut state = State::default();
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            state.collections.insert(name, Arc::new(EdgeShard::load(&entry.path(), None)?));
        }
        if let Ok(aliases) = std::fs::read(data.join("aliases.json")) {
            state.aliases = serde_json::from_slice(&aliases)?;
        }
        Ok(Self(Arc::new(Inner { data: data.to_owned(), state: RwLock::new(state) })))
    }

    /// Runs a call where it may block, after the fault that is set.
    pub async fn run<T: Send + 'static>(
        &self,
        access: Access,
        call: impl FnOnce(&Self) -> Result<T, Status> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        faults::apply(&self.0.data, access).await?;
        let store = self.clone();
        tokio::task::spawn_blocking(move || call(&store))
            .await
            .map_err(|error| Status::internal(error.to_string()))?
            .map(Response::new)
    }

    pub fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folder of a collection.
    pub fn folder(&self, collection: &str) -> PathBuf {
        self.0.data.join("collections").join(collection)
    }

    /// Writes the aliases down. `state` is the locked state, so that the last change is the last written.
    pub fn save_aliases(&self, state: &State) -> Result<(), Status> {
        let file = self.0.data.join("aliases.json");
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::json!(state.aliases).to_string())
            .and_then(|()| std::fs::rename(&new, &file))
            .map_err(|error| Status::internal(error.to_string()))
    }

    /// The collection of a name or an alias.
    pub fn collection(&self, name: &str) -> Result<Arc<EdgeShard>, Status> {
        self.read().find(name).cloned()
    }
}

impl State {
    /// The collection of a name or an alias.
    pub fn find(&self, name: &str) -> Result<&Arc<EdgeShard>, Status> {
        let real = self.aliases.get(name).map_or(name, String::as_str);
        self.collections
            .get(real)
            .ok_or_else(|| Status::not_found(format!("Not found: Collection `{name}` doesn't exist!")))
    }
}
