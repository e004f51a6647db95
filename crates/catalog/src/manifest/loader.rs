//! Files and folders → objects, again and again: only what changed is read anew, and what breaks keeps its last state.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::model::{Entry, NamespacedName, ObjectRef, ObjectSet, Problem, Reason, Severity};

use super::files::{self, Found, Stamp};
use super::object::{LoadedObject, Object};
use super::{DEFAULT_NAMESPACE, dotenv, parse, problem, text};

/// A file system may give two writes this close together the same time.
const CLOCK_GRAIN: Duration = Duration::from_secs(2);

/// Loads manifests from files and folders.
///
/// A file that breaks takes nothing away: its good objects are taken, and those that it held when it was last read and
/// that aren't among them stay as they were, until the file is whole again or gone.
#[derive(Debug, Default)]
pub struct Loader {
    sources: Vec<PathBuf>,
    secrets: Vec<SecretFile>,
    files: BTreeMap<PathBuf, FileState>,
    objects: Arc<ObjectSet>,
    problems: Vec<Problem>,
    loaded_before: bool,
}

/// What [`Loader::load`] found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// All objects.
    pub objects: Arc<ObjectSet>,
    /// All problems, by file and line.
    pub problems: Vec<Problem>,
    /// Whether objects or problems differ from those of the last call; true at the first.
    pub changed: bool,
}

/// A file of variables that becomes a Secret.
struct SecretFile {
    name: String,
    path: PathBuf,
    data: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.name, self.path.display())
    }
}

#[derive(Debug)]
struct FileState {
    stamp: Stamp,
    digest: u64,
    fresh: Vec<LoadedObject>,
    /// What the file held before it broke.
    kept: Vec<LoadedObject>,
    problems: Vec<Problem>,
}

impl Loader {
    /// A loader of files and folders (searched with their sub-folders for `.yaml`, `.yml` and `.json`).
    pub fn new(sources: Vec<PathBuf>) -> Self {
        Self { sources, ..Self::default() }
    }

    /// Adds a Secret from a file of `NAME=value` lines. It exists in the namespace of every Tool and takes the place of
    /// a Secret of that name in the manifests.
    #[must_use]
    pub fn with_secret(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.secrets.push(SecretFile { name: name.into(), path: path.into(), data: BTreeMap::new() });
        self
    }

    /// The files and folders to watch for changes.
    pub fn watched(&self) -> Vec<PathBuf> {
        self.sources.iter().cloned().chain(self.secrets.iter().map(|secret| secret.path.clone())).collect()
    }

    /// Reads what changed since the last call. Blocks on the file system.
    pub fn load(&mut self) -> Loaded {
        let listing = files::list(&self.sources);
        let listed: HashSet<&Path> = listing.files.iter().map(|file| file.path.as_path()).collect();
        let known = self.files.len();
        self.files.retain(|path, _| {
            listed.contains(path.as_path()) || listing.unreachable.iter().any(|lost| path.starts_with(lost))
        });
        let mut touched = self.files.len() != known;
        for (path, state) in read_all(&listing.files, &self.files) {
            touched |= self.take(path, state);
        }
        let mut problems = listing.problems;
        touched |= self.load_secrets(&mut problems);
        let objects = if touched || !self.loaded_before {
            Arc::new(self.merge(&mut problems))
        } else {
            self.objects.clone()
        };
        if !touched && self.loaded_before {
            // Duplicates are found while merging; nothing moved, so they are the same.
            problems.extend(self.problems.iter().filter(|p| p.reason == Reason::DuplicateObject).cloned());
        }
        problems.extend(self.files.values().flat_map(|state| state.problems.iter().cloned()));
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        let changed = touched || !self.loaded_before || problems != self.problems;
        self.loaded_before = true;
        self.objects.clone_from(&objects);
        self.problems.clone_from(&problems);
        Loaded { objects, problems, changed }
    }

