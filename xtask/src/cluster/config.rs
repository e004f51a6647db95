//! Configuration files of the node's programs, from `tests/cluster/config`.

use std::path::Path;

use anyhow::Result;

use super::addresses::Addresses;
use super::root::Root;
use super::{command, progress, requirements};

/// Names and contents; `@…@` is filled in.
const FILES: [(&str, &str); 4] = [
    ("cni/10-mcc.conflist", include_str!("../../../tests/cluster/config/cni.conflist")),
    ("containerd.toml", include_str!("../../../tests/cluster/config/containerd.toml")),
    ("kubelet.yaml", include_str!("../../../tests/cluster/config/kubelet.yaml")),
    ("Corefile", include_str!("../../../tests/cluster/config/Corefile")),
];

/// The files as the repository has them: part of what a cluster is started from.
pub fn recipe() -> String {
    FILES.map(|(_, text)| text).concat()
}

/// Writes the files.
pub fn write(root: &Root, addresses: Addresses) -> Result<()> {
    fs_err::create_dir_all(root.config().join("cni"))?;
    let cgroup = format!("/{}", addresses.cgroup());
    let plugins = requirements::cni_plugins()?;
    let snapshotter = snapshotter(&root.data())?;
    for (name, text) in FILES {
        let text = text.replace("@CGROUP@", &cgroup).replace("@SNAPSHOTTER@", snapshotter);
        fs_err::write(root.config().join(name), text.replace("@CNI_PLUGINS@", plugins))?;
    }
    Ok(())
}

/// How containerd makes root file systems in a folder: in layers where the file system of the folder can carry them.
fn snapshotter(data: &Path) -> Result<&'static str> {
    let probe = data.join("overlay");
    for name in ["lower", "upper", "work", "merged"] {
        fs_err::create_dir_all(probe.join(name))?;
    }
    let options = format!("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", probe.display());
    let mut mount = command::command("unshare");
    mount.args(["--mount", "mount", "-t", "overlay", "overlay", "-o", &options]).arg(probe.join("merged"));
    let layers = command::run(&mut mount);
    fs_err::remove_dir_all(probe)?;
    if layers.is_ok() {
        return Ok("overlayfs");
    }
    progress::say(format_args!("no overlay in {}: images are copied for each container", data.display()));
    Ok("native")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::addresses;

    #[test]
    fn the_files_agree_with_the_addresses() {
        let files: std::collections::BTreeMap<_, _> = FILES.into_iter().collect();
        assert!(files["cni/10-mcc.conflist"].contains(addresses::PODS));
        assert!(files["kubelet.yaml"].contains(&format!("clusterDNS: [{}]", addresses::DNS)));
        assert!(files["Corefile"].contains(&format!("bind {}", addresses::DNS)));
        assert!(files["Corefile"].contains(&format!(":{}", addresses::DNS_READY_PORT)));
    }
}
