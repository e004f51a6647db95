//! `mcc up`, and the commands on it as a server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use mcc_tests::server::Server;

use crate::support::{fixtures, mcc, outcome};

/// A running `mcc up` on the fixtures, ended when it goes out of scope.
struct Up(Server);

impl Up {
    fn start(args: &[&str]) -> Self {
        Self(Server::of(up().args(args)).unwrap())
    }

    fn on(&self, command: &str) -> Command {
        let mut mcc = mcc();
        mcc.args([command, "--server", self.0.url()]);
        mcc
    }
}

/// `mcc up` on the fixtures and a free port.
fn up() -> Command {
    let mut command = mcc();
    command.arg("up").arg(fixtures().join("manifests")).args(["--listen", "127.0.0.1:0"]);
    command
}

/// What a server says before somebody connects.
fn said(command: &mut Command) -> String {
    let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    for line in BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok) {
        said.push_str(&line);
        said.push('\n');
        if line.starts_with("Connect a client") {
            break;
        }
    }
    process.kill().unwrap();
    process.wait().unwrap();
    said
}

#[test]
fn the_start_says_that_nothing_is_isolated() {
    const WARNING: &str =
        "Warning: tools run as this user, without isolation: they can do and read whatever you can\n";
    let plain = said(&mut up());
    assert!(plain.contains(WARNING) && plain.contains("Connect a client"), "{plain}");
    let stdio =
        outcome(mcc().arg("up").arg(fixtures().join("manifests")).arg("--stdio").stdin(Stdio::null()));
    assert!(stdio.starts_with("exit: 0\n--- stderr ---\n") && stdio.contains(WARNING), "{stdio}");
    // Both streams are no terminals here: no colours, unless they are wanted always.
    assert!(!plain.contains('\u{1b}') && !stdio.contains('\u{1b}'), "{plain}{stdio}");
    let coloured = said(up().args(["--color", "always"]));
    assert!(coloured.contains("\u{1b}[33mWarning:\u{1b}["), "{coloured:?}");
    assert!(coloured.contains("tools run as this user, without isolation"), "{coloured:?}");
}

#[test]
fn results_are_coloured_on_request_only() {
    let search = |args: &[&str]| {
        let manifests = fixtures().join("manifests");
        outcome(mcc().args(["search", "say hello to somebody"]).args(args).arg("--dir").arg(manifests))
    };
    let (plain, coloured, never) =
        (search(&[]), search(&["--color", "always"]), search(&["--color", "never"]));
    assert!(plain.starts_with("exit: 0\n") && plain.contains("public.greet"), "{plain}");
    assert!(!plain.contains('\u{1b}') && plain == never, "{plain:?} {never:?}");
    assert!(coloured.contains('\u{1b}'), "{coloured:?}");
    // JSON is for programs, whatever is wanted.
    let json = search(&["--color", "always", "-o", "json"]);
    assert!(!json.contains('\u{1b}'), "{json:?}");
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
    let mut process = up().args(["--metrics-listen", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
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
