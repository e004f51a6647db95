//! An HTTP server that keeps every request as it came.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The server. Its thread ends with the process.
pub struct Recorder {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    /// Answers every request with this JSON.
    pub fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(request) = serve(stream, answer) {
                    kept.lock().unwrap().push(request);
                }
            }
        });
        Self { url, requests }
    }

    /// The requests since the last call of this, byte for byte but for the port and curl's version.
    pub fn take(&self) -> Vec<String> {
        let host = self.url.trim_start_matches("http://");
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        requests.into_iter().map(|request| request.replace(host, "[HOST]")).collect()
    }
}

fn serve(stream: TcpStream, answer: &str) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let head: Vec<&str> =
        head.trim_end().split("\r\n").filter(|line| !line.starts_with("User-Agent: curl/")).collect();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
    reader.into_inner().write_all(answer.as_bytes()).ok()?;
    Some(format!("{}\n\n{}", head.join("\n"), shown(body)).trim_end().to_owned())
}

/// A body such that two different ones never look the same: as text where that is certain, else escaped.
fn shown(body: Vec<u8>) -> String {
    match String::from_utf8(body) {
        Ok(text) if text.trim_end() == text && !text.starts_with("bytes: ") => text,
        Ok(text) => format!("bytes: {}", text.as_bytes().escape_ascii()),
        Err(error) => format!("bytes: {}", error.as_bytes().escape_ascii()),
    }
}

#[test]
fn no_two_bodies_look_the_same() {
    let bodies: [&[u8]; 7] =
        [b"", b"a", b"a\n", b"a\xff", "a\u{fffd}".as_bytes(), b"bytes: a\\n", b"bytes: a"];
    let looks: std::collections::BTreeSet<String> = bodies.map(|body| shown(body.to_vec())).into();
    assert_eq!(looks.len(), bodies.len(), "{looks:?}");
}
