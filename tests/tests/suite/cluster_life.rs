//! `cargo xtask cluster`: started twice, killed in parts and whole, and gone without a trace.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use mcc_tests::cluster::{BUSYBOX, Cluster};
use mcc_tests::workspace;
use serde_json::Value;

/// A cluster of this test alone, ended with it.
struct Own {
    root: PathBuf,
}

impl Own {
    fn xtask(&self, arguments: &[&str]) -> Result<std::process::Output> {
        let mut xtask = Command::new(workspace::program("xtask")?);
        Ok(xtask.args(["cluster", "--root"]).arg(&self.root).args(arguments).output()?)
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.xtask(arguments)?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts or mends it.
    fn up(&self) -> Result<Cluster> {
        Ok(Cluster::new(Path::new(self.run(&["up"])?.trim())))
    }

    fn status(&self) -> Result<Value> {
        let output = self.xtask(&["status", "--output=json"])?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.xtask(&["down"]);
    }
}

fn kill(pid: i64) -> Result<()> {
    ensure!(Command::new("kill").args(["-9", &pid.to_string()]).status()?.success(), "no process {pid}");
    Ok(())
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output().with_context(|| program.to_owned())?;
    ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// What a cluster could leave on the machine: interfaces, mounts, control groups, rules, global settings, state folders.
fn traces() -> Result<BTreeSet<String>> {
    let mut traces = BTreeSet::new();
    let mut add = |text: String| traces.extend(text.lines().map(str::to_owned));
    add(output("ip", &["-brief", "link"])?
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect::<Vec<_>>()
        .join("\n"));
    add(fs_err::read_to_string("/proc/self/mounts")?);
    for table in ["filter", "nat", "mangle"] {
        add(output("/usr/sbin/iptables", &["--table", table, "--list-rules"])?);
    }
    for setting in ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"] {
        add(format!("{setting} {}", fs_err::read_to_string(Path::new("/proc/sys").join(setting))?));
    }
    for folder in ["/var/lib", "/var/log", "/run", "/run/netns", "/opt", "/tmp", "/usr/libexec/kubernetes"] {
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
        traces.extend(
            entries.map(|entry| entry.path().display().to_string()).filter(|path| !is_of_others(path)),
        );
    }
    Ok(traces)
}

/// Temporary files of tests that run at the same time.
fn is_of_others(path: &str) -> bool {
    path.starts_with("/tmp/")
        && !["containerd", "kube", "etcd", "ctr", "cni", "coredns"].iter().any(|name| path.contains(name))
}

/// A process: its id, and when it started.
type Process = (String, String);

/// The processes in the process namespace of the node's PID 1.
fn processes(init: i64) -> Result<Vec<Process>> {
    let namespace = std::fs::read_link(format!("/proc/{init}/ns/pid"))?;
    let ids =
        fs_err::read_dir("/proc")?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let within =
        |id: &String| std::fs::read_link(format!("/proc/{id}/ns/pid")).is_ok_and(|link| link == namespace);
    Ok(ids.filter(within).filter_map(|id| Some((id.clone(), started(&id)?))).collect())
}

/// When a process started, in ticks since boot; the 22nd field, the 20th after the name in parentheses.
fn started(id: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(19).map(str::to_owned)
}

/// Those that are still there.
fn left(processes: &[Process]) -> Vec<&Process> {
    processes.iter().filter(|(id, start)| started(id).as_ref() == Some(start)).collect()
}

fn cgroups(node: &str) -> Result<String> {
    let index = node.split('.').nth(2).context("no third byte")?;
    output("find", &["/sys/fs/cgroup", "-maxdepth", "2", "-name", &format!("mcc-cluster-{index}")])
}

#[test]
fn a_cluster_survives_the_death_of_its_parts_and_leaves_nothing() -> Result<()> {
    const NAME: &str = "cluster_life::a_cluster_survives_the_death_of_its_parts_and_leaves_nothing";
    // The cluster of the run may be somebody else's; one of our own needs root.
    if fs_err::metadata("/proc/self")?.uid() != 0 {
        workspace::skip(NAME, "not root, so there is no Kubernetes node");
        return Ok(());
    }
    if Cluster::of_this_run(NAME).is_none() {
        return Ok(());
    }
    let folder = tempfile::tempdir_in("/var/tmp")?;
    let own = Own { root: folder.path().join("root") };
    let before = traces()?;

    // Up, and up again: the same cluster.
    let cluster = own.up()?;
    let namespace = cluster.namespace(&[])?;
    namespace.run(&["create", "configmap", "kept"])?;
    let first = own.status()?;
    ensure!(first["ready"] == true, "{first}");
    own.up()?;
    assert_eq!(own.status()?["init"], first["init"], "a second `up` started another node");

    // Each part in turn is killed, and `up` has it run again, with what it knew.
    for part in first["parts"].as_array().context("no parts")? {
        kill(part["pid"].as_i64().with_context(|| format!("{part} didn't run"))?)?;
    }
    own.up()?;
    let second = own.status()?;
    for (old, new) in first["parts"].as_array().into_iter().flatten().zip(second["parts"].as_array().unwrap())
    {
        assert!(new["pid"].is_number() && old["pid"] != new["pid"], "{old} {new}");
    }
    namespace.run(&["get", "configmap", "kept"])?;
    let (phase, log) = namespace.script("after", BUSYBOX, "echo works")?;
    assert_eq!((phase.as_str(), log.as_str()), ("Succeeded", "works\n"));
    drop(namespace);

    // It is given images: archives, and nothing else.
    let cache = std::fs::read_link(own.root.join("bin"))?.parent().context("no cache")?.to_owned();
    let made = fs_err::read_dir(cache)?.flatten().map(|entry| entry.path().join("busybox.tar"));
    let archive = made.into_iter().find(|path| path.is_file()).context("no image archive in the cache")?;
    own.run(&["load-image", &archive.to_string_lossy()])?;
    let refused = own.xtask(&["load-image", "/dev/null"])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(!refused.status.success() && said.contains("can't load /dev/null"), "{said}");

    // The whole node is killed: all that ran in it has ended, and `up` starts anew.
    let init = second["init"].as_i64().context("no init")?;
    let all = processes(init)?;
    assert!(left(&all).len() > 8);
    kill(init)?;
    ensure!(!own.xtask(&["status"])?.status.success(), "a dead node has the status of a live one");
    let cluster = own.up()?;
    assert_eq!(left(&all), Vec::<&Process>::new());
    let namespace = cluster.namespace(&[])?;
    let (phase, log) = namespace.script("anew", BUSYBOX, "echo works")?;
    assert_eq!((phase.as_str(), log.as_str()), ("Succeeded", "works\n"));

    // Down with a pod that still runs, and down again.
    namespace.run(&["run", "sleeper", "--image", BUSYBOX, "--", "sleep", "600"])?;
    namespace.run(&["wait", "pod/sleeper", "--for=condition=Ready", "--timeout=120s"])?;
    let third = own.status()?;
    let all = processes(third["init"].as_i64().context("no init")?)?;
    let node = third["node"].as_str().context("no node")?;
    assert!(!cgroups(node)?.is_empty());
    own.run(&["down"])?;
    own.run(&["down"])?;
    std::mem::forget(namespace);
    assert_eq!(left(&all), Vec::<&Process>::new());
    assert_eq!(cgroups(node)?, "");
    let after = traces()?;
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.is_empty(), "left on the machine: {new:#?}");
    let kept: Vec<_> =
        fs_err::read_dir(&own.root)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    assert!(kept.iter().all(|name| name == "log" || name == "lock"), "{kept:?}");
    Ok(())
}
