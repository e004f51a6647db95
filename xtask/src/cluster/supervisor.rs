//! PID 1 of the node: starts its programs, starts again what ends, and reaps what others leave.
//!
//! When it ends, the kernel ends everything else in its namespaces.

use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::addresses::API_PORT;
use super::parts::{self, Part};
use super::stage::{LOG, Stage};
use super::{command, progress};

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(25);
/// How long an ended program stays down.
const RESTART: Duration = Duration::from_millis(500);
/// A program that ran for less counts as one that can't start.
const SHORT: Duration = Duration::from_secs(15);
/// How often in a row a program may end early before the node is given up.
const ENDINGS: u32 = 8;

/// A program and what became of it.
struct Supervised {
    part: Part,
    running: Option<Pid>,
    changed: Instant,
    early_endings: u32,
}

/// Runs until it is killed or a program can't be kept up.
pub fn run() -> Result<()> {
    ensure!(std::process::id() == 1, "this is PID 1 of a node, which `cargo xtask cluster up` starts");
    let stage: Stage = serde_json::from_reader(std::io::stdin())
        .context("no description of the node on standard input: was `up` interrupted?")?;
    stage.prepare()?;
    let started = Instant::now();
    let mut parts: Vec<_> = parts::all(stage.addresses)
        .into_iter()
        .map(|part| Supervised { part, running: None, changed: started, early_endings: 0 })
        .collect();
    loop {
        reap(&mut parts)?;
        let due = |part: &&mut Supervised| {
            part.running.is_none() && (part.early_endings == 0 || part.changed.elapsed() > RESTART)
        };
        // Asked once a round and only if somebody waits for the answer.
        let waits = parts.iter().any(|part| part.running.is_none() && part.part.needs_api);
        let has_api = waits && api_listens();
        for part in parts.iter_mut().filter(due) {
            if has_api || !part.part.needs_api {
                part.start()?;
            }
        }
        std::thread::sleep(PAUSE);
    }
}

fn api_listens() -> bool {
    TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], API_PORT)), PAUSE).is_ok()
}

impl Supervised {
    fn start(&mut self) -> Result<()> {
        let name = self.part.name;
        let log = Path::new(LOG).join(format!("{name}.log"));
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        let child = Command::new(self.part.program())
            .args(&self.part.arguments)
            .env_clear()
            .envs([("PATH", command::path()), ("HOME", "/run/mcc".to_owned()), ("TMPDIR", "/run".to_owned())])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("can't start {name}"))?;
        self.running = Some(Pid::from_raw(i32::try_from(child.id())?));
        self.changed = Instant::now();
        Ok(())
    }

    fn ended(&mut self, how: WaitStatus) -> Result<()> {
        let name = self.part.name;
        let early = self.changed.elapsed() < SHORT;
        self.early_endings = if early { self.early_endings + 1 } else { 1 };
        self.running = None;
        self.changed = Instant::now();
        progress::say(format_args!("{name} has ended: {how:?}"));
        if self.early_endings > ENDINGS {
            bail!("{name} has ended {ENDINGS} times soon after its start; see {name}.log");
        }
        Ok(())
    }
}

/// Takes notice of every process that has ended, ours and those that containers left.
fn reap(parts: &mut [Supervised]) -> Result<()> {
    loop {
        let status = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
            Ok(status) => status,
            Err(error) => return Err(error).context("can't wait for processes"),
        };
        let part = parts.iter_mut().find(|part| part.running.is_some() && part.running == status.pid());
        if let Some(part) = part {
            part.ended(status)?;
        }
    }
}
