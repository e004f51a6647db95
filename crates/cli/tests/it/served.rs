//! `mcc up`, and the commands on it as a server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;

use crate::support::{fixtures, mcc, outcome};

/// A running `mcc up`, ended when it goes out of scope.
struct Up {
    process: Child,
    url: String,
}

impl Up {
    fn start(args: &[&str]) -> Self {
        let mut process = mcc()
            .arg("up")
            .arg(fixtures().join("manifests"))
            .args(["--listen", "127.0.0.1:0"])
            .args(args)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("mcc up ended").unwrap();
            if let Some(url) = line.split_whitespace().find(|word| word.ends_with("/mcp")) {
                break url.to_owned();
            }
        };
        // Reads on, so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url }
    }

    fn on(&self, command: &str) -> Command {
        let mut mcc = mcc();
        mcc.args([command, "--server", &self.url]);
        mcc
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn commands_on_a_server() {
    for args in [&[][..], &["--tool-prefix", "tools_"]] {
        let up = Up::start(args);
        assert_snapshot!("served_list", outcome(&mut up.on("list")));
        assert_snapshot!("served_info", outcome(up.on("info").arg("text.shout")));
        assert_snapshot!("served_info_unknown", outcome(up.on("info").arg("text.shuot")));
        assert_snapshot!(
            "served_call",
            outcome(up.on("call").args(["public.greet", "name=O'Neil", "times=2"]))
        );
        assert_snapshot!("served_call_fails", outcome(up.on("call").args(["public.fail", "code=3"])));
        assert_snapshot!("served_call_wrong", outcome(up.on("call").args(["public.greet", "nmae=x"])));
        let found = outcome(up.on("search").args(["say hello to somebody", "-o", "json"]));
        assert!(found.starts_with("exit: 0\n") && found.contains("\"key\": \"public.greet\""), "{found}");
        let once = |name: &str| {
            let argument = format!("name={name}");
            outcome(up.on("call").args(["public.greet", &argument, "--idempotency-key", "k1"]))
        };
        assert_eq!(once("a"), once("a"));
        assert!(once("b").starts_with("exit: 1\n"), "the same key with other arguments");
    }
}

#[test]
fn who_may_see_what() {
    let alice = Up::start(&["--user", "alice"]);
    assert!(outcome(alice.on("list").arg("--keys")).contains("text.shout"));
    let anonymous = Up::start(&["--anonymous"]);
    let listed = outcome(anonymous.on("list").arg("--keys"));
    assert!(listed.contains("public.greet") && !listed.contains("text.shout"), "{listed}");
}

#[test]
fn refusals_before_serving() {
    let run = |args: &[&str]| outcome(mcc().arg("up").args(args).current_dir(fixtures()));
    assert_snapshot!("up_exposed", run(&["manifests", "--listen", "0.0.0.0:0"]));
    assert_snapshot!("up_exposed_user", run(&["manifests", "--listen", "0.0.0.0:0", "--user", "alice"]));
    assert_snapshot!("up_absent", run(&["absent"]));
    assert_snapshot!("up_prefix", run(&["manifests", "--listen", "127.0.0.1:0", "--tool-prefix", "a b"]));
    assert_snapshot!("up_claims_of_nobody", run(&["manifests", "--groups", "staff", "--anonymous"]));
}

#[test]
fn metrics_have_a_port_of_their_own() {
    let mut process = mcc()
        .arg("up")
        .arg(fixtures().join("manifests"))
        .args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    let url = lines.find_map(|line| Some(line.strip_prefix("Metrics")?.trim().to_owned())).unwrap();
    let (address, _) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    std::io::Write::write_all(
        &mut stream,
        b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    let answer = std::io::read_to_string(stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A server that refuses a request before it can know which one it is must not be waited for.
#[test]
fn parameters_that_are_too_large_are_an_error() {
    let up = Up::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("params.json");
    std::fs::write(&file, format!("{{\"text\": \"{}\"}}", "a".repeat(5 << 20))).unwrap();
    let mut call = up.on("call");
    call.arg("text.shout").arg("-p").arg(format!("@{}", file.display()));
    let outcome = outcome(&mut call);
    assert!(outcome.contains("413") || outcome.contains("did not answer"), "{outcome}");
}
