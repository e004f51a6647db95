//! A catalog from manifests in folders and files, kept up to date.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use jiff::Timestamp;
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{Catalog, ObjectSet, Problem, Severity};
use mcc_catalog::seam::CatalogSource;
use tokio::sync::watch;

use super::watch::{Signal, Watcher};

/// Reads all manifests. An implementation keeps the last good objects of a file that breaks.
pub(super) trait Load: Send + 'static {
    /// Everything there is now, and what is wrong with the files.
    fn load(&mut self) -> (ObjectSet, Vec<Problem>);
}

/// Where manifests are and how they become a catalog.
#[derive(Clone, Debug)]
pub struct DirectoryOptions {
    /// Folders (with their sub-folders) and files.
    pub paths: Vec<PathBuf>,
    /// Which objects count.
    pub settings: CatalogSettings,
}

/// Why manifests can't be served at all. What is wrong within them is among the catalog's problems instead.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A path isn't there.
    #[error("{}: {source}; name a folder of manifests or a manifest", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why it can't be read.
        source: std::io::Error,
    },
    /// The thread that watches can't be started.
    #[error("files can't be watched: {0}")]
    Thread(std::io::Error),
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
        let loader = shim::Shim::new(options.paths.clone());
        Self::start(options, loader)
    }

    fn start(options: DirectoryOptions, mut loader: impl Load) -> Result<Self, SourceError> {
        let DirectoryOptions { paths, settings } = options;
        for path in &paths {
            fs_err::metadata(path).map_err(|source| SourceError::Path { path: path.clone(), source })?;
        }
        let (signals, received) = channel();
        // Watching begins before reading, so that no change falls in between.
        let watcher = Watcher::new(paths, signals.clone(), received);
        let catalog = Arc::new(read(&mut loader, &settings, None));
        report(&[], &catalog);
        let (publish, catalogs) = watch::channel(catalog);
        std::thread::Builder::new()
            .name("mcc-directory".to_owned())
            .spawn(move || follow(watcher, &mut loader, &settings, &publish))
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

mod shim {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use mcc_catalog::model::{Entry, NamespacedName, ObjectSet, Origin, Place, Problem, Reason, Severity};
    use mcc_crds::v1alpha1::Tool;

    pub struct Shim {
        paths: Vec<PathBuf>,
        good: BTreeMap<PathBuf, (String, Entry<Tool>)>,
    }

    impl Shim {
        pub fn new(paths: Vec<PathBuf>) -> Self {
            Self { paths, good: BTreeMap::new() }
        }

        fn add(&mut self, path: &Path, top: bool, set: &mut ObjectSet, problems: &mut Vec<Problem>) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name.starts_with('.') && !top {
                    return;
                }
                for entry in fs_err::read_dir(path).into_iter().flatten().flatten() {
                    self.add(&entry.path(), false, set, problems);
                }
                return;
            }
            if !name.ends_with(".yaml") {
                return;
            }
            let Ok(text) = fs_err::read_to_string(path) else { return };
            let place = Place { file: Arc::new(path.to_owned()), line: 1, column: 1 };
            match serde_json::from_str::<Tool>(&text) {
                Ok(tool) => {
                    if self.good.get(path).is_none_or(|(old, _)| *old != text) {
                        let origin = Origin { start: Some(place), ..Origin::default() };
                        self.good.insert(path.to_owned(), (text, Entry { object: Arc::new(tool), origin }));
                    }
                }
                Err(error) => problems.push(Problem {
                    severity: Severity::Error,
                    reason: Reason::InvalidSyntax,
                    object: None,
                    place: Some(place),
                    path: String::new(),
                    message: error.to_string(),
                    fix: String::new(),
                }),
            }
            if let Some((_, entry)) = self.good.get(path) {
                let name = entry.object.metadata.name.clone().unwrap_or_default();
                set.tools.insert(NamespacedName::new("mcc-catalog", name), entry.clone());
            }
        }
    }

    impl super::Load for Shim {
        fn load(&mut self) -> (ObjectSet, Vec<Problem>) {
            let (mut set, mut problems) = (ObjectSet::default(), Vec::new());
            for path in self.paths.clone() {
                self.add(&path, true, &mut set, &mut problems);
            }
            (set, problems)
        }
    }
}

/// Reads and publishes after every change, until it is time to stop.
fn follow(
    mut watcher: Watcher,
    loader: &mut impl Load,
    settings: &CatalogSettings,
    publish: &watch::Sender<Arc<Catalog>>,
) {
    while watcher.wait() {
        let previous = publish.borrow().clone();
        let catalog = Arc::new(read(loader, settings, Some(&previous)));
        if catalog.revision == previous.revision && catalog.problems == previous.problems {
            continue;
        }
        report(&previous.problems, &catalog);
        publish.send_replace(catalog);
    }
}

fn read(loader: &mut impl Load, settings: &CatalogSettings, previous: Option<&Catalog>) -> Catalog {
    let (objects, problems) = loader.load();
    let settings = CatalogSettings { now: Some(Timestamp::now()), ..settings.clone() };
    let mut catalog = compile(Arc::new(objects), &settings, previous);
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
