//! The control group of a cluster: what the kubelet makes its pods' in, in every hierarchy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

const MOUNT: &str = "/sys/fs/cgroup";
/// What the kubelet needs of a unified hierarchy.
const CONTROLLERS: [&str; 5] = ["cpu", "cpuset", "io", "memory", "pids"];
/// How long the kernel may take to empty the groups of ended processes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether the machine has one hierarchy for all controllers.
fn is_unified() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// The roots of the machine's hierarchies, each once.
fn hierarchies() -> Result<Vec<PathBuf>> {
    if is_unified() {
        return Ok(vec![PathBuf::from(MOUNT)]);
    }
    let mut found = Vec::new();
    for entry in fs_err::read_dir(MOUNT)? {
        let entry = entry?;
        // `cpu` may be a link to `cpu,cpuacct`.
        if entry.file_type()?.is_dir() && entry.path().join("cgroup.procs").exists() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Makes the group.
pub fn create(name: &str) -> Result<()> {
    if is_unified() {
        delegate(Path::new(MOUNT))?;
    }
    for hierarchy in hierarchies()? {
        let group = hierarchy.join(name);
        fs_err::create_dir_all(&group).context("can't make control groups: is /sys/fs/cgroup writable?")?;
        // A new group of the first version has no processors and no memory, so nothing could run in it.
        for file in ["cpuset.cpus", "cpuset.mems"] {
            if !is_unified() && group.join(file).exists() {
                let value = fs_err::read_to_string(hierarchy.join(file))?;
                fs_err::write(group.join(file), value.trim())?;
            }
        }
        if is_unified() {
            delegate(&group)?;
        }
    }
    Ok(())
}

/// Lets the groups within a group have the controllers.
fn delegate(group: &Path) -> Result<()> {
    let file = group.join("cgroup.subtree_control");
    let enabled = fs_err::read_to_string(&file)?;
    for controller in CONTROLLERS {
        if !enabled.split_whitespace().any(|enabled| enabled == controller) {
            fs_err::write(&file, format!("+{controller}")).with_context(|| {
                format!(
                    "can't let groups within {} have the controller {controller}: in a container, move its \
                     processes to a group of their own first, or give it the machine's control groups",
                    group.display()
                )
            })?;
        }
    }
    Ok(())
}

/// Removes the group and all within it; its processes have ended.
pub fn remove(name: &str) -> Result<()> {
    let began = Instant::now();
    for hierarchy in hierarchies()? {
        let group = hierarchy.join(name);
        while group.exists() {
            match remove_tree(&group) {
                Ok(()) => break,
                // Freeing memory takes the kernel a moment.
                Err(_) if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!(
                            "can't remove {}: see cgroup.procs there for what still runs",
                            group.display()
                        )
                    });
                }
            }
        }
    }
    Ok(())
}

fn remove_tree(group: &Path) -> std::io::Result<()> {
    for entry in fs_err::read_dir(group)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    fs_err::remove_dir(group)
}
