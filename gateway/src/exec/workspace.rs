//! The folder of one call: working folder, temporary files and session file of the tool, removed with the call.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// Beginning of the folders' names.
const PREFIX: &str = "mcc-call-";
/// File in a folder that its program holds locked while it lives.
const LOCK: &str = "lock";
/// A folder younger than this may be one that is being made.
const SETTLED: Duration = Duration::from_secs(60);

/// The folder of one call.
#[derive(Debug)]
pub struct Workspace {
    folder: Option<TempDir>,
    path: PathBuf,
    /// Tells others that this folder is in use, until the system closes it for us.
    _lock: File,
}

/// Removes the folders that programs left which were killed before they could.
pub fn sweep(parent: &Path) {
    let Ok(entries) = fs_err::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if ours && is_left(&entry.path()) {
            remove(&entry.path());
        }
    }
}

/// Whether nobody uses the folder any more. Whatever can't be told isn't left.
fn is_left(folder: &Path) -> bool {
    let age = fs_err::metadata(folder).and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
    let settled = age.is_ok_and(|age| age.is_ok_and(|age| age > SETTLED));
    settled && File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

impl Workspace {
    /// Makes the folder in `parent`, for this user only.
    pub fn create(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = File::create(folder.path().join(LOCK))?;
        lock.lock()?;
        let workspace = Self { path: folder.path().canonicalize()?, folder: Some(folder), _lock: lock };
        fs_err::create_dir(workspace.working_folder())?;
        fs_err::create_dir(workspace.temporary_folder())?;
        Ok(workspace)
    }

    /// Where the tool starts.
    pub fn working_folder(&self) -> PathBuf {
        self.path.join("work")
    }

    /// `TMPDIR` of the tool.
    pub fn temporary_folder(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// `MCC_SESSION` of the tool.
    pub fn session_file(&self) -> PathBuf {
        self.path.join("session")
    }

    /// Removes it with all that the tool made in it.
    pub fn remove(mut self) {
        self.remove_now();
    }

    fn remove_now(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        remove(&folder.keep());
    }
}

fn remove(folder: &Path) {
    if fs_err::remove_dir_all(folder).is_ok() {
        return;
    }
    // A tool may have taken the write permission from its own folders.
    make_writable(folder);
    if let Err(error) = fs_err::remove_dir_all(folder) {
        tracing::warn!(%error, "the folder of a call could not be removed");
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.remove_now();
    }
}

fn make_writable(folder: &Path) {
    let _ = fs_err::set_permissions(folder, Permissions::from_mode(0o700));
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_folders_without_permissions() {
        let parent = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(parent.path()).unwrap();
        let inner = workspace.working_folder().join("a/b");
        fs_err::create_dir_all(&inner).unwrap();
        fs_err::set_permissions(&inner, Permissions::from_mode(0o000)).unwrap();
        fs_err::set_permissions(inner.parent().unwrap(), Permissions::from_mode(0o500)).unwrap();
        workspace.remove();
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_of_programs_that_were_killed_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let used = Workspace::create(parent.path()).unwrap();
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        let make = |name: &str, lock: bool, time| {
            let folder = parent.path().join(name);
            fs_err::create_dir_all(folder.join("work")).unwrap();
            if lock {
                fs_err::write(folder.join(LOCK), "").unwrap();
            }
            File::open(&folder).unwrap().set_modified(time).unwrap();
            folder
        };
        File::open(&used.path).unwrap().set_modified(old).unwrap();
        let left = make("mcc-call-left", true, old);
        let kept = [
            make("mcc-call-young", true, std::time::SystemTime::now()),
            make("mcc-call-unlocked", false, old),
            make("other", true, old),
            used.path.clone(),
        ];
        sweep(parent.path());
        assert!(!left.exists());
        assert!(kept.iter().all(|folder| folder.exists()), "{kept:?}");
    }
}
