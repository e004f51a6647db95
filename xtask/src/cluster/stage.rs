//! What PID 1 of the node does before it starts a program: the mounts and the network of its own namespaces.
//!
//! `/run`, `/var/lib` and `/var/log` are the cluster's own, so programs keep their usual paths and leave nothing on the
//! machine. All of it ends with the namespaces.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::addresses::Addresses;
use super::{command, parts};

/// The built programs, as the node sees them.
pub const PROGRAMS: &str = "/run/mcc/programs";
/// Keys and kubeconfigs.
pub const PKI: &str = "/run/mcc/pki";
/// Configuration files.
pub const CONFIG: &str = "/run/mcc/config";
/// Logs of the programs.
pub const LOG: &str = "/run/mcc/log";
/// containerd's socket.
pub const CONTAINERD: &str = "/run/containerd/containerd.sock";

/// What the kubelet would set for the whole machine; it leaves alone what already has its value.
const SYSCTLS: [(&str, &str); 5] = [
    ("vm/overcommit_memory", "1"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

/// What the node needs to know; it comes by standard input once the machine has given it its interface.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stage {
    /// The folder in which `/run` is put together.
    pub run: PathBuf,
    /// What becomes `/var/lib` and `/var/log`.
    pub data: PathBuf,
    /// What the node finds under which path.
    pub folders: Vec<(PathBuf, String)>,
    /// Its addresses.
    pub addresses: Addresses,
}

impl Stage {
    /// Makes mounts and network.
    pub fn prepare(&self) -> Result<()> {
        self.mounts().context("can't make the node's mounts")?;
        self.network().context("can't make the node's network")
    }

    fn mounts(&self) -> Result<()> {
        mount(&["-t", "tmpfs", "-o", "mode=755", "mcc-run"], &self.run)?;
        // Sources are resolved before /run and /var/lib hide them.
        for (source, target) in &self.folders {
            let target = self.run.join(target.trim_start_matches("/run/"));
            fs_err::create_dir_all(&target)?;
            bind(source, &target)?;
        }
        let values = self.run.join("mcc/sysctl");
        for (name, value) in SYSCTLS {
            let file = values.join(name);
            fs_err::create_dir_all(file.parent().unwrap_or(&values))?;
            fs_err::write(&file, format!("{value}\n"))?;
            if Path::new("/proc/sys").join(name).exists() {
                bind(&file, &Path::new("/proc/sys").join(name))?;
            }
        }
        let (library, log) = (self.data.join("lib"), self.data.join("log"));
        let (new_library, new_log) = (self.run.join("mcc/lib"), self.run.join("mcc/logs"));
        for (source, target) in [(&library, &new_library), (&log, &new_log)] {
            fs_err::create_dir_all(target)?;
            bind(source, target)?;
        }
        mount(&["--rbind", &self.run.to_string_lossy()], Path::new("/run"))?;
        bind(Path::new("/run/mcc/lib"), Path::new("/var/lib"))?;
        bind(Path::new("/run/mcc/logs"), Path::new("/var/log"))?;
        // Volumes with mount propagation need it; nothing leaves this namespace.
        command::call("mount", "--make-rshared /").map(drop)
    }

    fn network(&self) -> Result<()> {
        let (node, machine) = (self.addresses.node(), self.addresses.machine());
        let ip = |arguments: &str| command::call("ip", arguments);
        ip("link set lo up")?;
        for address in parts::LOCAL_ADDRESSES {
            ip(&format!("address add {address}/32 dev lo"))?;
        }
        ip(&format!("address add {node}/30 dev eth0"))?;
        ip("link set eth0 up")?;
        ip(&format!("route add default via {machine}"))?;
        Ok(fs_err::write("/proc/sys/net/ipv4/ip_forward", "1")?)
    }
}

fn bind(source: &Path, target: &Path) -> Result<()> {
    mount(&["--bind", &source.to_string_lossy()], target)
}

fn mount(arguments: &[&str], target: &Path) -> Result<()> {
    command::run(command::command("mount").args(arguments).arg(target)).map(drop)
}
