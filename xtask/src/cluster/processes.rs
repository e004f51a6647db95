//! Processes as `/proc` shows them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A line of `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// The id of its parent.
    pub parent: i32,
    /// Its program's name, at most 15 bytes.
    pub name: String,
    /// `R`, `S`, …; `Z` has ended.
    state: char,
    /// When it started, in clock ticks since boot.
    start: u64,
}

impl Process {
    /// The process with this id, unless it has ended.
    fn find(pid: i32) -> Option<Self> {
        let process = Self::parse(&fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        (!matches!(process.state, 'Z' | 'X')).then_some(process)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name stands in parentheses and may hold any character.
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Self {
            pid: pid.parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            name: name.to_owned(),
            state: fields.first()?.chars().next()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// The children of a process that haven't ended.
    pub fn children(parent: i32) -> Result<Vec<Self>> {
        let mut children = Vec::new();
        for entry in fs_err::read_dir("/proc")? {
            let pid = entry?.file_name().to_string_lossy().parse().ok();
            let process = pid.and_then(Self::find);
            children.extend(process.filter(|process| process.parent == parent));
        }
        children.sort_by_key(|process| process.start);
        Ok(children)
    }

    /// What tells this process from any other that had or will have its id.
    pub fn identity(&self) -> Result<Identity> {
        Ok(Identity { pid: self.pid, start: self.start, boot: boot()? })
    }
}

/// A process, even if its id is used again later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its id, as the machine numbers it.
    pub pid: i32,
    start: u64,
    boot: String,
}

impl Identity {
    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        let same = |process: Process| process.start == self.start;
        Process::find(self.pid).is_some_and(same) && boot().is_ok_and(|boot| boot == self.boot)
    }

    /// Kills it and waits until it has ended; does nothing when it has.
    pub fn kill(&self, patience: Duration) -> Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        match kill(Pid::from_raw(self.pid), Signal::SIGKILL) {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => return Err(error).with_context(|| format!("can't kill process {}", self.pid)),
        }
        let began = Instant::now();
        while self.is_alive() {
            ensure!(
                began.elapsed() < patience,
                "process {} doesn't end after SIGKILL: see /proc/{0}/stack for what it waits for",
                self.pid
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// A file as the process sees it.
    pub fn file(&self, path: &str) -> std::path::PathBuf {
        Path::new("/proc").join(self.pid.to_string()).join("root").join(path.trim_start_matches('/'))
    }
}

fn boot() -> Result<String> {
    Ok(fs_err::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "12 (a) (b c) S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 555 9 9";
        let process = Process::parse(stat).unwrap();
        assert_eq!((process.pid, process.parent, process.name.as_str()), (12, 7, "a) (b c"));
        assert_eq!(process.start, 555);
    }

    #[test]
    fn a_child_is_found_killed_and_then_gone() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let found = Process::children(i32::try_from(std::process::id()).unwrap()).unwrap();
        let identity = found.iter().find(|process| process.pid == pid).unwrap().identity().unwrap();
        assert!(identity.is_alive());
        let reused = Identity { start: identity.start + 1, ..identity.clone() };
        reused.kill(Duration::ZERO).unwrap();
        assert!(identity.is_alive(), "a process with the same id and another start was killed");
        identity.kill(Duration::from_secs(60)).unwrap();
        assert!(!identity.is_alive());
        child.wait().unwrap();
    }
}
