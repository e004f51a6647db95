//! The one conversation by which a tool is run, over three byte streams.
//!
//! ```text
//! gateway                                   fixed program (SHELL_PROGRAM or PYTHON_RUNNER)
//!   stdin:  HELLO ⏎                    →
//!                                      ←    stderr: HELLO ⏎            the far side is there, alone
//!   stdin:  go ⏎ payload               →                               only now is anything run
//!                                      ←    stdout: tool's bytes, [MARKER r ⏎ result,] MARKER x ⏎
//!                                      ←    stderr: tool's bytes, [MARKER s|j ⏎ session,] MARKER x CODE ⏎
//!   stdin:  kill ⏎                     →    at a time-out or cancel: the tool's session is killed, markers follow
//!   stdin:  bye ⏎                      →    only now does the far side exit: nothing printed is lost
//! ```
//!
//! A local child and an attached pod differ in their [`Transport`] only. MARKER is random for each call and in no
//! variable, argument or file; a run is complete when both markers were seen, and otherwise nobody knows how it ended.

use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};

use super::capture::{Stream, StreamParts};

/// What the fixed program does to the tool when its stdin ends before `bye`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHangup {
    /// Kills it: nobody else will ever look for it.
    Kill,
    /// Lets it run on: another gateway may read its output from the node's log.
    Continue,
}

/// The three streams of the far side.
pub struct Streams {
    /// Its standard input.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// Its standard error.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
}

/// Where the fixed program runs.
#[async_trait]
pub trait Transport: Send {
    /// Resolves once the far side has ended, even though others may hold its streams open. Must be cancel safe.
    async fn ended(&mut self);
}

/// Why the tool is to be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its time is over.
    TimedOut,
    /// The caller cancelled or went away.
    Cancelled,
    /// It has more memory than its bound.
    OutOfMemory,
}

/// Bounds of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes kept of each stream.
    pub output_bytes: usize,
    /// Time the tool may run.
    pub timeout: Duration,
    /// Time the markers may take after a kill.
    pub kill_grace: Duration,
}

/// Why the far side was never sent anything. Safe to repeat.
#[derive(Debug, thiserror::Error)]
pub enum GreetError {
    /// It ended, or its streams did.
    #[error("ended before it answered{}", quoted(.0))]
    Ended(String),
    /// It is there but says nothing.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
}

fn quoted(said: &str) -> String {
    if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) }
}

/// What of a conversation is left when it is over.
#[derive(Debug)]
pub struct Conclusion {
    /// Exit code of the tool (negative: a signal); none: the markers are missing.
    pub code: Option<i32>,
    /// Why it was killed, if it was.
    pub stop: Option<Stop>,
    /// What stdout contained.
    pub stdout: StreamParts,
    /// What stderr contained.
    pub stderr: StreamParts,
    /// Time from sending the payload to the markers.
    pub duration: Duration,
}

/// Most bytes that are read while waiting for the answer to the hello.
const GREETING_LIMIT: usize = 64 * 1024;

/// Size of one read: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Time between two kill lines. A shell may read one of them ahead, together with the payload, and lose it.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// How long the streams are still read after the far side has ended: what is in the pipes is there already.
const DRAIN: Duration = Duration::from_millis(200);

/// A far side that has answered and waits for its payload.
pub struct Greeted {
    streams: Streams,
    /// What stderr brought after the answer.
    rest: Vec<u8>,
}

/// 128 random bits, as hex digits.
pub fn nonce() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Says hello and waits for the answer.
pub async fn greet(mut streams: Streams, patience: Duration) -> Result<Greeted, GreetError> {
    let hello = format!("{}\n", nonce());
    let answer = async {
        let written = streams.stdin.write_all(hello.as_bytes()).await;
        let mut said = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            if let Some(at) = memchr::memmem::find(&said, hello.as_bytes()) {
                return Ok(said.split_off(at + hello.len()));
            }
            match streams.stderr.read(&mut buffer).await {
                Ok(n) if n > 0 && said.len() < GREETING_LIMIT => said.extend_from_slice(&buffer[..n]),
                _ => return Err(said),
            }
            if written.is_err() && said.is_empty() {
                return Err(said);
            }
        }
    };
    match timeout(patience, answer).await {
        Ok(Ok(rest)) => Ok(Greeted { streams, rest }),
        Ok(Err(said)) => Err(GreetError::Ended(String::from_utf8_lossy(&said).into_owned())),
        Err(_) => Err(GreetError::Silent(patience)),
    }
}