    /// Takes over what was read of a file. Says whether its objects may differ.
    fn take(&mut self, path: PathBuf, read: Read) -> bool {
        let mut state = match read {
            Read::Same(stamp) => {
                if let Some(known) = self.files.get_mut(&path) {
                    known.stamp = stamp;
                }
                return false;
            }
            Read::Changed(state) => state,
        };
        if let Some(before) = self.files.remove(&path) {
            reuse(&mut state.fresh, before.fresh.iter().chain(&before.kept));
            let broken = state.problems.iter().any(|problem| problem.severity == Severity::Error);
            // An editor that saves in place empties the file first.
            let emptied = state.stamp.bytes == 0 && !(before.fresh.is_empty() && before.kept.is_empty());
            if broken || emptied {
                let present: HashSet<Identity> = state.fresh.iter().map(identity).collect();
                let lost = before.fresh.into_iter().chain(before.kept);
                state.kept = lost.filter(|object| !present.contains(&identity(object))).collect();
            }
            if emptied {
                let message = "the file is empty; what it held stays".to_owned();
                let fix = "remove the file to remove its objects";
                state.problems.push(files::at(&path, Severity::Warning, message, fix));
            }
        }
        self.files.insert(path, state);
        true
    }

    /// Reads the files of variables; says whether a value differs.
    fn load_secrets(&mut self, problems: &mut Vec<Problem>) -> bool {
        let mut changed = false;
        for secret in &mut self.secrets {
            let bytes = match read_file(&secret.path) {
                Ok(bytes) => bytes,
                Err(problem) => {
                    problems.push(*problem);
                    continue;
                }
            };
            let file = Arc::new(secret.path.clone());
            let (data, faults) = match text::decode(&bytes) {
                Ok(text) => dotenv::parse(text),
                Err(fault) => (BTreeMap::new(), vec![fault]),
            };
            if faults.is_empty() {
                changed |= data != secret.data;
                secret.data = data;
            }
            problems.extend(faults.into_iter().map(|fault| problem(&file, Severity::Error, fault)));
        }
        changed
    }

    /// One set of all objects. Of two with one name the first by path counts; a kept one gives way to any fresh one.
    fn merge(&self, problems: &mut Vec<Problem>) -> ObjectSet {
        let mut set = ObjectSet::default();
        let mut first: HashMap<ObjectRef, &LoadedObject> = HashMap::new();
        for object in self.files.values().flat_map(|state| &state.fresh) {
            if let Some(reference) = object.object.reference() {
                if let Some(earlier) = first.get(&reference) {
                    problems.push(duplicate(reference, earlier, object));
                    continue;
                }
                first.insert(reference, object);
            }
            add(&mut set, object);
        }
        for object in self.files.values().flat_map(|state| &state.kept) {
            match object.object.reference() {
                Some(reference) if first.contains_key(&reference) => continue,
                Some(reference) => drop(first.insert(reference, object)),
                None => {}
            }
            add(&mut set, object);
        }
        self.add_secrets(&mut set);
        set
    }

    fn add_secrets(&self, set: &mut ObjectSet) {
        let mut namespaces: HashSet<String> = set.tools.keys().map(|name| name.namespace.clone()).collect();
        namespaces.insert(DEFAULT_NAMESPACE.to_owned());
        for secret in &self.secrets {
            let data =
                secret.data.iter().map(|(key, value)| (key.clone(), k8s_openapi::ByteString(value.clone())));
            let object = Secret { data: Some(data.collect()), ..Secret::default() };
            for namespace in &namespaces {
                let metadata = ObjectMeta {
                    name: Some(secret.name.clone()),
                    namespace: Some(namespace.clone()),
                    ..ObjectMeta::default()
                };
                let object = Arc::new(Secret { metadata, ..object.clone() });
                set.secrets.insert(NamespacedName::new(namespace.clone(), secret.name.clone()), object);
            }
        }
    }
}

type Identity = (Option<ObjectRef>, String);

fn identity(object: &LoadedObject) -> Identity {
    let namespace = match &object.object {
        Object::Namespace { name, .. } => name.clone(),
        _ => String::new(),
    };
    (object.object.reference(), namespace)
}

/// Keeps the allocation of objects that didn't change, so that whoever compares can compare pointers.
fn reuse<'a>(fresh: &mut [LoadedObject], before: impl Iterator<Item = &'a LoadedObject>) {
    let before: HashMap<Identity, &LoadedObject> = before.map(|object| (identity(object), object)).collect();
    for object in fresh {
        if let Some(old) = before.get(&identity(object)).filter(|old| old.object == object.object) {
            object.object = old.object.clone();
        }
    }
}

