//! The folder of one call: working folder, temporary files and session file of the tool, removed with the call.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The folder of one call.
#[derive(Debug)]
pub struct Workspace {
    folder: Option<TempDir>,
    path: PathBuf,
}

impl Workspace {
    /// Makes the folder in `parent`, for this user only.
    pub fn create(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("mcc-call-").tempdir_in(parent)?;
        let workspace = Self { path: folder.path().canonicalize()?, folder: Some(folder) };
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
        let path = folder.keep();
        if fs_err::remove_dir_all(&path).is_ok() {
            return;
        }
        // A tool may have taken the write permission from its own folders.
        make_writable(&path);
        if let Err(error) = fs_err::remove_dir_all(&path) {
            tracing::warn!(%error, "the folder of a call could not be removed");
        }
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
}
