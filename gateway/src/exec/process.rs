//! Runs tools as processes of this machine, as this user, without isolation.
//!
//! Each call gets a process group, a clean environment and a folder of its own. When it is over, by itself or not,
//! nothing of it is left: the process group, what escaped from it ([`super::descendants`]), the folder.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcc_catalog::seam::{Ending, Executor, Invocation, Outcome, Progress, ProgressSink, Stage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OnceCell, mpsc};
use tokio_util::sync::CancellationToken;

use super::conversation::{Bounds, Conclusion, GreetError, OnHangup, Stop, Streams, Transport, greet};
use super::descendants::{Family, Root, adopt_orphans, try_wait, waiting};
use super::outcome::{bare, outcome, refused};
use super::plan::{Plan, Refused};
use super::workspace::{Workspace, sweep};

/// Settings of a [`ProcessExecutor`].
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    /// The shell that runs scripts.
    pub shell: PathBuf,
    /// The Python interpreter, a path or a name on `PATH`; 3.9 or newer.
    pub python: PathBuf,
    /// Directories put on the module search path after those of the Tool and the folder of its manifest.
    pub python_path: Vec<PathBuf>,
    /// Where the folders of calls are made.
    pub temporary_folder: PathBuf,
}

impl Default for ProcessOptions {
    /// `/bin/sh`, `python3`, the system's temporary folder.
    fn default() -> Self {
        Self {
            shell: "/bin/sh".into(),
            python: "python3".into(),
            python_path: Vec::new(),
            temporary_folder: std::env::temp_dir(),
        }
    }
}

/// Time a fixed program may take to answer. Long, because a loaded machine is slow, and short enough to be noticed.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Time the markers may take after a kill line. The pipes keep what was written before, so little is lost by less.
const KILL_GRACE: Duration = Duration::from_millis(300);

/// Time after which processes that can't be killed are left to a task of their own.
const SWEEP_LIMIT: Duration = Duration::from_secs(1);

/// Between two looks at the memory of a call that has a bound.
const MEMORY_INTERVAL: Duration = Duration::from_millis(50);

/// Between two looks for orphans of a running call that have ended.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// Runs tools as child processes.
#[derive(Clone, Debug)]
pub struct ProcessExecutor {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: ProcessOptions,
    python: OnceCell<PathBuf>,
}

impl ProcessExecutor {
    /// An executor with these settings. Makes this process the reaper of its orphaned descendants (Linux).
    pub fn new(options: ProcessOptions) -> Self {
        adopt_orphans();
        let folder = options.temporary_folder.clone();
        // Where no thread can be had, what others left stays.
        let _ = std::thread::Builder::new().spawn(move || sweep(&folder));
        Self { inner: Arc::new(Inner { options, python: OnceCell::new() }) }
    }
}

#[async_trait]
impl Executor for ProcessExecutor {
    async fn execute(
        &self,
        invocation: Invocation,
        progress: &dyn ProgressSink,
        cancel: CancellationToken,
    ) -> Outcome {
        // The call has a task of its own: whoever drops this future cancels it and doesn't interrupt its cleaning up.
        let cancel = cancel.child_token();
        let _cancel_on_drop = cancel.clone().drop_guard();
        let (report, mut reports) = mpsc::unbounded_channel();
        let mut call = tokio::spawn(run(self.inner.clone(), invocation, report, cancel));
        loop {
            tokio::select! {
                biased;
                Some(step) = reports.recv() => progress.report(step),
                ended = &mut call => return ended.unwrap_or_else(|error| {
                    bare(Ending::Unknown(format!("the call was lost: {error}")), Duration::ZERO)
                }),
            }
        }
    }
}

type Reports = mpsc::UnboundedSender<Progress>;

