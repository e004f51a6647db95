//! The contract, with processes of this machine; and what only they have to keep.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcc_catalog::seam::{Ending, Executor};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::contract::Harness;
use super::contract::run::{Run, function, python, shell, text};
use super::descendants::has_tag;
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

/// Whether a process of a call, known by its tag, has ended and nobody has waited for it.
fn zombies() -> bool {
    let this = std::process::id().to_string();
    processes().any(|pid| {
        let read = |file: &str| std::fs::read_to_string(pid.join(file)).unwrap_or_default();
        let stat = read("stat");
        let mut fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&this) && has_tag(&read("limits"))
    })
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
        // Those of other tests are waited for by these.
        eventually("no child that has ended and isn't waited for", || !zombies()).await;
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

fn options(temporary: &TempDir) -> ProcessOptions {
    ProcessOptions { temporary_folder: temporary.path().to_owned(), ..ProcessOptions::default() }
}

async fn refusal(options: ProcessOptions, run: Run) -> (String, String) {
    match run.on(&ProcessExecutor::new(options)).await.ending {
        Ending::Refused(refusal) => (refusal.reason, refusal.fix),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_interpreter_is_refused_with_what_to_do() {
    let temporary = tempfile::tempdir().unwrap();
    let run = || python("def main(): pass", json!({}));
    let named = |python: &str| ProcessOptions { python: python.into(), ..options(&temporary) };
    let (reason, fix) = refusal(named("no-such-python"), run()).await;
    assert_eq!(reason, "there is no Python interpreter no-such-python");
    assert!(fix.contains("--python"));
    let (reason, _) = refusal(named("/bin/false"), run()).await;
    assert!(reason.starts_with("/bin/false is not a working Python interpreter"), "{reason}");
    let old = temporary.path().join("python2");
    fs_err::write(&old, "#!/bin/sh\necho 2.7; echo /usr/bin/python2\n").unwrap();
    fs_err::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (reason, _) = refusal(named(&old.to_string_lossy()), run()).await;
    assert!(reason.ends_with("python2 is Python 2.7"), "{reason}");

    let shell_options = ProcessOptions { shell: "/no/such/sh".into(), ..options(&temporary) };
    let (reason, _) = refusal(shell_options, shell("true")).await;
    assert!(reason.starts_with("/no/such/sh can't be started"), "{reason}");
    let silent = ProcessOptions { shell: "/bin/true".into(), ..options(&temporary) };
    let (reason, _) = refusal(silent, shell("true")).await;
    assert_eq!(reason, "/bin/true ended before it answered");
    let nowhere = ProcessOptions { temporary_folder: "/no/such/folder".into(), ..options(&temporary) };
    let (reason, _) = refusal(nowhere, shell("true")).await;
    assert!(reason.starts_with("the folder of the call can't be made"), "{reason}");
    let run = shell("true").limits(|limits| limits.memory = Some("lots".into()));
    let (reason, _) = refusal(options(&temporary), run).await;
    assert_eq!(reason, "limits.memory \"lots\" is not a quantity");
}

#[tokio::test]
async fn modules_are_found_beside_the_manifest_then_in_the_common_path() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, common) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs_err::write(folder.path().join("both.py"), "def f(): return 'folder'").unwrap();
    fs_err::write(common.path().join("both.py"), "def f(): return 'common'").unwrap();
    fs_err::write(common.path().join("only.py"), "def f(): return 'common'").unwrap();
    let executor = ProcessExecutor::new(ProcessOptions {
        python_path: vec![common.path().into()],
        ..options(&temporary)
    });
    for (name, expected) in [("both:f", "folder"), ("only:f", "common")] {
        let run = function(name, json!({}), "lib".into()).folder(folder.path().into());
        assert_eq!(run.result(&executor).await, json!(expected));
    }
}

