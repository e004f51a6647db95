//! Which files a folder offers.

use std::collections::HashSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::model::{Place, Problem, Reason, Severity};

/// Deepest nesting of folders.
const MAX_DEPTH: usize = 32;
/// Extensions of manifests in a folder. A file that is named itself may have any.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A manifest file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub path: PathBuf,
    pub stamp: Stamp,
}

/// What tells that a file may have changed, without reading it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    pub modified: Option<SystemTime>,
    pub bytes: u64,
    pub device: u64,
    pub inode: u64,
}

impl Stamp {
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            modified: metadata.modified().ok(),
            bytes: metadata.len(),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// The files of all sources, each once.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// By path.
    pub files: Vec<Found>,
    /// Files and folders that couldn't be looked at.
    pub problems: Vec<Problem>,
    /// Paths of these: what was known below them still counts.
    pub unreachable: Vec<PathBuf>,
    seen: HashSet<(u64, u64)>,
}

/// Lists the manifests of files and folders. Hidden files and folders are passed over, as the folders behind a mounted
/// ConfigMap (`..data`) are; symbolic links are followed, and what two ways lead to is listed once.
pub(super) fn list(sources: &[PathBuf]) -> Listing {
    let mut listing = Listing::default();
    for source in sources {
        listing.visit(source, 0);
    }
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

impl Listing {
    fn visit(&mut self, path: &Path, depth: usize) {
        let metadata = match fs_err::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.unreachable(path, &error),
        };
        if !(metadata.is_dir() || metadata.is_file() || depth == 0) {
            return;
        }
        if !self.seen.insert((metadata.dev(), metadata.ino())) {
            return;
        }
        if metadata.is_dir() {
            self.folder(path, depth);
        } else if depth == 0 || is_manifest(path) {
            self.files.push(Found { path: path.to_path_buf(), stamp: Stamp::of(&metadata) });
        }
    }

    fn folder(&mut self, path: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            let message = format!("folders are nested more than {MAX_DEPTH} deep");
            self.problems.push(at(path, Severity::Error, message, "name the inner folder itself"));
            return;
        }
        let entries = fs_err::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreachable(path, &error),
        };
        entries.sort_by_key(fs_err::DirEntry::file_name);
        for entry in entries {
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let plain_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if !hidden && (!plain_file || is_manifest(&entry.path())) {
                self.visit(&entry.path(), depth + 1);
            }
        }
    }

    fn unreachable(&mut self, path: &Path, error: &io::Error) {
        let fix = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "allow this user to read it",
            _ => "check the file system",
        };
        self.problems.push(at(path, Severity::Error, cause(error), fix));
        self.unreachable.push(path.to_path_buf());
    }
}

/// A problem with a file as a whole.
pub(super) fn at(path: &Path, severity: Severity, message: String, fix: &str) -> Problem {
    Problem {
        severity,
        reason: Reason::UnreadableFile,
        object: None,
        place: Some(Place { file: Arc::new(path.to_path_buf()), line: 1, column: 1 }),
        path: String::new(),
        message,
        fix: fix.to_owned(),
    }
}

/// The operating system's words for an error, without the path that the place names already.
pub(super) fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "it can't be read: permission denied".to_owned(),
        kind => format!("it can't be read: {kind}"),
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}