async fn run(
    inner: Arc<Inner>,
    invocation: Invocation,
    reports: Reports,
    cancel: CancellationToken,
) -> Outcome {
    let accepted = Instant::now();
    let report = |stage, message: &str| {
        let _ = reports.send(Progress { stage, message: message.to_owned() });
    };
    report(Stage::Starting, "starting the tool");
    let mut call = match Call::start(&inner, &invocation).await {
        Ok(call) => call,
        Err(Refused { reason, fix }) => return refused(reason, fix),
    };
    let outcome = match call
        .converse(&invocation, &cancel, || report(Stage::Running, "the tool is running"))
        .await
    {
        Ok((conclusion, startup)) => {
            let lost = call.lost(&conclusion).await;
            let timeout = invocation.tool.limits.timeout;
            outcome(conclusion, timeout, &invocation.session, startup, || lost)
        }
        Err(NotStarted::Cancelled) => bare(Ending::Cancelled, accepted.elapsed()),
        Err(NotStarted::Refused(error)) => refused(
            format!("{} {error}", call.plan.program.display()),
            "check that it is a working interpreter, and that this machine isn't out of processes or memory",
        ),
    };
    call.clean_up().await;
    outcome
}

/// Why a started call was never sent its payload.
enum NotStarted {
    Cancelled,
    Refused(GreetError),
}

/// A running call and all that has to be undone when it is over.
struct Call {
    plan: Plan,
    child: Child,
    root: Root,
    family: Family,
    streams: Option<Streams>,
    transport: ChildTransport,
    workspace: Option<Workspace>,
    cleaned: bool,
    accepted: Instant,
}

impl Call {
    /// Starts the fixed program of a call.
    async fn start(inner: &Inner, invocation: &Invocation) -> Result<Self, Refused> {
        let accepted = Instant::now();
        let python = || inner.python.get_or_try_init(|| super::plan::find_python(&inner.options.python));
        let plan = Plan::new(&inner.options, invocation, python).await?;
        let failed = |what: &str, error: &dyn std::fmt::Display| Refused {
            reason: format!("{what}: {error}"),
            fix: "mend this machine, then call again".into(),
        };
        let workspace = Workspace::create(&inner.options.temporary_folder)
            .map_err(|error| failed("the folder of the call can't be made", &error))?;
        let transport = ChildTransport::new().map_err(|error| failed("signals can't be watched", &error))?;
        let mut command = Command::new(&plan.program);
        command
            .args(&plan.args)
            .env_clear()
            .envs(plan.env.iter().map(|(name, value)| (name, value)))
            .current_dir(workspace.working_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if !plan.sets_tmpdir {
            command.env("TMPDIR", workspace.temporary_folder());
        }
        let mut child = command.spawn().map_err(|error| Refused {
            reason: format!("{} can't be started: {error}", plan.program.display()),
            fix: format!("check that {} exists and can be executed", plan.program.display()),
        })?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
        let (Some(pid), Some(stdin), Some(stdout), Some(stderr)) =
            (pid, child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("the tool's process can't be used", &"no process id or no streams"));
        };
        Ok(Self {
            plan,
            child,
            root: Root::register(pid),
            family: Family::new(&workspace.session_file().to_string_lossy()),
            streams: Some(Streams {
                stdin: Box::new(stdin),
                stdout: Box::new(stdout),
                stderr: Box::new(stderr),
            }),
            transport: ChildTransport { pid: Some(pid), ..transport },
            workspace: Some(workspace),
            cleaned: false,
            accepted,
        })
    }

    /// Has the conversation. Returns how it went and how long it took until the payload was sent.
    async fn converse(
        &mut self,
        invocation: &Invocation,
        cancel: &CancellationToken,
        running: impl FnOnce(),
    ) -> Result<(Conclusion, Duration), NotStarted> {
        let Some(streams) = self.streams.take() else { return Err(NotStarted::Cancelled) };
        let greeted = tokio::select! {
            () = cancel.cancelled() => return Err(NotStarted::Cancelled),
            greeted = greet(streams, START_PATIENCE) => greeted.map_err(NotStarted::Refused)?,
        };
        let startup = self.accepted.elapsed();
        running();
        let limits = &invocation.tool.limits;
        let bounds = Bounds {
            output_bytes: invocation.capture_bytes,
            timeout: limits.timeout,
            kill_grace: KILL_GRACE,
        };
        let session_file = self.workspace.as_ref().map(Workspace::session_file).unwrap_or_default();
        let (plan, tag) = (&self.plan, self.family.tag());
        let payload = |marker: &str| plan.payload(invocation, &session_file, OnHangup::Kill, tag, marker);
        let stop = watch(&self.family, self.root.pid(), plan.memory, cancel);
        let conclusion = greeted.run(payload, &bounds, &mut self.transport, stop).await;
        Ok((conclusion, startup))
    }

