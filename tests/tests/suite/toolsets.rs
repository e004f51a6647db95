//! The original system's own toolset files, imported, served by the program, and run by an agent over MCP.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use mcc_catalog::compile::CatalogSettings;
use mcc_catalog::example;
use mcc_catalog::seam::CatalogSource as _;
use mcc_gateway::source::{DirectoryOptions, DirectorySource};
use mcc_tests::server::Server;
use mcc_tests::{http, workspace};
use serde_json::{Value, json};

/// Where the functions are that the contrib toolsets name.
fn python_path() -> PathBuf {
    workspace::root().join("tests/fixtures/python")
}

/// Imports all eight files into a folder; none where there is no shared data.
fn import(test: &str, into: &Path) -> anyhow::Result<Option<()>> {
    let Some(toolsets) = workspace::shared("data/mcc-toolsets") else {
        workspace::skip(test, "no shared data");
        return Ok(None);
    };
    let mut command = Command::new(workspace::program("mcc")?);
    command.arg("import").arg(toolsets).arg("-o").arg(into);
    let output = command.args(["--python", "python3", "--python-path"]).arg(python_path()).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(()))
}

fn serve(folder: &Path) -> anyhow::Result<Server> {
    let path = python_path();
    Server::start(folder, &["--python-path", &path.to_string_lossy()])
}

#[test]
fn scientific_papers_are_found() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    if import("scientific_papers_are_found", folder.path())?.is_none() {
        return Ok(());
    }
    let server = serve(folder.path())?;
    let found = http::call(server.url(), "search", &json!({"query": "find scientific papers"}))?;
    let first = http::text(&found).lines().find_map(|line| line.strip_prefix("## "));
    assert!(first.is_some_and(|first| first.starts_with("osint.academic.")), "{found:#}");
    Ok(())
}

/// What a tool must answer to its own example.
enum Answer {
    /// This text, white space at its end aside.
    Text(&'static str),
    /// This JSON value.
    Json(Value),
    /// Something of this machine, that this is part of.
    Part(&'static str),
}

/// All tools of contrib-text, -time and -system, and the program that each needs besides Python.
fn expected() -> Vec<(&'static str, Option<&'static str>, Answer)> {
    let hello = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
    vec![
        ("public.text.base64_encode", None, Answer::Text("aGVsbG8gd29ybGQ=")),
        ("public.text.base64_decode", None, Answer::Text("hello world")),
        ("public.text.hash", None, Answer::Text(hello)),
        ("public.text.diff", None, Answer::Text("--- a\n+++ b\n@@ -1,2 +1,2 @@\n foo\n-bar\n+baz")),
        ("public.text.regex_search", None, Answer::Json(json!(["192.168.1.1"]))),
        ("public.text.regex_replace", None, Answer::Text("too many spaces")),
        ("public.text.jq", Some("jq"), Answer::Text("\"alice\"\n\"bob\"")),
        ("public.time.now", None, Answer::Part(":00")),
        ("public.time.format", None, Answer::Text("April 12, 2026")),
        ("public.time.delta", None, Answer::Text("2026-04-05T00:00:00")),
        ("admin.system.get_env", None, Answer::Part("\"USER\"")),
        ("admin.system.list_env", None, Answer::Part("\"MCC_CTX_USER\"")),
        ("admin.system.platform", None, Answer::Part("\"machine\"")),
        ("admin.system.pythonpath", None, Answer::Part("tests/fixtures/python")),
        ("admin.system.set_env", None, Answer::Text("my_value")),
        ("admin.system.bash", Some("bash"), Answer::Part("\"code\"")),
        ("admin.system.python", Some("python"), Answer::Part("3.")),
        ("admin.system.man", Some("man"), Answer::Part("curl")),
        ("admin.system.uname", None, Answer::Part("Linux")),
    ]
}

#[test]
fn every_tool_without_network_runs_over_mcp() -> anyhow::Result<()> {
    let test = "every_tool_without_network_runs_over_mcp";
    let folder = tempfile::tempdir()?;
    if import(test, folder.path())?.is_none() {
        return Ok(());
    }
    let source = DirectorySource::open(DirectoryOptions {
        paths: vec![folder.path().to_owned()],
        secrets: Vec::new(),
        settings: CatalogSettings::directory(),
    })?;
    let catalog = source.subscribe().borrow().clone();
    let expected = expected();
    let of_these = |key: &&str| {
        ["public.text.", "public.time.", "admin.system."].iter().any(|group| key.starts_with(group))
    };
    let mut imported: Vec<&str> = catalog.tools.keys().map(String::as_str).filter(of_these).collect();
    let mut listed: Vec<&str> = expected.iter().map(|(key, ..)| *key).collect();
    imported.sort_unstable();
    listed.sort_unstable();
    assert_eq!(imported, listed);

    let server = serve(folder.path())?;
    for (key, needs, answer) in expected {
        if let Some(program) = needs.filter(|program| !workspace::is_installed(program)) {
            workspace::skip(test, &format!("{key}: no {program}"));
            continue;
        }
        let tool = catalog.tools.get(key).context(key)?;
        let params = example::arguments(tool).map_err(anyhow::Error::msg)?.context("no example")?;
        let result = http::call(server.url(), "execute", &json!({"key": key, "params": params}))?;
        assert_ne!(result["isError"], true, "{key}: {result:#}");
        let said = http::text(&result);
        match answer {
            Answer::Text(wanted) => assert_eq!(said.trim_end(), wanted, "{key}"),
            Answer::Json(wanted) => assert_eq!(serde_json::from_str::<Value>(said)?, wanted, "{key}"),
            Answer::Part(part) => assert!(said.contains(part), "{key}: {said}"),
        }
    }
    Ok(())
}
