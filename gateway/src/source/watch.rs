//! Notices that something below some paths has changed.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{AccessKind, AccessMode};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// What wakes a [`Watcher`].
pub(super) enum Signal {
    /// Something happened below a path.
    Changed,
    /// Nobody wants the catalog any more.
    Stop,
}

/// How long nothing must happen before files are read: whoever writes several of them, or one in several steps, is
/// through by then.
const QUIET: Duration = Duration::from_millis(100);
/// Changes that never pause are read after this time nevertheless.
const MOST: Duration = Duration::from_millis(400);
/// Times between looks at the files' metadata, for file systems that report nothing (network mounts) and for what
/// happens while a watch is being set up.
const POLL: Duration = Duration::from_secs(2);
/// Files looked at, at most, and levels of folders.
const MAX_FILES: usize = 200_000;
const MAX_LEVELS: usize = 32;

/// Watches paths. Holds the system's watches, if it has any, and remembers how the files looked.
pub(super) struct Watcher {
    paths: Vec<PathBuf>,
    signals: Receiver<Signal>,
    native: Option<RecommendedWatcher>,
    seen: Fingerprint,
}

impl Watcher {
    /// Starts watching. Where the system can't (no inotify instances left), looks at the files every two seconds.
    pub fn new(paths: Vec<PathBuf>, sender: Sender<Signal>, signals: Receiver<Signal>) -> Self {
        let native = native(&paths, sender);
        let mut watcher = Self { seen: Fingerprint::of(&paths), paths, signals, native };
        watcher.renew();
        watcher
    }

    /// Waits until something has changed and then nothing for a moment; false: it is time to stop.
    pub fn wait(&mut self) -> bool {
        loop {
            match self.signals.recv_timeout(POLL) {
                Ok(Signal::Changed) => {
                    if !self.settle() {
                        return false;
                    }
                    self.look();
                    return true;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.look() {
                        return true;
                    }
                }
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Waits for a pause between changes; false: it is time to stop.
    fn settle(&self) -> bool {
        let deadline = Instant::now() + MOST;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.signals.recv_timeout(QUIET.min(rest)) {
                Ok(Signal::Changed) if rest.is_zero() => return true,
                Ok(Signal::Changed) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Looks at the files' metadata: whether it differs from last time. Waits once more for a file that has just
    /// become empty, because that is how a file looks between being opened for writing and being written.
    fn look(&mut self) -> bool {
        let mut now = Fingerprint::of(&self.paths);
        if now.emptied_since(&self.seen) {
            std::thread::sleep(QUIET);
            now = Fingerprint::of(&self.paths);
        }
        let changed = now != self.seen;
        let replaced = now.roots != self.seen.roots;
        self.seen = now;
        if replaced {
            // The system still watches the old folder or file.
            self.renew();
        }
        changed
    }

    /// Sets the system's watches on what is there now.
    fn renew(&mut self) {
        let Some(native) = &mut self.native else { return };
        for path in &self.paths {
            let recursive =
                if path.is_dir() { Some((path.as_path(), RecursiveMode::Recursive)) } else { None };
            // The folder around a path sees it being replaced, removed and made again.
            let around =
                path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let around = Some((around, RecursiveMode::NonRecursive));
            for (path, mode) in [around, recursive].into_iter().flatten() {
                if let Err(error) = native.watch(path, mode) {
                    tracing::debug!(path = %path.display(), %error, "no events of this path, its metadata is polled");
                }
            }
        }
    }
}

fn native(paths: &[PathBuf], sender: Sender<Signal>) -> Option<RecommendedWatcher> {
    // Events name absolute paths; a path that can't be resolved now is matched by its name.
    let roots: Vec<PathBuf> =
        paths.iter().flat_map(|path| [fs_err::canonicalize(path).ok(), absolute(path)]).flatten().collect();
    let handler = move |event: notify::Result<Event>| {
        let relevant = match event {
            Ok(event) => event.need_rescan() || (changes(event.kind) && concerns(&event, &roots)),
            // An overflow or a lost watch: something may have happened.
            Err(_) => true,
        };
        if relevant {
            // The receiver is gone only when the source is.
            drop(sender.send(Signal::Changed));
        }
    };
    match RecommendedWatcher::new(handler, Config::default()) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "the system reports no file events, so files are looked at every two seconds");
            None
        }
    }
}

/// Whether files may differ afterwards. Reading files is an event too, our own reading included.
fn changes(kind: EventKind) -> bool {
    let written = AccessKind::Close(AccessMode::Write);
    match kind {
        EventKind::Access(kind) => kind == written,
        _ => true,
    }
}

/// Whether the event is about one of the roots or something below. One without a path may be about anything.
fn concerns(event: &Event, roots: &[PathBuf]) -> bool {
    event.paths.is_empty() || event.paths.iter().any(|path| roots.iter().any(|root| path.starts_with(root)))
}

fn absolute(path: &Path) -> Option<PathBuf> {
    std::path::absolute(path).ok()
}

/// How the files below some paths look from outside.
#[derive(Default, PartialEq, Eq)]
struct Fingerprint {
    /// A hash of each file's name, length, time of modification and inode; whether it is empty.
    files: BTreeMap<PathBuf, (u64, bool)>,
    /// The paths' own inodes; none: not there.
    roots: Vec<Option<u64>>,
}

impl Fingerprint {
    fn of(paths: &[PathBuf]) -> Self {
        let mut fingerprint = Self::default();
        for path in paths {
            fingerprint.roots.push(fs_err::metadata(path).ok().map(|metadata| inode(&metadata)));
            fingerprint.add(path, 0);
        }
        fingerprint
    }

    fn add(&mut self, path: &Path, level: usize) {
        if level > MAX_LEVELS || self.files.len() >= MAX_FILES {
            return;
        }
        let Ok(metadata) = fs_err::metadata(path) else { return };
        if metadata.is_dir() {
            let Ok(entries) = fs_err::read_dir(path) else { return };
            for entry in entries.flatten() {
                self.add(&entry.path(), level + 1);
            }
            return;
        }
        let mut hasher = DefaultHasher::new();
        metadata.len().hash(&mut hasher);
        metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH).hash(&mut hasher);
        inode(&metadata).hash(&mut hasher);
        self.files.insert(path.to_owned(), (hasher.finish(), metadata.len() == 0));
    }

    /// Whether a file is empty now that wasn't before.
    fn emptied_since(&self, before: &Self) -> bool {
        let emptied = |(path, (_, empty)): (&PathBuf, &(u64, bool))| {
            *empty && before.files.get(path).is_some_and(|(_, was_empty)| !was_empty)
        };
        self.files.iter().any(emptied)
    }
}

#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}
