//! Values of callers and secrets of tools stay out of the log and the metrics, however much is logged.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mcc_tests::{http, workspace};
use serde_json::json;

/// Generous, for a machine that also builds.
const START: Duration = Duration::from_secs(60);

/// Each stands for one kind of value.
const PARAMETER: &str = "quokka-parameter";
const SESSION: &str = "quokka-session";
const SECRET: &str = "quokka-secret";
const OUTPUT: &str = "quokka-output";
const QUERY: &str = "quokka-query";
const KEY: &str = "quokka.key";
const ALL: [&str; 6] = [PARAMETER, SESSION, SECRET, OUTPUT, QUERY, KEY];

const MANIFESTS: &str = r#"
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: say}
spec:
  groups: [public]
  description: Says something.
  params: [{name: what, type: str}]
  env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: keys, key: TOKEN}}}]
  shell: {script: 'printf "%s %s %s quokka-%s" {{ what }} "$TOKEN" "$MCC_CTX_COLOUR" output'}
---
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: fail}
spec:
  groups: [public]
  description: Fails.
  params: [{name: what, type: str}]
  shell: {script: 'printf "%s quokka-%s" {{ what }} output >&2; exit 3'}
"#;

struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The address behind `name` in what the server says at its start.
fn address(log: &str, name: &str) -> Option<SocketAddr> {
    let line = log.lines().find(|line| line.starts_with(name))?;
    line.split_once("http://")?.1.split('/').next()?.parse().ok()
}

fn get(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    std::io::Write::write_all(
        &mut stream,
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn values_are_neither_logged_nor_counted() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    fs_err::write(folder.path().join("tools.yaml"), MANIFESTS)?;
    fs_err::write(folder.path().join("keys.env"), format!("TOKEN={SECRET}\n"))?;
    let log = folder.path().join("log");
    let secret = format!("keys={}", folder.path().join("keys.env").display());
    let file = fs_err::File::create(&log)?;
    let mut command = Command::new(workspace::program("mcc")?);
    command
        .arg("up")
        .arg(folder.path().join("tools.yaml"))
        .args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log", "trace", "--secret"])
        .arg(secret)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file.into_parts().0);
    let _up = Up(command.spawn()?);
    let began = Instant::now();
    let (mcp, metrics) = loop {
        let said = fs_err::read_to_string(&log)?;
        if let (Some(mcp), Some(metrics)) = (address(&said, "MCP "), address(&said, "Metrics ")) {
            break (mcp, metrics);
        }
        anyhow::ensure!(began.elapsed() < START, "it doesn't serve:\n{said}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let url = format!("http://{mcp}/mcp");
    let say = |tool: &str, arguments| http::call(&url, tool, &arguments);
    say("set_session", json!({"name": "colour", "value": SESSION}))?;
    let result = say("execute", json!({"key": "public.say", "params": {"what": PARAMETER}}))?;
    assert_eq!(http::text(&result), format!("{PARAMETER} {SECRET} {SESSION} {OUTPUT}"));
    for (tool, arguments) in [
        ("execute", json!({"key": "public.fail", "params": {"what": PARAMETER}})),
        ("execute", json!({"key": "public.say", "params": {"which": PARAMETER}})),
        ("execute", json!({"key": KEY})),
        ("search", json!({"query": QUERY})),
        ("describe_tools", json!({"groups": [QUERY]})),
        ("set_session", json!({"name": "user", "value": SESSION})),
        ("get_session", json!({"name": "colour"})),
    ] {
        say(tool, arguments)?;
    }
    let metrics = get(metrics, "/metrics")?;
    let log = fs_err::read_to_string(&log)?;
    log.lines().find(|line| line.contains("may not run was refused")).context("a denial is logged")?;
    assert!(log.contains("caller=dev"), "a denial names its caller");
    assert!(metrics.contains("mcc_denied_total 1"), "{metrics}");
    for value in ALL {
        let line = log.lines().find(|line| line.contains(value));
        assert!(line.is_none(), "{value} is logged: {line:?}");
        assert!(!metrics.contains(value), "{value} is in the metrics");
    }
    Ok(())
}
