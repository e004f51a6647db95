//! The fixed programs by themselves, and the conversation over streams that break.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcc_catalog::model::{PythonCode, ResolvedLimits};
use serde_json::Map;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::super::python::{PYTHON_RUNNER, PythonPayload};
use super::super::shell::{SHELL_PROGRAM, ShellPayload};
use super::*;

const MARKER: &str = "00112233445566778899aabbccddeeff";

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn shell() -> Child {
    start(Command::new("/bin/sh").args(["-c", SHELL_PROGRAM, "/bin/sh"]))
}

fn python() -> Child {
    start(Command::new("python3").args(["-I", "-c", PYTHON_RUNNER]))
}

fn shell_payload(script: &str, on_hangup: OnHangup) -> Vec<u8> {
    let limits = ResolvedLimits::default();
    let payload = ShellPayload {
        shell: "/bin/sh",
        script,
        env: &[("X".into(), "it's".into())],
        stdin: None,
        limits: &limits,
        session_file: "/nowhere/session",
        on_hangup,
        tag: None,
    };
    payload.text(MARKER)
}

fn python_payload(source: &str, on_hangup: OnHangup) -> Vec<u8> {
    let limits = ResolvedLimits::default();
    let payload = PythonPayload {
        name: "sample",
        code: &PythonCode::Source(source.into()),
        params: &Map::new(),
        context: &Map::new(),
        path: &[],
        env: &[],
        limits: &limits,
        on_hangup,
        tag: None,
    };
    payload.text(MARKER)
}

/// Gives a fixed program all of its input at once; exit code, stdout, stderr.
fn feed(mut child: Child, input: &[u8]) -> (Option<i32>, String, String) {
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn without_a_payload_nothing_runs() {
    for program in [shell as fn() -> Child, python] {
        assert_eq!(feed(program(), b""), (Some(97), String::new(), String::new()));
        assert_eq!(feed(program(), b"hello\n"), (Some(97), String::new(), "hello\n".into()));
        assert_eq!(feed(program(), b"hello\nstop\necho ran\n"), (Some(97), String::new(), "hello\n".into()));
    }
    assert_eq!(feed(shell(), b"\n").0, Some(97));
}

#[test]
fn a_payload_cut_short_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ran");
    let ran = || fs_err::remove_file(&trace).is_ok();

    let payload = shell_payload(&format!(": > '{}'", trace.display()), OnHangup::Continue);
    let whole = [b"hello\n", payload.as_slice()].concat();
    for cut in "hello\n".len()..whole.len() - 2 {
        let (code, stdout, _) = feed(shell(), &whole[..cut]);
        // Right after `go` there is an empty payload.
        assert!(matches!(code, Some(0 | 2 | 97)), "cut at {cut}: {code:?}");
        assert!(!ran() && stdout.is_empty(), "cut at {cut}");
    }
    let (code, stdout, stderr) = feed(shell(), &whole);
    assert_eq!((code, stdout, stderr), (Some(0), format!("{MARKER}x\n"), format!("hello\n{MARKER}x 0\n")));
    assert!(ran());

    let source = format!("def main(): open({:?}, 'w').close()", trace.display().to_string());
    let whole = [b"hello\n", python_payload(&source, OnHangup::Continue).as_slice()].concat();
    for cut in (6..whole.len()).step_by(29).chain([whole.len() - 1]) {
        let (code, stdout, _) = feed(python(), &whole[..cut]);
        assert_eq!((code, stdout.as_str(), ran()), (Some(97), "", false), "cut at {cut}");
    }
    let (code, stdout, stderr) = feed(python(), &whole);
    assert_eq!((code, stdout), (Some(0), format!("{MARKER}r\nnull{MARKER}x\n")));
    assert_eq!(stderr, format!("hello\n{MARKER}j\n{{\"set\":{{}},\"deleted\":[]}}{MARKER}x 0\n"));
    assert!(ran());
}

/// Reads until `end` was read.
fn read_until(stream: &mut impl Read, end: &str) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(end.as_bytes()) {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&text));
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn lingers_until_bye_and_keeps_its_exit_code() {
    let shell_payload = shell_payload("echo out; exit 3", OnHangup::Kill);
    let python_payload =
        python_payload("import sys\ndef main():\n print('out')\n sys.exit(3)", OnHangup::Kill);
    for (mut child, payload) in [(shell(), shell_payload), (python(), python_payload)] {
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&[b"hello\n", payload.as_slice()].concat()).unwrap();
        let stdout = read_until(child.stdout.as_mut().unwrap(), "x\n");
        assert_eq!(stdout, format!("out\n{MARKER}x\n"));
        read_until(child.stderr.as_mut().unwrap(), "x 3\n");
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none());
        stdin.write_all(b"bye\n").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }
}

