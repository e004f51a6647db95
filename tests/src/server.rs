//! `mcc up`, started on a free port and killed when it goes out of scope.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::workspace;

/// How long a server may take to say where it listens; generous, for a machine that also builds.
const START: Duration = Duration::from_secs(60);

/// A running `mcc up`.
#[derive(Debug)]
pub struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Serves the manifests of a folder with further arguments of `mcc up`, and waits until it listens.
    pub fn start(folder: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(workspace::program("mcc")?);
        command.arg("up").arg(folder).args(["--listen", "127.0.0.1:0"]).args(arguments);
        Self::of(&mut command)
    }

    /// Runs `mcc up`, as the command says, and waits until it listens.
    pub fn of(command: &mut Command) -> anyhow::Result<Self> {
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (found, url) = mpsc::channel();
        for stream in
            [process.stdout.take().map(boxed), process.stderr.take().map(boxed)].into_iter().flatten()
        {
            let found = found.clone();
            // Reads to the end, so that the server never blocks on a full pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if let Some(url) = mcp_url(&line) {
                        let _ = found.send(Ok(url));
                    } else {
                        let _ = found.send(Err(line));
                    }
                }
            });
        }
        drop(found);
        let mut said = Vec::new();
        let mut server = Self { process, url: String::new() };
        while server.url.is_empty() {
            match url.recv_timeout(START) {
                Ok(Ok(url)) => server.url = url,
                Ok(Err(line)) => said.push(line),
                Err(_) => anyhow::bail!("mcc up didn't say where it listens:\n{}", said.join("\n")),
            }
        }
        Ok(server)
    }

    /// Its MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn boxed(stream: impl std::io::Read + Send + 'static) -> Box<dyn std::io::Read + Send> {
    Box::new(stream)
}

/// The first MCP URL in a line.
fn mcp_url(line: &str) -> Option<String> {
    let start = line.find("http://")?;
    let url = line[start..].split([' ', '"', '\u{1b}']).next()?;
    url.ends_with("/mcp").then(|| url.to_owned())
}
