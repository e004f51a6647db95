//! A catalog from manifests in folders and files, kept up to date.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use jiff::Timestamp;
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::manifest::{Loaded, Loader};
use mcc_catalog::model::{Catalog, ObjectSet, Problem, Severity};
use mcc_catalog::seam::CatalogSource;
use tokio::sync::watch;

use super::watch::{Signal, Watcher};

/// Where manifests are and how they become a catalog.
#[derive(Clone, Debug)]
pub struct DirectoryOptions {
    /// Folders (with their sub-folders) and files.
    pub paths: Vec<PathBuf>,
    /// Secrets from files of `NAME=value` lines, by name: they are there in every namespace.
    pub secrets: Vec<(String, PathBuf)>,
    /// Which objects count.
    pub settings: CatalogSettings,
}

/// Why manifests can't be served at all. What is wrong within them is among the catalog's problems instead.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A path isn't there.
    #[error("{path}: {}", reason(*kind), path = path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why it can't be read.
        kind: std::io::ErrorKind,
    },
    /// The thread that watches can't be started.
    #[error("files can't be watched: {0}")]
    Thread(std::io::Error),
}

fn reason(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        kind => kind.to_string(),
    }
}

/// The catalog of some folders and files. Every change is read, compiled and published as a whole by a thread of its
/// own; what breaks stays as it was. Dropping it ends the thread.
pub struct DirectorySource {
    catalogs: watch::Receiver<Arc<Catalog>>,
    signals: Sender<Signal>,
}

impl DirectorySource {
    /// Reads the manifests and begins to watch them. Blocks while reading.
    pub fn open(options: DirectoryOptions) -> Result<Self, SourceError> {
        let DirectoryOptions { paths, secrets, settings } = options;
        let loader = Loader::new(paths);
        let mut loader =
            secrets.into_iter().fold(loader, |loader, (name, path)| loader.with_secret(name, path));
        let paths = loader.watched();
        for path in &paths {
            fs_err::metadata(path)
                .map_err(|error| SourceError::Path { path: path.clone(), kind: error.kind() })?;
        }
        let (signals, received) = channel();
        // Watching begins before reading, so that no change falls in between.
        let watcher = Watcher::new(paths, signals.clone(), received);
        let Loaded { objects, problems, .. } = loader.load();
        let catalog = Arc::new(compiled(objects, problems, &settings, None));
        report(&[], &catalog);
        let (publish, catalogs) = watch::channel(catalog);
        std::thread::Builder::new()
            .name("mcc-directory".to_owned())
            .spawn(move || follow(watcher, loader, &settings, &publish))
            .map_err(SourceError::Thread)?;
        Ok(Self { catalogs, signals })
    }

    /// Everything that is wrong with the manifests now, in the order of files and lines.
    pub fn problems(&self) -> Vec<Problem> {
        self.catalogs.borrow().problems.clone()
    }
}

impl CatalogSource for DirectorySource {
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalogs.clone()
    }
}

impl Drop for DirectorySource {
    fn drop(&mut self) {
        // A thread that has ended already needs no telling.
        drop(self.signals.send(Signal::Stop));
    }
}

/// Reads and publishes after every change, until it is time to stop.
fn follow(
    mut watcher: Watcher,
    mut loader: Loader,
    settings: &CatalogSettings,
    publish: &watch::Sender<Arc<Catalog>>,
) {
    while watcher.wait() {
        let Loaded { objects, problems, changed } = loader.load();
        if !changed {
            continue;
        }
        let previous = publish.borrow().clone();
        let catalog = Arc::new(compiled(objects, problems, settings, Some(&previous)));
        if catalog.revision == previous.revision && catalog.problems == previous.problems {
            continue;
        }
        report(&previous.problems, &catalog);
        publish.send_replace(catalog);
    }
}

/// The catalog of what was read, the files' own problems included.
fn compiled(
    objects: Arc<ObjectSet>,
    problems: Vec<Problem>,
    settings: &CatalogSettings,
    previous: Option<&Catalog>,
) -> Catalog {
    let settings = CatalogSettings { now: Some(Timestamp::now()), ..settings.clone() };
    let mut catalog = compile(objects, &settings, previous);
    catalog.add_problems(problems);
    catalog
}

/// Logs what has changed: each problem once, when it appears.
fn report(before: &[Problem], catalog: &Catalog) {
    for problem in catalog.problems.iter().filter(|problem| !before.contains(problem)) {
        match problem.severity {
            Severity::Error => tracing::warn!("{problem}"),
            Severity::Warning => tracing::info!("{problem}"),
        }
    }
    tracing::info!(
        tools = catalog.tools.len(),
        compiled = catalog.stats.compiled,
        problems = catalog.problems.len(),
        revision = catalog.revision,
        "catalog read"
    );
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
