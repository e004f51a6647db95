//! Files change while the server serves: the change is found, and no request fails meanwhile.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use mcc_tests::server::Server;
use mcc_tests::{http, workspace};
use serde_json::json;

const EDITS: usize = 50;
const REQUESTS: usize = 1000;
/// Generous: the figure that counts is printed, and held by `./test --full`.
const DEADLINE: Duration = Duration::from_secs(30);
/// Acceptance list: visible within a second.
const WANTED: Duration = Duration::from_secs(1);

fn write(folder: &Path, edit: usize) -> anyhow::Result<()> {
    let manifest = format!(
        "apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {{name: changing}}
spec:
  groups: [public]
  description: Version quokka{edit} of a tool that changes.
  shell: {{script: echo {edit}}}
"
    );
    // Half of the edits as editors write: a new file in the place of the old one.
    if edit.is_multiple_of(2) {
        fs_err::write(folder.join("changing.yaml"), manifest)?;
    } else {
        fs_err::write(folder.join(".changing.yaml.tmp"), manifest)?;
        fs_err::rename(folder.join(".changing.yaml.tmp"), folder.join("changing.yaml"))?;
    }
    Ok(())
}

#[test]
fn edits_are_served_and_no_request_fails() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    for file in ["groups.yaml", "tools.yaml"] {
        fs_err::copy(workspace::root().join("tests/fixtures/catalog").join(file), folder.path().join(file))?;
    }
    write(folder.path(), 0)?;
    let server = Server::start(folder.path(), &[])?;
    let load = Load::default();
    let (edited, answered) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let (load, server) = (&load, &server);
                scope.spawn(move || load.run(worker, server))
            })
            .collect();
        let edited = (1..=EDITS)
            .map(|edit| {
                load.wait_for(edit * REQUESTS / EDITS)?;
                edit_and_find(&server, folder.path(), edit)
            })
            .collect::<anyhow::Result<Vec<Span>>>();
        load.done.store(true, Ordering::Relaxed);
        let answered = workers.into_iter().map(|worker| worker.join().expect("no panic"));
        (edited, answered.collect::<anyhow::Result<Vec<_>>>())
    });
    // A failed request is why edits stop: said first.
    let answered: Vec<Span> = answered?.into_iter().flatten().collect();
    let edited = edited?;
    ensure!(answered.len() >= REQUESTS, "{} requests only", answered.len());
    for (number, edit) in edited.iter().enumerate() {
        let meanwhile = answered.iter().filter(|request| request.overlaps(edit)).count();
        ensure!(meanwhile > 0, "no request was in flight during edit {}", number + 1);
    }
    let slowest = edited.iter().map(Span::time).max().unwrap_or_default();
    println!("{} requests during {EDITS} edits, slowest edit visible after {slowest:?}", answered.len());
    if workspace::is_full() {
        ensure!(slowest <= WANTED, "an edit was visible after {slowest:?} only");
    }
    Ok(())
}

/// From when to when a request was in flight, or an edit on its way.
struct Span(Instant, Instant);

impl Span {
    fn overlaps(&self, other: &Self) -> bool {
        self.0 <= other.1 && other.0 <= self.1
    }

    fn time(&self) -> Duration {
        self.1 - self.0
    }
}

/// Requests that go on until the edits are done.
#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    failed: AtomicBool,
    done: AtomicBool,
}

impl Load {
    /// Sends one request after the other; gives when each was in flight.
    fn run(&self, worker: usize, server: &Server) -> anyhow::Result<Vec<Span>> {
        let mut answered = Vec::new();
        while !self.done.load(Ordering::Relaxed) {
            let number = self.sent.fetch_add(1, Ordering::Relaxed);
            let began = Instant::now();
            if let Err(error) = request(server, worker + number) {
                self.failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
            answered.push(Span(began, Instant::now()));
        }
        Ok(answered)
    }

    /// Waits until this many requests have been sent.
    fn wait_for(&self, requests: usize) -> anyhow::Result<()> {
        while self.sent.load(Ordering::Relaxed) < requests {
            ensure!(!self.failed.load(Ordering::Relaxed), "a request failed");
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Sends a request of one kind of four, and looks at its answer.
fn request(server: &Server, number: usize) -> anyhow::Result<()> {
    let (tool, arguments, wanted) = match number % 4 {
        0 => ("search", json!({"query": "papers"}), "academic.semantic_scholar_search"),
        1 => ("whoami", json!({}), "username: dev"),
        2 => ("describe_tools", json!({"groups": ["public"]}), "## public.echo"),
        _ => ("execute", json!({"key": "public.echo", "params": {"what": "still here"}}), "still here"),
    };
    let result = http::call(server.url(), tool, &arguments)?;
    ensure!(http::text(&result).contains(wanted), "{tool}: {result}");
    Ok(())
}

/// Makes an edit and waits until a search shows it.
fn edit_and_find(server: &Server, folder: &Path, edit: usize) -> anyhow::Result<Span> {
    let written = Instant::now();
    write(folder, edit)?;
    let query = json!({"query": format!("quokka{edit}"), "limit": 3});
    loop {
        let result = http::call(server.url(), "search", &query)?;
        if http::text(&result).contains(&format!("Version quokka{edit} of")) {
            return Ok(Span(written, Instant::now()));
        }
        ensure!(written.elapsed() < DEADLINE, "edit {edit} isn't found: {result}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_broken_file_leaves_its_last_good_tools() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    write(folder.path(), 1)?;
    let server = Server::start(folder.path(), &[])?;
    fs_err::write(
        folder.path().join("changing.yaml"),
        "apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata: {name: [",
    )?;
    // A second file that is good: once it is served, the broken one has been seen, too.
    let other = "{apiVersion: mcc.dev/v1alpha1, kind: Tool, metadata: {name: other}, spec: {groups: [public], description: Wombat., shell: {script: echo wombat}}}";
    fs_err::write(folder.path().join("other.yaml"), other)?;
    let began = Instant::now();
    loop {
        let result = http::call(server.url(), "execute", &json!({"key": "public.other"}))?;
        if http::text(&result).contains("wombat") {
            break;
        }
        ensure!(began.elapsed() < DEADLINE, "{result}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let result = http::call(server.url(), "execute", &json!({"key": "public.changing"}))?;
    assert_eq!(http::text(&result).trim(), "1");
    Ok(())
}
