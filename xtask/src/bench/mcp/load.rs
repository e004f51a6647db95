//! The load: requests made beforehand, sent over connections that stay open, one after the other on each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Before the clock runs.
const WARM_UP: Duration = Duration::from_millis(300);

/// What a load measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Requests answered in a second, all connections together.
    pub requests_per_second: f64,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// Latency in microseconds that one request in a hundred exceeds.
    pub p99_us: f64,
}

/// A request of the stateless era, ready to send.
pub fn request(address: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

/// One connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to `HOST:PORT`.
    pub async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and gives the body of its answer, which must be 200 and of a known length.
    pub async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            self.read().await?;
        };
        let text = std::str::from_utf8(&self.buffer[..head])?.to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize =
            length.with_context(|| format!("an answer without a length: {text}"))?.trim().parse()?;
        while self.buffer.len() < head + length {
            self.read().await?;
        }
        let body = &self.buffer[head..head + length];
        ensure!(text.starts_with("http/1.1 200"), "{text}{}", String::from_utf8_lossy(body));
        Ok(body)
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// Sends `requests` in turn over `connections` connections for `time`.
pub async fn run(
    address: &str,
    requests: Arc<Vec<Vec<u8>>>,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let mut tasks = Vec::new();
    let begin = Instant::now() + WARM_UP;
    for number in 0..connections {
        let (address, requests) = (address.to_owned(), requests.clone());
        tasks.push(tokio::spawn(async move { one(&address, &requests, number, begin, time).await }));
    }
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    // Requests that were under way at the end count, and so does their time.
    let time = begin.elapsed().max(time);
    ensure!(!latencies.is_empty(), "there are no requests to send");
    latencies.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank"
        )]
        let rank = ((latencies.len() - 1) as f64 * share).round() as usize;
        latencies[rank].as_secs_f64() * 1e6
    };
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
    let requests_per_second = latencies.len() as f64 / time.as_secs_f64();
    Ok(Measured { requests_per_second, p50_us: at(0.5), p99_us: at(0.99) })
}

async fn one(
    address: &str,
    requests: &[Vec<u8>],
    first: usize,
    begin: Instant,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let mut latencies = Vec::new();
    for request in requests.iter().cycle().skip(first) {
        let sent = Instant::now();
        // One at least, however slow the machine is.
        if sent > begin + time && !latencies.is_empty() {
            break;
        }
        connection.exchange(request).await?;
        if sent >= begin {
            latencies.push(sent.elapsed());
        }
    }
    Ok(latencies)
}
