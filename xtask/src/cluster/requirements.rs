//! What the machine must have, looked for before anything is begun.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use nix::unistd::Uid;

use super::command;

/// Programs that a running node needs, and Debian's packages of them.
const RUN: [(&str, &str); 9] = [
    ("containerd", "containerd"),
    ("containerd-shim-runc-v2", "containerd"),
    ("ctr", "containerd"),
    ("ip", "iproute2"),
    ("iptables", "iptables"),
    ("conntrack", "conntrack"),
    ("openssl", "openssl"),
    ("runc", "runc"),
    ("unshare", "util-linux"),
];

/// Where distributions put the CNI plugins.
const CNI_FOLDERS: [&str; 3] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

/// Says what is missing for a node.
pub fn check() -> Result<()> {
    root()?;
    let mut missing: Vec<_> =
        RUN.iter().filter(|(program, _)| !has(program)).map(|(_, package)| *package).collect();
    if cni_plugins().is_err() {
        missing.push("containernetworking-plugins");
    }
    missing.dedup();
    ensure!(
        missing.is_empty(),
        "missing on this machine: {}; `scripts/setup cluster` installs it",
        missing.join(", ")
    );
    Ok(())
}

/// Only root makes namespaces and control groups.
pub fn root() -> Result<()> {
    ensure!(
        Uid::effective().is_root(),
        "a cluster needs root: run this as root, e.g. with `sudo -E env PATH=\"$PATH\"`"
    );
    Ok(())
}

/// The folder of the CNI plugins.
pub fn cni_plugins() -> Result<&'static str> {
    let found = CNI_FOLDERS.into_iter().find(|folder| Path::new(folder).join("ptp").exists());
    let Some(folder) = found else {
        bail!("no CNI plugins in {}: `scripts/setup cluster` installs them", CNI_FOLDERS.join(", "));
    };
    Ok(folder)
}

/// Whether a program is on the search path.
pub fn has(program: &str) -> bool {
    std::env::split_paths(&command::path()).any(|folder| folder.join(program).is_file())
}