/// Whether a process with this command line is there.
fn running(command_line: &str) -> bool {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let wanted = command_line.replace(' ', "\0") + "\0";
    pids.map(|pid| std::fs::read(pid.path().join("cmdline")).unwrap_or_default())
        .any(|line| line == wanted.as_bytes())
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = std::time::Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < give_up, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_kill_line_ends_the_tool_with_its_children() {
    let script = "sleep 8161.25 & echo begun; sleep 8161.25";
    let source = "import subprocess\ndef main():\n subprocess.Popen(['sleep', '8161.25'])\n print('begun')\n \
                  subprocess.run(['sleep', '8161.25'])";
    for (mut child, payload, end) in [
        (shell(), shell_payload(script, OnHangup::Continue), "x 137\n"),
        (python(), python_payload(source, OnHangup::Continue), "x -9\n"),
    ] {
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&[b"hello\n", payload.as_slice()].concat()).unwrap();
        read_until(child.stdout.as_mut().unwrap(), "begun\n");
        wait_for("the children", || running("sleep 8161.25"));
        stdin.write_all(b"kill\n").unwrap();
        assert_eq!(read_until(child.stdout.as_mut().unwrap(), "x\n"), format!("{MARKER}x\n"));
        assert_eq!(read_until(child.stderr.as_mut().unwrap(), end), format!("hello\n{MARKER}{end}"));
        wait_for("no children", || !running("sleep 8161.25"));
        stdin.write_all(b"bye\n").unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn without_setsid_a_kill_line_reaches_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SHELL_PROGRAM, "/bin/sh"]).env("PATH", folder.path());
    let mut child = start(&mut command);
    let payload = shell_payload("echo begun; while :; do :; done", OnHangup::Continue);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[b"hello\n", payload.as_slice()].concat()).unwrap();
    read_until(child.stdout.as_mut().unwrap(), "begun\n");
    stdin.write_all(b"kill\n").unwrap();
    read_until(child.stderr.as_mut().unwrap(), "x 137\n");
    stdin.write_all(b"bye\n").unwrap();
    child.wait().unwrap();
}

#[test]
fn a_broken_stream_kills_or_lets_run_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |name: &str| folder.path().join(name);
    let script = |path: &Path| format!("echo begun; sleep 0.5; : > '{}'", path.display());
    let source = |path: &Path| {
        format!(
            "import time\ndef main():\n print('begun')\n time.sleep(0.5)\n open({:?}, 'w').close()",
            path.display().to_string()
        )
    };
    for (name, hangup, survives) in [("kill", OnHangup::Kill, false), ("continue", OnHangup::Continue, true)]
    {
        let (of_shell, of_python) = (trace(&format!("shell-{name}")), trace(&format!("python-{name}")));
        for (mut child, payload, path) in [
            (shell(), shell_payload(&script(&of_shell), hangup), &of_shell),
            (python(), python_payload(&source(&of_python), hangup), &of_python),
        ] {
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(&[b"hello\n", payload.as_slice()].concat()).unwrap();
            read_until(child.stdout.as_mut().unwrap(), "begun\n");
            drop(stdin);
            child.wait_with_output().unwrap();
            assert_eq!(path.exists(), survives, "{}", path.display());
        }
    }
}

/// A far side that a test plays.
struct Far {
    stdin: DuplexStream,
    stdout: Option<DuplexStream>,
    stderr: Option<DuplexStream>,
}

fn far() -> (Streams, Far) {
    let ((near_in, far_in), (near_out, far_out), (near_err, far_err)) =
        (duplex(4096), duplex(4096), duplex(4096));
    let streams =
        Streams { stdin: Box::new(near_in), stdout: Box::new(near_out), stderr: Box::new(near_err) };
    (streams, Far { stdin: far_in, stdout: Some(far_out), stderr: Some(far_err) })
}

impl Far {
    async fn line(&mut self) -> String {
        let mut line = Vec::new();
        loop {
            match self.stdin.read_u8().await {
                Ok(b'\n') | Err(_) => return String::from_utf8(line).unwrap(),
                Ok(byte) => line.push(byte),
            }
        }
    }