fn add(set: &mut ObjectSet, loaded: &LoadedObject) {
    let origin = loaded.origin.clone();
    let name = loaded.object.reference().map(|reference| reference.name);
    match (&loaded.object, name) {
        (Object::Tool(object), Some(name)) => {
            set.tools.insert(name, Entry { object: object.clone(), origin });
        }
        (Object::ToolGroup(object), Some(name)) => {
            set.groups.insert(name, Entry { object: object.clone(), origin });
        }
        (Object::UserGrant(object), Some(name)) => {
            set.grants.insert(name, Entry { object: object.clone(), origin });
        }
        (Object::Secret(object), Some(name)) => {
            set.secrets.insert(name, object.clone());
        }
        (Object::ConfigMap(object), Some(name)) => {
            set.config_maps.insert(name, object.clone());
        }
        (Object::Namespace { name, labels }, _) => {
            set.namespaces.insert(name.clone(), labels.clone());
        }
        _ => {}
    }
}

fn duplicate(reference: ObjectRef, first: &LoadedObject, second: &LoadedObject) -> Problem {
    let earlier = first.origin.start.as_ref().map(ToString::to_string).unwrap_or_default();
    Problem {
        severity: Severity::Error,
        reason: Reason::DuplicateObject,
        object: Some(reference),
        place: second.origin.start.clone(),
        path: String::new(),
        message: format!("the object is declared twice, first at {earlier}: this one is left out"),
        fix: "rename or remove one of the two".to_owned(),
    }
}

/// What reading a file brought.
enum Read {
    /// The same bytes as before.
    Same(Stamp),
    Changed(FileState),
}

/// Reads the files that may have changed, on all processors.
fn read_all(found: &[Found], known: &BTreeMap<PathBuf, FileState>) -> Vec<(PathBuf, Read)> {
    let now = SystemTime::now();
    let settled = |stamp: &Stamp| {
        stamp
            .modified
            .and_then(|modified| now.duration_since(modified).ok())
            .is_some_and(|age| age > CLOCK_GRAIN)
    };
    let doubtful: Vec<&Found> = found
        .iter()
        .filter(|file| !known.get(&file.path).is_some_and(|k| k.stamp == file.stamp && settled(&file.stamp)))
        .collect();
    let read = |file: &Found| (file.path.clone(), read_one(file, known.get(&file.path)));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(doubtful.len() / 16);
    if workers < 2 {
        return doubtful.into_iter().map(read).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || doubtful.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        std::iter::from_fn(take).map(read).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for handle in handles {
            match handle.join() {
                Ok(mut more) => all.append(&mut more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

fn read_one(file: &Found, known: Option<&FileState>) -> Read {
    let broken = |problem: Problem| {
        let (stamp, digest) = (file.stamp, 0);
        Read::Changed(FileState {
            stamp,
            digest,
            fresh: Vec::new(),
            kept: Vec::new(),
            problems: vec![problem],
        })
    };
    if file.stamp.bytes > text::MAX_FILE_BYTES {
        let fault = text::too_large(file.stamp.bytes);
        return broken(problem(&Arc::new(file.path.clone()), Severity::Error, fault));
    }
    let bytes = match read_file(&file.path) {
        Ok(bytes) => bytes,
        Err(problem) => return broken(*problem),
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let digest = hasher.finish();
    if known.is_some_and(|known| known.digest == digest) {
        return Read::Same(file.stamp);
    }
    let parsed = parse(&file.path, &bytes);
    Read::Changed(FileState {
        // The size as read: the file may have grown since it was listed.
        stamp: Stamp { bytes: bytes.len() as u64, ..file.stamp },
        digest,
        fresh: parsed.objects,
        kept: Vec::new(),
        problems: parsed.problems,
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>, Box<Problem>> {
    // A device has no size that could be looked at before.
    let read = || {
        let mut bytes = Vec::new();
        fs_err::File::open(path)?.take(text::MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| {
        let fix = "check that the file exists and may be read";
        Box::new(files::at(path, Severity::Error, files::cause(&error), fix))
    })
}
