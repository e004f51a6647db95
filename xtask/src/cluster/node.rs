//! The node from outside: starts PID 1 in namespaces of its own, and ends it.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::addresses::Addresses;
use super::processes::{Identity, Process};
use super::root::{Root, State};
use super::stage::{CONFIG, LOG, PKI, PROGRAMS, Stage};
use super::{cgroups, command, network, parts};

/// How long processes may take to appear or to go, on a machine that does other things.
const PATIENCE: Duration = Duration::from_secs(60);
/// The log of PID 1.
const SUPERVISOR_LOG: &str = "supervisor.log";

/// Starts PID 1 and tells it what it needs once its interface is there. `state` is saved with its identity first.
pub fn start(root: &Root, state: &mut State) -> Result<()> {
    if root.log().exists() {
        fs_err::remove_dir_all(root.log())?;
    }
    for folder in [root.log(), root.run(), root.data().join("lib"), root.data().join("log")] {
        fs_err::create_dir_all(folder)?;
    }
    cgroups::create(&state.addresses.cgroup())?;
    let log = fs_err::File::create(root.log().join(SUPERVISOR_LOG))?.into_parts().0;
    // A session of its own: the end of a terminal isn't the end of the cluster.
    let mut namespaces = command::command("setsid")
        .args([
            "unshare",
            "--mount",
            "--net",
            "--pid",
            "--ipc",
            "--uts",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ])
        .arg("--")
        .arg(std::env::current_exe()?)
        .args(["cluster", "supervise"])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("can't start setsid and unshare (package util-linux)")?;
    let init = init(root, &mut namespaces)?;
    let pid = init.pid;
    state.init = Some(init);
    root.save(state)?;
    network::connect(state.addresses, pid)?;
    let description = Stage {
        run: root.run(),
        data: root.data(),
        folders: vec![
            (state.programs.clone(), PROGRAMS.to_owned()),
            (root.pki(), PKI.to_owned()),
            (root.config(), CONFIG.to_owned()),
            (root.log(), LOG.to_owned()),
        ],
        addresses: state.addresses,
    };
    let mut input = namespaces.stdin.take().context("the node has no standard input")?;
    input.write_all(&serde_json::to_vec(&description)?).with_context(|| last_words(root))
}

/// The child of `unshare`, which is PID 1 of the new namespace.
fn init(root: &Root, namespaces: &mut Child) -> Result<Identity> {
    let parent = i32::try_from(namespaces.id())?;
    let began = Instant::now();
    loop {
        if let Some(process) = Process::children(parent)?.first() {
            return process.identity();
        }
        if let Some(status) = namespaces.try_wait()? {
            bail!("can't make namespaces ({status}): {}", last_words(root));
        }
        if began.elapsed() > PATIENCE {
            namespaces.kill()?;
            bail!("no process appeared in the new namespaces: {}", last_words(root));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends the node, if there is one, and removes what the end of its processes leaves on the machine.
pub fn stop(root: &Root) -> Result<()> {
    let state = root.state()?;
    if let Some(init) = state.as_ref().and_then(|state| state.init.as_ref()) {
        init.kill(PATIENCE)?;
    }
    network::remove(root.path())?;
    if let Some(state) = state {
        cgroups::remove(&state.addresses.cgroup())?;
    }
    root.clear()
}

/// The end of PID 1's log, and of those that it names.
pub fn last_words(root: &Root) -> String {
    let said = tail(root, SUPERVISOR_LOG, 20);
    let mut words = format!("{}:\n{said}", root.log().join(SUPERVISOR_LOG).display());
    let named = parts::all(Addresses::default()).into_iter().map(|part| format!("{}.log", part.name));
    let named = named.into_iter().find(|name| said.lines().last().is_some_and(|line| line.ends_with(name)));
    if let Some(name) = &named {
        words = format!("{words}\n{}:\n{}", root.log().join(name).display(), tail(root, name, 20));
    }
    words
}

fn tail(root: &Root, name: &str, count: usize) -> String {
    let log = fs_err::read(root.log().join(name)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