#[tokio::test]
async fn a_tool_has_a_folder_of_its_own_and_none_of_the_server_s_variables() {
    let temporary = tempfile::tempdir().unwrap();
    let executor = ProcessExecutor::new(options(&temporary));
    let script = "pwd; echo $TMPDIR; echo $MCC_SESSION; touch left; mktemp >/dev/null; ls -A; \
                  env | cut -d= -f1 | sort | tr '\\n' ' '";
    let output = shell(script).output(&executor).await;
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    let call = Path::new(lines[0]).parent().unwrap();
    assert_eq!(call.parent().unwrap(), temporary.path().canonicalize().unwrap());
    assert_eq!(
        lines[..4],
        [
            call.join("work").to_str().unwrap(),
            call.join("tmp").to_str().unwrap(),
            call.join("session").to_str().unwrap(),
            "left",
        ]
    );
    let known =
        ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "TZ", "TERM", "SHELL", "MCC_SESSION"];
    // The shell adds some of its own.
    let foreign = lines[4]
        .split(' ')
        .filter(|name| !known.contains(name) && !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    assert_eq!(foreign.filter(|name| !name.is_empty()).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(!call.exists());
    let run = shell("echo $TMPDIR").env(json!([{"name": "TMPDIR", "value": "/own"}]), json!([]), json!({}));
    assert_eq!(run.output(&executor).await, b"/own\n");
}

#[test]
fn a_runtime_that_goes_away_takes_its_calls_with_it() {
    let harness = Processes::new(Path::new("/bin/sh"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let executor = harness.executor();
    runtime.spawn(async move {
        let run = shell("(setsid sh -c 'env -i setsid sleep 8171.25 & exit' &); sleep 8171.25");
        executor.execute(run.invocation(), &(), CancellationToken::new()).await
    });
    runtime.block_on(harness.expect_running("8171.25"));
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        harness.expect_gone("8171.25").await;
        harness.expect_clean().await;
    });
}

#[test]
fn fifty_megabytes_in_a_process_of_its_own() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "exec::process_tests::dash::fifty_megabytes"]).env("MCC_TEST_ALONE", "1");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// `kill -9 -1` reaches every process of this user: only to be tried where there are no others.
#[test]
fn kills_everything() {
    const NAME: &str = "exec::process_tests::kills_everything";
    let unshare = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "--kill-child", program]).args(arguments);
        command.env("MCC_TEST_ALONE", "1").output()
    };
    if std::env::var_os("MCC_TEST_ALONE").is_none() {
        if !unshare("true", &[]).is_ok_and(|output| output.status.success()) {
            println!("skipped: kills_everything: no process namespaces for this user");
            return;
        }
        let this = std::env::current_exe().unwrap();
        let output = unshare(&this.to_string_lossy(), &["--exact", NAME, "--nocapture"]).unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    assert_eq!(std::process::id(), 1);
    let harness = Processes::new(Path::new("/bin/sh"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let executor = harness.executor();
        for script in ["kill -9 -1; sleep 8172.25", "setsid sleep 8172.25 & kill -9 1; kill -9 $PPID"] {
            let outcome = shell(script).on(&*executor).await;
            assert_eq!(outcome.ending, Ending::Signaled(9), "{script} {}", text(&outcome.stderr));
            harness.expect_gone("8172.25").await;
        }
        harness.expect_clean().await;
    });
}

/// A measurement, not a test: `cargo test -p mcc-gateway --lib -- --ignored --nocapture time_of_a_call`.
#[tokio::test]
#[ignore = "a measurement"]
async fn time_of_a_call() {
    let temporary = tempfile::tempdir().unwrap();
    let executor = ProcessExecutor::new(options(&temporary));
    for (program, arguments) in [("/bin/sh", ["-c", "echo hi", "sh"]), ("python3", ["-I", "-c", "print(1)"])]
    {
        let mut times = Vec::new();
        for _ in 0..101 {
            let started = Instant::now();
            tokio::process::Command::new(program).args(arguments).output().await.unwrap();
            times.push(started.elapsed());
        }
        times.sort();
        println!("bare {program}: p50 {:?}, p95 {:?}", times[50], times[95]);
    }
    for (name, make) in [
        ("shell", (|| shell("echo hi")) as fn() -> Run),
        ("shell with stdin", || shell("cat").stdin("hi")),
        ("python", || python("def main(): return 1", json!({}))),
    ] {
        let mut times = Vec::new();
        for _ in 0..101 {
            let started = Instant::now();
            let outcome = make().on(&executor).await;
            assert_eq!(outcome.ending, Ending::Exited(0));
            times.push((started.elapsed(), outcome.startup, outcome.duration));
        }
        times.sort();
        println!("{name}: p50 (all, startup, duration) {:?}, p95 {:?}", times[50], times[95]);
    }
}