/// Lines waiting to be written to the far side.
struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    open: bool,
}

impl Outbox {
    fn pending(&self) -> bool {
        self.open && self.sent < self.bytes.len()
    }

    fn wrote(&mut self, result: &std::io::Result<usize>) {
        match result {
            Ok(n) if *n > 0 => self.sent += n,
            // The far side reads no more. What it still says is in the other streams.
            _ => self.open = false,
        }
        if self.sent == self.bytes.len() {
            self.bytes = Vec::new();
            self.sent = 0;
        }
    }
}

/// One output stream and where it is read from.
struct Inlet {
    source: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Vec<u8>,
    stream: Stream,
    open: bool,
}

impl Inlet {
    fn new(source: Box<dyn AsyncRead + Send + Unpin>, marker: &str, limit: usize) -> Self {
        Self { source, buffer: vec![0; CHUNK], stream: Stream::new(marker, limit), open: true }
    }

    /// Reads once. Cancel safe.
    async fn read(&mut self) {
        match self.source.read(&mut self.buffer).await {
            Ok(n) if n > 0 => self.stream.push(&self.buffer[..n]),
            _ => self.open = false,
        }
    }

    /// Whether anything is still to be expected.
    fn awaited(&self) -> bool {
        self.open && !self.stream.ended()
    }
}

impl Greeted {
    /// Sends what `payload` makes of the marker and reads until both markers were seen, or can't come any more.
    /// `stop` resolves when the tool is to be killed.
    pub async fn run(
        self,
        payload: impl FnOnce(&str) -> Vec<u8>,
        bounds: &Bounds,
        transport: &mut dyn Transport,
        stop: impl Future<Output = Stop>,
    ) -> Conclusion {
        self.run_marked(nonce(), payload, bounds, transport, stop).await
    }

    async fn run_marked(
        self,
        marker: String,
        payload: impl FnOnce(&str) -> Vec<u8>,
        bounds: &Bounds,
        transport: &mut dyn Transport,
        stop: impl Future<Output = Stop>,
    ) -> Conclusion {
        let Streams { mut stdin, stdout, stderr } = self.streams;
        let mut outbox = Outbox { bytes: payload(&marker), sent: 0, open: true };
        let mut out = Inlet::new(stdout, &marker, bounds.output_bytes);
        let mut err = Inlet::new(stderr, &marker, bounds.output_bytes);
        err.stream.push(&self.rest);

        let started = Instant::now();
        let deadline = started + bounds.timeout;
        let mut stopped: Option<(Stop, Instant)> = None;
        let mut next_kill = started;
        let mut drained: Option<Instant> = None;
        let mut stop = pin!(stop);
        let mut ended = pin!(transport.ended());
        while out.awaited() || err.awaited() {
            let requested = tokio::select! {
                () = out.read(), if out.awaited() => None,
                () = err.read(), if err.awaited() => None,
                written = stdin.write(&outbox.bytes[outbox.sent..]), if outbox.pending() => {
                    outbox.wrote(&written);
                    None
                }
                reason = &mut stop, if stopped.is_none() => Some(reason),
                () = sleep_until(deadline), if stopped.is_none() => Some(Stop::TimedOut),
                () = sleep_until(next_kill), if stopped.is_some() => None,
                () = &mut ended, if drained.is_none() => {
                    drained = Some(Instant::now() + DRAIN);
                    None
                }
                () = sleep_until(drained.unwrap_or(deadline)), if drained.is_some() => break,
            };
            let now = Instant::now();
            if let Some(reason) = requested {
                stopped = Some((reason, now + bounds.kill_grace));
                next_kill = now;
            }
            if let Some((_, give_up)) = stopped {
                if now >= give_up {
                    break;
                }
                if now >= next_kill {
                    outbox.bytes.extend_from_slice(b"kill\n");
                    next_kill = now + KILL_INTERVAL;
                }
            }
        }
        let duration = started.elapsed();
        // A far side that can't take a line at once has ended already or will be ended by its transport.
        let _ = timeout(KILL_INTERVAL, async {
            stdin.write_all(b"bye\n").await?;
            stdin.flush().await
        })
        .await;
        let complete = out.stream.ended() && err.stream.ended();
        let (stdout, stderr) = (out.stream.finish(), err.stream.finish());
        Conclusion {
            code: stderr.code.filter(|_| complete),
            stop: stopped.map(|(reason, _)| reason),
            stdout,
            stderr,
            duration,
        }
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
