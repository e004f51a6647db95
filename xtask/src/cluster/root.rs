//! The folder of a cluster, and the cache that all clusters share.

use std::fs::{File, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::addresses::Addresses;
use super::processes::Identity;
use super::{Place, progress};

/// What a cluster has in its folder besides logs, lock and state.
const OWN: [&str; 5] = ["pki", "config", "data", "run", "kubectl-cache"];

/// A cluster's folder.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

/// What must be known to find a started cluster again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Its addresses and names.
    pub addresses: Addresses,
    /// The folder of its programs.
    pub programs: PathBuf,
    /// What it was started from: another recipe means another cluster.
    pub recipe: String,
    /// PID 1 of the node; none while it starts.
    pub init: Option<Identity>,
}

impl Root {
    /// The folder of the command line; it needn't exist.
    pub fn new(place: &Place) -> Result<Self> {
        Ok(Self { path: std::path::absolute(&place.root)? })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keys, and kubeconfigs of the node's programs.
    pub fn pki(&self) -> PathBuf {
        self.path.join("pki")
    }

    /// Configuration files of the node's programs.
    pub fn config(&self) -> PathBuf {
        self.path.join("config")
    }

    /// One log a program.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// What the node sees as `/var/lib` and `/var/log`.
    pub fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Where the node's `/run` is put together.
    pub fn run(&self) -> PathBuf {
        self.path.join("run")
    }

    /// kubectl's cache, so that nobody's home folder gets one.
    pub fn kubectl_cache(&self) -> PathBuf {
        self.path.join("kubectl-cache")
    }

    /// The administrator's kubeconfig; it holds its keys.
    pub fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }

    /// A link to the folder of its programs, kubectl among them.
    pub fn programs(&self) -> PathBuf {
        self.path.join("bin")
    }

    fn state_file(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// Makes the folder, for root only, and holds it until the file is dropped.
    pub fn lock(&self) -> Result<File> {
        fs_err::create_dir_all(&self.path)?;
        fs_err::set_permissions(&self.path, std::fs::Permissions::from_mode(0o700))?;
        lock(&self.path.join("lock"), &self.path)
    }

    /// What is known of a started cluster.
    pub fn state(&self) -> Result<Option<State>> {
        let file = self.state_file();
        if !file.exists() {
            return Ok(None);
        }
        let text = fs_err::read_to_string(&file)?;
        let state = serde_json::from_str(&text).with_context(|| {
            format!(
                "{} can't be read: end the cluster's processes by hand, then remove the folder",
                file.display()
            )
        })?;
        Ok(Some(state))
    }

    /// Writes what is known, whole or not at all.
    pub fn save(&self, state: &State) -> Result<()> {
        let new = self.path.join("state.json.new");
        fs_err::write(&new, serde_json::to_string_pretty(state)?)?;
        Ok(fs_err::rename(new, self.state_file())?)
    }

    /// Whether the node was given the images of the tests.
    pub fn is_loaded(&self) -> bool {
        self.data().join("images-loaded").exists()
    }

    /// Remembers that it was.
    pub fn set_loaded(&self) -> Result<()> {
        Ok(fs_err::write(self.data().join("images-loaded"), "")?)
    }

    /// Removes everything of the cluster but its logs.
    pub fn clear(&self) -> Result<()> {
        let mounts = fs_err::read_to_string("/proc/self/mounts")?;
        let mounted = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        if let Some(mount) = mounted.into_iter().find(|mount| Path::new(mount).starts_with(&self.path)) {
            bail!("{mount} is mounted, and not by a cluster, whose mounts end with it: unmount it first");
        }
        for name in OWN {
            let folder = self.path.join(name);
            if folder.exists() {
                fs_err::remove_dir_all(folder)?;
            }
        }
        for file in [self.programs(), self.kubeconfig(), self.state_file()] {
            if file.symlink_metadata().is_ok() {
                fs_err::remove_file(file)?;
            }
        }
        Ok(())
    }
}

/// The cache's folder.
pub fn cache(place: &Place) -> Result<PathBuf> {
    let named = place.cache.clone();
    let users = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::home_dir().map(|home| home.join(".cache"));
    let folder = named.or_else(|| Some(users().or_else(home)?.join("mcc/cluster")));
    let folder = folder.context("there is no home folder for the cache: name one with --cache")?;
    fs_err::create_dir_all(&folder)?;
    Ok(std::path::absolute(folder)?)
}

/// Takes a lock file, waiting for whoever has it.
pub fn lock(file: &Path, what: &Path) -> Result<File> {
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    let held = File::create(file).with_context(|| format!("can't make {}", file.display()))?;
    match held.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress::say(format_args!("waiting for another command that works in {}", what.display()));
            held.lock()?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("can't lock {}", file.display()));
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_a_root_removes_only_what_is_a_clusters() {
        let folder = std::env::temp_dir().join(format!("mcc-root-{}", std::process::id()));
        let root = Root { path: folder.clone() };
        drop(root.lock().unwrap());
        fs_err::create_dir_all(root.data().join("lib/kubelet")).unwrap();
        fs_err::create_dir_all(root.log()).unwrap();
        fs_err::write(root.log().join("etcd.log"), "kept").unwrap();
        fs_err::write(folder.join("letter.txt"), "somebody's").unwrap();
        let addresses = Addresses::candidates([10, 87]).next().unwrap();
        let state = State { addresses, programs: folder.clone(), recipe: "r".to_owned(), init: None };
        root.save(&state).unwrap();
        assert_eq!(root.state().unwrap().unwrap().addresses, addresses);
        root.clear().unwrap();
        assert!(root.state().unwrap().is_none() && !root.data().exists());
        assert!(root.log().join("etcd.log").exists() && folder.join("letter.txt").exists());
        fs_err::remove_dir_all(folder).unwrap();
    }
}
