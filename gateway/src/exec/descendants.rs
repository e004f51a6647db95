//! Finds what a tool leaves behind, whatever it did to hide: its own sessions, double forks, a wiped environment.
//!
//! This process is made the reaper of its orphans (`PR_SET_CHILD_SUBREAPER`), so whatever survives its parent becomes
//! a child of ours: its process id can't be taken by another process before we have waited for it, and killing it is
//! safe. Which call an orphan belongs to is told by a tag: a number set as `RLIMIT_RSS`, which Linux hands down
//! through fork, exec and setsid and has not enforced since 2.4.30. Where the tag could not be set, the variable
//! `MCC_SESSION`, which names a file of the call, tells it.
//!
//! Linux shows the children of a thread by their place in a list, so whoever reads it while one of them is waited for
//! may miss another: a lock keeps the two apart, and so every child of this process is waited for in this file.
//!
//! On other systems only the process groups of a call are killed.

use std::collections::BTreeSet;
use std::fs::read_dir;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::process::Child;

/// Held while the list of this process's children is read, and while one of them is waited for.
static LIST: Mutex<()> = Mutex::new(());

fn list() -> MutexGuard<'static, ()> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Completes a future that waits for a child, without disturbing those who read the list of children.
pub async fn waiting<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _list = list();
        future.as_mut().poll(context)
    })
    .await
}

/// Whether a child has ended; then it has been waited for.
pub fn try_wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let _list = list();
    child.try_wait()
}

/// Children that are nobody's orphans: the fixed programs of running calls.
static ROOTS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn roots() -> MutexGuard<'static, BTreeSet<i32>> {
    ROOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of the orphans of its descendants.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        tracing::warn!(%error, "processes that a tool leaves behind can't be found");
    }
}

/// Keeps a child from being taken for an orphan.
#[derive(Debug)]
pub struct Root(Pid);

impl Root {
    /// Registers a child. Must come before anything runs in it.
    pub fn register(pid: Pid) -> Self {
        roots().insert(pid.as_raw());
        Self(pid)
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        self.0
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        roots().remove(&self.0.as_raw());
    }
}

/// The lowest tag, in KiB: far beyond any memory, so that a program that looks at the bound finds nothing in its way.
const FIRST_TAG: u64 = 1 << 40;

/// The processes of one call.
#[derive(Clone, Debug)]
pub struct Family {
    tag: u64,
    /// `MCC_SESSION=FILE`.
    variable: String,
}

impl Family {
    /// A family with a tag of its own, whose processes see `session_file` as `MCC_SESSION`.
    pub fn new(session_file: &str) -> Self {
        let tag = FIRST_TAG | (rand::random::<u64>() & (FIRST_TAG - 1));
        Self { tag, variable: format!("MCC_SESSION={session_file}") }
    }

    /// The tag, in KiB as `ulimit -m` takes it.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Waits for the orphans that have ended, so that a long call doesn't fill the process table.
    pub fn reap(&self) {
        let list = list();
        for pid in self.orphans(&list) {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Kills the orphans and waits for those that have ended. Returns how many are left: what a killed process leaves
    /// behind becomes an orphan too, so repeat until there are none.
    pub fn kill_orphans(&self) -> usize {
        let list = list();
        let orphans = self.orphans(&list);
        for &pid in &orphans {
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
        orphans.len()
    }

    /// Kills until nothing is left, at most for `limit`. Returns whether nothing is left.
    pub async fn kill_all(&self, limit: Duration) -> bool {
        let give_up = tokio::time::Instant::now() + limit;
        let mut pause = Duration::from_micros(200);
        while self.kill_orphans() > 0 {
            if tokio::time::Instant::now() > give_up {
                return false;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        true
    }

    /// Bytes of memory that `root`, its descendants and the orphans have for themselves.
    pub fn private_memory(&self, root: Pid) -> u64 {
        let mut pids = self.orphans(&list());
        pids.push(root);
        let mut total = 0;
        while let Some(pid) = pids.pop() {
            total += private_memory(pid);
            pids.extend(children(&pid.to_string()));
        }
        total
    }

    fn orphans(&self, _list: &MutexGuard<'_, ()>) -> Vec<Pid> {
        let children = children("self");
        let roots = roots();
        children.into_iter().filter(|pid| !roots.contains(&pid.as_raw()) && self.contains(*pid)).collect()
    }

    fn contains(&self, pid: Pid) -> bool {
        let tagged = std::fs::read_to_string(format!("/proc/{pid}/limits"))
            .is_ok_and(|limits| resident_set_limit(&limits) == Some(self.tag * 1024));
        tagged
            || std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|&b| b == 0).any(|var| var == self.variable.as_bytes()))
    }
}

/// The soft bound of `Max resident set` in the text of `/proc/PID/limits`.
fn resident_set_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max resident set"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Whether the text of `/proc/PID/limits` is that of a process of any call.
#[cfg(test)]
pub(super) fn has_tag(limits: &str) -> bool {
    resident_set_limit(limits).is_some_and(|bytes| (FIRST_TAG..2 * FIRST_TAG).contains(&(bytes / 1024)))
}

/// Children of a process, by all of its threads.
fn children(process: &str) -> Vec<Pid> {
    let Ok(threads) = read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children
                    .extend(list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw));
            }
            // A kernel without CONFIG_PROC_CHILDREN; or the thread has just ended, then looking twice does no harm.
            Err(_) => return children_by_parent(process),
        }
    }
    children
}

fn children_by_parent(process: &str) -> Vec<Pid> {
    let parent = match process {
        "self" => std::process::id().to_string(),
        pid => pid.to_owned(),
    };
    let Ok(processes) = read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        // `pid (name) state ppid …`; the name may contain anything.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        fields.split_whitespace().nth(1) == Some(parent.as_str())
    })
    .map(Pid::from_raw)
    .collect()
}

fn private_memory(pid: Pid) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = statm.split_whitespace().skip(1).filter_map(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4096);
    resident.saturating_sub(shared) * u64::try_from(page).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_children_either_way() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        assert!(children("self").contains(&pid));
        assert!(children_by_parent("self").contains(&pid));
        assert!(private_memory(pid) > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children("self").contains(&pid));
    }

    /// Whoever reads the list of children finds all of them: none is waited for meanwhile.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_child_is_waited_for_while_the_list_is_read() {
        let mut child = tokio::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
        let waited = {
            let _list = list();
            let waited = tokio::spawn(async move { waiting(child.wait()).await });
            let ended = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") Z ");
            while !ended() {
                std::thread::sleep(Duration::from_millis(1));
            }
            // Time for the task to hear of it.
            std::thread::sleep(Duration::from_millis(50));
            assert!(ended());
            waited
        };
        assert!(waited.await.unwrap().unwrap().success());
        assert!(!children("self").contains(&pid));
    }

    #[test]
    fn a_child_of_nobody_s_call_is_left_alone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(Family::new("/nowhere").kill_orphans(), 0);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn reads_the_tag() {
        let limits = "Max stack size            8388608              unlimited            bytes\n\
                      Max resident set          1125899878400000     1125899878400000     bytes\n";
        assert_eq!(resident_set_limit(limits), Some(1_125_899_878_400_000));
        assert_eq!(resident_set_limit("Max resident set          unlimited unlimited bytes"), None);
    }
}
