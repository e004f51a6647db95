//! The node's programs, built once from `tests/cluster/node` by Go and kept in the cache.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::images::digest;
use super::{command, progress, requirements, root};
use crate::workspace;

/// What the one program can be called as.
pub const NAMES: [&str; 8] = [
    "coredns",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
];

const FILES: [&str; 3] = ["go.mod", "go.sum", "main.go"];
/// The module whose version the programs report.
const KUBERNETES: &str = "k8s.io/kubernetes";
/// About how many packages a build from nothing compiles.
const PACKAGES: usize = 2800;
const REPORT_EVERY: Duration = Duration::from_secs(20);

/// The folder of the programs, built if this version isn't there.
pub fn get(cache: &Path) -> Result<PathBuf> {
    let source = workspace::root().join("tests/cluster/node");
    let mut recipe = vec![NAMES.join(" "), std::env::consts::ARCH.to_owned()];
    for file in FILES {
        recipe.push(fs_err::read_to_string(source.join(file))?);
    }
    let folder = cache.join(format!("programs-{}", digest(&recipe.concat())));
    if folder.is_dir() {
        return Ok(folder);
    }
    let _one_at_a_time = root::lock(&cache.join("lock"), cache)?;
    if folder.is_dir() {
        return Ok(folder);
    }
    ensure!(
        requirements::has("go"),
        "Go is missing: install go 1.24 or newer, to build the node's programs once"
    );
    let new = folder.with_extension("new");
    if new.exists() {
        fs_err::remove_dir_all(&new)?;
    }
    fs_err::create_dir_all(&new)?;
    progress::say("building Kubernetes and CoreDNS: minutes the first time, seconds from Go's cache");
    progress::step("built Kubernetes and CoreDNS", || build(&source, &new.join("node")))?;
    for name in NAMES {
        symlink("node", new.join(name))?;
    }
    fs_err::rename(new, &folder)?;
    Ok(folder)
}

fn build(source: &Path, output: &Path) -> Result<()> {
    let mut go = command::command("go");
    go.args(["list", "-m", "-f", "{{.Version}}", KUBERNETES]).current_dir(source);
    let version = command::run(&mut go)?.trim().to_owned();
    let mut child = command::command("go")
        .args(["build", "-v", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags"])
        .arg(format!("-s -w -X k8s.io/component-base/version.gitVersion={version}"))
        .arg("-o")
        .arg(output)
        .arg(".")
        .current_dir(source)
        .env("CGO_ENABLED", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("can't start go")?;
    // With -v it names each package that it compiles.
    let (mut end, mut compiled, mut reported) = (VecDeque::new(), 0, Instant::now());
    for line in child
        .stderr
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(|said| said.lines().map_while(Result::ok))
    {
        compiled += usize::from(!line.contains(' '));
        end.push_back(line);
        if end.len() > 20 {
            end.pop_front();
        }
        if reported.elapsed() > REPORT_EVERY {
            reported = Instant::now();
            progress::say(format_args!("  compiled {compiled} of at most about {PACKAGES} packages"));
        }
    }
    let status = child.wait()?;
    ensure!(
        status.success(),
        "go build in {} failed:\n{}",
        source.display(),
        end.make_contiguous().join("\n")
    );
    Ok(())
}
