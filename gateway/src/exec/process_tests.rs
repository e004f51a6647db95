//! The contract, with processes of this machine; and what only they have to keep.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcc_catalog::seam::{Ending, Executor};
use tempfile::TempDir;

use super::contract::Harness;
use super::contract::run::{python, shell, text};
use super::{ProcessExecutor, ProcessOptions};

/// An executor whose calls leave their folders, if they do, where only this test looks.
struct Processes {
    temporary: TempDir,
    executor: ProcessExecutor,
}

impl Processes {
    fn new(shell: &Path) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let options = ProcessOptions {
            shell: shell.to_owned(),
            temporary_folder: temporary.path().to_owned(),
            ..ProcessOptions::default()
        };
        Self { executor: ProcessExecutor::new(options), temporary }
    }

    /// Command lines of the processes that have this harness's folder in their environment or as their own.
    fn left(&self) -> Vec<String> {
        let folder = self.temporary.path().to_string_lossy().into_owned();
        let of_ours = |pid: &PathBuf| {
            let environ = std::fs::read(pid.join("environ")).unwrap_or_default();
            memchr::memmem::find(&environ, folder.as_bytes()).is_some()
                || std::fs::read_link(pid.join("cwd")).is_ok_and(|cwd| cwd.starts_with(self.temporary.path()))
        };
        processes().filter(of_ours).map(|pid| command_line(&pid)).collect()
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("cmdline").exists())
}

fn command_line(pid: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(pid.join("cmdline")).unwrap_or_default()).replace('\0', " ")
}

async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < give_up, "not within a minute: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[async_trait]
impl Harness for Processes {
    fn executor(&self) -> Arc<dyn Executor> {
        Arc::new(self.executor.clone())
    }

    async fn expect_gone(&self, word: &str) {
        let sleep = format!("sleep {word} ");
        let running = || processes().any(|pid| command_line(&pid) == sleep);
        eventually(&format!("no {sleep}"), || !running()).await;
    }

    async fn expect_running(&self, word: &str) {
        let sleep = format!("sleep {word} ");
        eventually(&sleep, || processes().any(|pid| command_line(&pid) == sleep)).await;
    }

    async fn expect_clean(&self) {
        // A call that was dropped cleans up after the drop.
        eventually("an empty folder", || std::fs::read_dir(self.temporary.path()).unwrap().count() == 0)
            .await;
        assert_eq!(self.left(), Vec::<String>::new());
    }
}

mod dash {
    use super::*;

    crate::executor_contract!(Processes::new(Path::new("/bin/sh")));
}

/// busybox is its shell when it is called `sh`.
fn busybox() -> Option<(TempDir, PathBuf)> {
    let found = ["/bin/busybox", "/usr/bin/busybox"].into_iter().map(Path::new).find(|path| path.exists());
    let Some(found) = found else {
        println!("skipped: busybox: not installed");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("sh");
    symlink(found, &link).unwrap();
    Some((folder, link))
}

mod busybox {
    use super::*;
    use crate::exec::contract::*;

    macro_rules! cases {
        ($($case:ident),+ $(,)?) => {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let Some((_folder, shell)) = super::busybox() else { return };
                    let harness = Processes::new(&shell);
                    crate::exec::contract::$case(&harness).await;
                    harness.expect_clean().await;
                }
            )+
        };
    }

    cases!(
        exit_codes,
        signals,
        not_found,
        syntax_error,
        exec_replaces_the_shell,
        kills_itself,
        kills_its_parent,
        time_out_kills_grandchildren,
        time_out_keeps_partial_output,
        cancel_ends_soon,
        dropping_the_future_kills,
        cpu_limit,
        file_limit,
        open_files_limit,
        streams_apart,
        no_newline_at_the_end,
        bytes_as_they_are,
        fifty_megabytes,
        silent_tool,
        tool_closes_its_streams,
        background_child_keeps_stdout,
        many_at_once,
        marker_is_out_of_reach,
        imitated_markers,
        escaped_processes,
        ignores_signals,
        stops_itself,
        environment_precedence,
        all_bytes_arrive,
        large_values,
        too_large_values_are_refused,
        stdin_is_read,
        stdin_is_not_read,
        no_stdin,
        session_lines,
        session_only_on_success,
        session_that_cannot_be_read,
    );
}
