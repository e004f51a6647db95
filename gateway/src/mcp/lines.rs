//! MCP over two byte streams, a message a line (the stdio transport). rmcp's own passes silently over lines that are no
//! message, so that a client waits for ever; this one answers them.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::unreadable::Unreadable;

/// One client behind two byte streams.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    /// The line as far as it has come: waiting for more of it may be interrupted.
    line: Vec<u8>,
    /// Longest line, in bytes.
    longest: usize,
    /// The rest of this line is passed over.
    skipping: bool,
    write: Arc<Mutex<W>>,
    /// Cancelled when the client is gone.
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    /// Messages of at most `longest` bytes; `gone` is cancelled when the client closes its side.
    pub(crate) fn new(read: R, write: W, longest: usize, gone: CancellationToken) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            longest,
            skipping: false,
            write: Arc::new(Mutex::new(write)),
            gone,
        }
    }

    /// The next line, without the part of one that is too long; none at the end.
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let room = (self.longest + 1).saturating_sub(self.line.len());
            let read = (&mut self.read).take(room as u64).read_until(b'\n', &mut self.line).await?;
            let whole = self.line.last() == Some(&b'\n');
            if whole || (read == 0 && room > 0) {
                let line = std::mem::take(&mut self.line);
                let skipped = std::mem::take(&mut self.skipping);
                return Ok(match (line.is_empty(), skipped) {
                    (true, _) => None,
                    (false, true) => Some(Line::TooLong),
                    (false, false) => Some(Line::Whole(line)),
                });
            }
            if self.line.len() > self.longest {
                self.line.clear();
                // Whatever is left of it must not look empty.
                self.line.push(b' ');
                self.skipping = true;
            }
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

async fn write_line<W: AsyncWrite + Unpin>(write: &Mutex<W>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = self.write.clone();
        async move { write_line(&write, serde_json::to_vec(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let refused = match self.next().await {
                Ok(Some(Line::Whole(line))) if line.trim_ascii().is_empty() => continue,
                Ok(Some(Line::Whole(line))) => match serde_json::from_slice(&line) {
                    Ok(message) => return Some(message),
                    Err(_) => Unreadable::of(&line),
                },
                Ok(Some(Line::TooLong)) => Unreadable::too_long(self.longest),
                Ok(None) | Err(_) => {
                    self.gone.cancel();
                    return None;
                }
            };
            let line = refused.message().to_string().into_bytes();
            if let Err(error) = write_line(&self.write, line).await {
                tracing::debug!(%error, "the client doesn't read");
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to these lines, and the ids of the messages that come through.
    async fn talk(sent: &[u8], longest: usize) -> (Vec<String>, String, bool) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let gone = CancellationToken::new();
        let (read, write) = tokio::io::split(theirs);
        let mut lines = Lines::new(read, write, longest, gone.clone());
        let (mut answers, mut requests) = tokio::io::split(ours);
        requests.write_all(sent).await.unwrap();
        requests.shutdown().await.unwrap();
        let mut came = Vec::new();
        while let Some(message) = lines.receive().await {
            came.push(serde_json::to_value(&message).unwrap()["id"].to_string());
        }
        lines.close().await.unwrap();
        let mut said = String::new();
        answers.read_to_string(&mut said).await.unwrap();
        (came, said, gone.is_cancelled())
    }

    #[tokio::test]
    async fn every_line_is_a_message_or_gets_an_answer() {
        let ping = |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let mut sent = Vec::new();
        for part in [ping(1).as_bytes(), b"{\n", b"\n", b"\xff\n", ping(2).as_bytes(), b"[1]"] {
            sent.extend_from_slice(part);
        }
        let (came, said, gone) = talk(&sent, 1000).await;
        assert_eq!(came, ["1", "2"]);
        let codes: Vec<serde_json::Value> = said
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["error"]["code"].clone())
            .collect();
        assert_eq!(codes, [-32700, -32700, -32600]);
        assert!(gone);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over() {
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        for length in [100, 101, 150, 1000] {
            let (came, said, _) = talk(format!("{}\n{ping}", "x".repeat(length)).as_bytes(), 100).await;
            assert_eq!(came, ["9"], "{length}");
            assert_eq!(said.lines().count(), 1, "{said}");
            let too_long = length > 100;
            assert_eq!(said.contains("more than 100 bytes"), too_long, "{length} {said}");
        }
    }
}
