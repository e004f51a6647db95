//! `load-image`: gives the node's containerd image archives.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::root::{Root, State};
use super::stage::CONTAINERD;
use super::{Place, command, node, progress, ready, requirements};

/// How long containerd may take to answer, if it was just started again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Loads the archives into the running node.
pub fn run(place: &Place, archives: &[PathBuf]) -> Result<()> {
    requirements::check()?;
    let root = Root::new(place)?;
    let state = root.state()?.filter(ready::is_alive);
    let state = state.with_context(|| {
        format!("no cluster runs in {}: start it with `cargo xtask cluster up`", root.path().display())
    })?;
    load(&root, &state, archives, PATIENCE)?;
    for archive in archives {
        progress::say(format_args!("loaded {}", archive.display()));
    }
    Ok(())
}

/// Loads archives once containerd answers.
pub fn load(root: &Root, state: &State, archives: &[PathBuf], patience: Duration) -> Result<()> {
    let init = state.init.as_ref().context("the node doesn't run")?;
    let socket = init.file(CONTAINERD);
    let began = Instant::now();
    while UnixStream::connect(&socket).is_err() {
        ensure!(ready::is_alive(state), "the node has ended. {}", node::last_words(root));
        ensure!(began.elapsed() < patience, "containerd doesn't answer; see {}", root.log().display());
        std::thread::sleep(Duration::from_millis(20));
    }
    for archive in archives {
        let mut ctr = command::command("ctr");
        ctr.arg("--address").arg(&socket).args(["--namespace", "k8s.io", "images", "import"]);
        ctr.args(["--snapshotter", &snapshotter(root)?]);
        command::run(ctr.arg(archive)).with_context(|| format!("can't load {}", archive.display()))?;
    }
    Ok(())
}

/// What containerd was told to unpack images with.
fn snapshotter(root: &Root) -> Result<String> {
    let config = fs_err::read_to_string(root.config().join("containerd.toml"))?;
    let line = config.lines().find_map(|line| line.trim().strip_prefix("snapshotter = "));
    Ok(line.unwrap_or("overlayfs").trim_matches('"').to_owned())
}