    async fn say(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(3) {
            self.stderr.as_mut().unwrap().write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
    }
}

/// A transport whose far side ends when told, or never.
struct Told(Option<Duration>);

#[async_trait]
impl Transport for Told {
    async fn ended(&mut self) {
        match self.0 {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    }
}

const BOUNDS: Bounds =
    Bounds { output_bytes: 1000, timeout: Duration::from_secs(60), kill_grace: Duration::from_millis(100) };

async fn never() -> Stop {
    std::future::pending().await
}

#[tokio::test]
async fn a_greeting_may_come_in_pieces_after_other_text() {
    let (streams, mut far) = far();
    let play = async {
        let hello = far.line().await;
        far.say("warning: locale\n").await;
        far.say(&format!("{hello}\nearly")).await;
        assert_eq!(far.line().await, "payload");
        far.say(&format!("{MARKER}x 5\n")).await;
        far.stdout.as_mut().unwrap().write_all(format!("out{MARKER}x\n").as_bytes()).await.unwrap();
        far.line().await
    };
    let talk = async {
        let greeted = greet(streams, Duration::from_secs(60)).await.unwrap();
        // The far side of this test doesn't read the marker from the payload: it is given its own.
        greeted.run_marked(MARKER.into(), |_| b"payload\n".to_vec(), &BOUNDS, &mut Told(None), never()).await
    };
    let (last, conclusion) = tokio::join!(play, talk);
    assert_eq!(last, "bye");
    assert_eq!((conclusion.code, conclusion.stop), (Some(5), None));
    assert_eq!(conclusion.stderr.output.head, b"early");
    assert_eq!(conclusion.stdout.output.head, b"out");
}

#[tokio::test]
async fn a_far_side_that_ends_or_is_silent_before_the_greeting() {
    let (streams, mut other) = far();
    other.say("sh: no such file\n").await;
    drop(other);
    let error = greet(streams, Duration::from_secs(60)).await.err().unwrap().to_string();
    assert_eq!(error, "ended before it answered: sh: no such file");
    let (streams, _far) = far();
    let error = greet(streams, Duration::from_millis(20)).await.err().unwrap();
    assert!(matches!(error, GreetError::Silent(_)));
}

async fn greeted() -> (Greeted, Far) {
    let (streams, mut far) = far();
    let answer = async {
        let hello = far.line().await;
        far.say(&format!("{hello}\n")).await;
    };
    let (greeted, ()) = tokio::join!(greet(streams, Duration::from_secs(60)), answer);
    (greeted.unwrap(), far)
}

#[tokio::test]
async fn one_marker_is_not_the_end() {
    let (greeted, mut far) = greeted().await;
    far.say(&format!("e{MARKER}x 0\n")).await;
    far.stdout.as_mut().unwrap().write_all(b"cut of").await.unwrap();
    (far.stdout, far.stderr) = (None, None);
    let conclusion =
        greeted.run_marked(MARKER.into(), |_| Vec::new(), &BOUNDS, &mut Told(None), never()).await;
    assert_eq!((conclusion.code, conclusion.stop), (None, None));
    assert_eq!(conclusion.stdout.output.head, b"cut of");
    assert_eq!(conclusion.stderr.output.head, b"e");
}

#[tokio::test]
async fn streams_held_open_by_others_do_not_hold_up_the_end() {
    let (greeted, _far) = greeted().await;
    let mut told = Told(Some(Duration::from_millis(10)));
    let conclusion = greeted.run(|_| Vec::new(), &BOUNDS, &mut told, never()).await;
    assert_eq!((conclusion.code, conclusion.stop), (None, None));
}

#[tokio::test]
async fn kill_lines_are_repeated_until_the_grace_is_over() {
    let (greeted, mut far) = greeted().await;
    let stop = async { Stop::Cancelled };
    let conclusion = greeted.run(|_| Vec::new(), &BOUNDS, &mut Told(None), stop).await;
    assert_eq!((conclusion.code, conclusion.stop), (None, Some(Stop::Cancelled)));
    assert_eq!((far.line().await.as_str(), far.line().await.as_str()), ("kill", "kill"));
}

#[tokio::test]
async fn a_payload_that_is_not_read_holds_up_nothing() {
    let (greeted, mut far) = greeted().await;
    far.say(&format!("{MARKER}x 7\n")).await;
    far.stdout.as_mut().unwrap().write_all(format!("{MARKER}x\n").as_bytes()).await.unwrap();
    let payload = |_: &str| vec![b'x'; 100_000];
    let conclusion = greeted.run_marked(MARKER.into(), payload, &BOUNDS, &mut Told(None), never()).await;
    assert_eq!(conclusion.code, Some(7));
}