    /// How the call ended if its markers are missing and nobody stopped it: somebody ended its wrapper.
    async fn lost(&mut self, conclusion: &Conclusion) -> Ending {
        if conclusion.code.is_some() || conclusion.stop.is_some() {
            return Ending::Cancelled;
        }
        let _ = tokio::time::timeout(KILL_GRACE, self.transport.ended()).await;
        match self.transport.status {
            Some(WaitStatus::Signaled(_, signal, _)) => Ending::Signaled(signal as i32),
            Some(WaitStatus::Exited(_, 143)) => Ending::Signaled(Signal::SIGTERM as i32),
            Some(WaitStatus::Exited(_, code)) => Ending::Unknown(format!(
                "the wrapper of the tool ended with code {code} and did not say how the tool ended"
            )),
            _ => Ending::Unknown("the wrapper of the tool fell silent".into()),
        }
    }

    /// Ends everything that is left and removes the folder.
    async fn clean_up(mut self) {
        self.cleaned = true;
        // The child isn't waited for yet: its id, and with it the id of its group, can't be anybody else's.
        let _ = killpg(self.root.pid(), Signal::SIGKILL);
        let _ = waiting(self.child.wait()).await;
        let family = self.family.clone();
        let workspace = self.workspace.take();
        let gone = family.kill_all(SWEEP_LIMIT).await;
        if let Some(workspace) = workspace {
            let _ = tokio::task::spawn_blocking(move || workspace.remove()).await;
        }
        if !gone {
            tracing::warn!("processes of a tool can't be killed yet; still trying");
            tokio::spawn(async move { while !family.kill_all(Duration::from_secs(60)).await {} });
        }
    }
}

impl Drop for Call {
    /// The last resort, when the runtime itself goes away.
    fn drop(&mut self) {
        if self.cleaned {
            return;
        }
        let _ = killpg(self.root.pid(), Signal::SIGKILL);
        let _ = self.child.start_kill();
        let give_up = Instant::now() + SWEEP_LIMIT;
        while matches!(try_wait(&mut self.child), Ok(None)) && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
        while self.family.kill_orphans() > 0 && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Resolves when the call is to be stopped from here; meanwhile waits for its ended orphans now and then.
async fn watch(family: &Family, root: Pid, memory: Option<u64>, cancel: &CancellationToken) -> Stop {
    let interval = if memory.is_some() { MEMORY_INTERVAL } else { REAP_INTERVAL };
    loop {
        tokio::select! {
            () = cancel.cancelled() => return Stop::Cancelled,
            () = tokio::time::sleep(interval) => {}
        }
        family.reap();
        if memory.is_some_and(|limit| family.private_memory(root) > limit) {
            return Stop::OutOfMemory;
        }
    }
}

/// A child process as the far side of a conversation.
struct ChildTransport {
    pid: Option<Pid>,
    children: tokio::signal::unix::Signal,
    status: Option<WaitStatus>,
}

impl ChildTransport {
    /// Must be made before the child is started, or its end might go unnoticed.
    fn new() -> std::io::Result<Self> {
        Ok(Self { pid: None, children: signal(SignalKind::child())?, status: None })
    }
}

#[async_trait]
impl Transport for ChildTransport {
    async fn ended(&mut self) {
        let Some(pid) = self.pid else { return };
        while self.status.is_none() {
            // Looks without waiting for it: its id must stay its own until its group has been killed.
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            match waitid(Id::Pid(pid), flags) {
                Ok(WaitStatus::StillAlive) => {
                    self.children.recv().await;
                }
                Ok(status) => self.status = Some(status),
                Err(_) => return,
            }
        }
    }
}
