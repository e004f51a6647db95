//! The original system's own toolset files: imported, linted, searched, run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use crate::recorder::Recorder;
use crate::support::{mcc, outcome, outcome_without, repository};

/// `$MCC_SHARED`, else `../shared` beside the repository.
fn toolsets(test: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("MCC_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let folder = shared.join("data/mcc-toolsets");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {test}: no shared data");
    None
}

/// The manifests of all toolsets, parameters read from the fixture modules.
fn imported(test: &str) -> Option<TempDir> {
    let toolsets = toolsets(test)?;
    let out = TempDir::new().unwrap();
    let mut command = mcc();
    command.arg("import").arg(toolsets).arg("-o").arg(out.path());
    command.args(["--python", "python3", "--python-path"]).arg(python_path());
    let output = outcome(&mut command);
    assert!(output.starts_with("exit: 0\n"), "{output}");
    Some(out)
}

fn python_path() -> PathBuf {
    repository().join("tests/fixtures/python")
}

/// `mcc` in front of the manifests, with the fixture modules.
fn on(out: &TempDir, command: &str) -> Command {
    let mut mcc = mcc();
    mcc.arg(command).arg("--dir").arg(out.path()).arg("--python-path").arg(python_path());
    mcc
}

#[test]
fn import_and_lint() {
    let Some(out) = imported("import_and_lint") else { return };
    let mut lint = mcc();
    lint.arg("lint").arg("--strict").arg(out.path());
    assert_snapshot!(outcome_without(&mut lint, out.path(), "[OUT]"));
    assert_snapshot!("toolsets_list", outcome(on(&out, "list").arg("--keys")));
}

/// Every file of a folder with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (PathBuf::from(path.file_name().unwrap()), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn importing_twice_gives_the_same_bytes() {
    let test = "importing_twice_gives_the_same_bytes";
    let (Some(first), Some(second)) = (imported(test), imported(test)) else { return };
    let (first, second) = (files(first.path()), files(second.path()));
    assert!(first.len() >= 8, "{:?}", first.keys());
    assert!(first == second, "{:?} and {:?}", first.keys(), second.keys());
}

#[test]
fn import_without_python_has_no_errors() {
    let Some(toolsets) = toolsets("import_without_python_has_no_errors") else { return };
    let out = TempDir::new().unwrap();
    assert!(mcc().arg("import").arg(toolsets).arg("-o").arg(out.path()).status().unwrap().success());
    assert!(mcc().arg("lint").arg(out.path()).status().unwrap().success());
}

#[test]
fn scientific_papers_are_found() {
    let Some(out) = imported("scientific_papers_are_found") else { return };
    let output = on(&out, "search").args(["find scientific papers", "-o", "json"]).output().unwrap();
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = hits[0]["key"].as_str().unwrap();
    assert!(first.starts_with("osint.academic."), "{hits:#}");
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Programs that tools need and a machine may lack.
const NEEDS: [(&str, &str); 4] = [
    ("public.text.jq", "jq"),
    ("admin.system.man", "man"),
    ("admin.system.python", "python"),
    ("admin.system.bash", "bash"),
];

#[test]
fn every_tool_without_network_runs() {
    let Some(out) = imported("every_tool_without_network_runs") else { return };
    let output = on(&out, "test")
        .args(["public.text.*", "public.time.*", "admin.system.*", "-o", "json"])
        .output()
        .unwrap();
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results.len(), 19, "{results:#?}");
    for result in &results {
        let key = result["key"].as_str().unwrap();
        match NEEDS.iter().find(|(needy, program)| *needy == key && !is_installed(program)) {
            Some((key, program)) => println!("skipped: {key}: no {program}"),
            None => assert_eq!(result["result"], "passed", "{result:#}"),
        }
    }
    let output_of = |key: &str| {
        let result = results.iter().find(|result| result["key"] == key).unwrap();
        result["output"].as_str().unwrap_or_default().trim().to_owned()
    };
    for (key, expected) in [
        ("public.text.base64_encode", "aGVsbG8gd29ybGQ="),
        ("public.text.base64_decode", "hello world"),
        ("public.text.hash", "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"),
        ("public.text.regex_search", "[\"192.168.1.1\"]"),
        ("public.text.regex_replace", "too many spaces"),
        ("public.time.format", "April 12, 2026"),
        ("public.time.delta", "2026-04-05T00:00:00"),
        ("admin.system.set_env", "my_value"),
    ] {
        assert_eq!(output_of(key).replace(", ", ","), expected.replace(", ", ","), "{key}");
    }
    if is_installed("jq") {
        assert_eq!(output_of("public.text.jq"), "\"alice\"\n\"bob\"");
    }
}

/// What the answers of all services have in common here: something for each transform.
const ANSWER: &str =
    r#"{"message": {"items": [{"title": "t"}]}, "results": [{"id": 1}], "organizations": [{"ein": 2}]}"#;

/// Sends all requests to a local server instead: `https://host/path` becomes `http://127.0.0.1:PORT/host/path`.
fn redirect(folder: &Path, recorder: &Recorder) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let mut redirected = String::new();
        for line in text.lines() {
            let is_request = ["url:", "curl "]
                .iter()
                .any(|word| line.trim_start().starts_with(word) || line.contains("script: 'curl"));
            let line = if is_request {
                line.replace("https://", &format!("{}/", recorder.url))
            } else {
                line.to_owned()
            };
            redirected.push_str(&line);
            redirected.push('\n');
        }
        std::fs::write(&file, redirected).unwrap();
    }
}

#[test]
fn requests_arrive_byte_for_byte() {
    let Some(out) = imported("requests_arrive_byte_for_byte") else { return };
    let recorder = Recorder::start(ANSWER);
    redirect(out.path(), &recorder);
    // Not a program to install for a test: uvx would fetch xq.
    let programs = TempDir::new().unwrap();
    let uvx = programs.path().join("uvx");
    std::fs::write(&uvx, "#!/bin/sh\ncat\n").unwrap();
    std::fs::set_permissions(&uvx, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let secrets = programs.path().join("osint.env");
    let keys = ["COMPANIES_HOUSE", "CONGRESS", "OPENSANCTIONS", "OPENSECRETS"];
    std::fs::write(&secrets, keys.map(|key| format!("{key}_API_KEY=$(id)/{key}\n")).concat()).unwrap();
    let list = on(&out, "list").args(["--keys", "--group", "osint"]).output().unwrap();
    let keys = String::from_utf8(list.stdout).unwrap();
    let mut all = String::new();
    for key in keys.lines() {
        let mut test = on(&out, "test");
        let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
        test.env("PATH", path).args([key, "-o", "json"]);
        test.arg("--secret").arg(format!("osint-env={}", secrets.display()));
        let output = test.output().unwrap();
        let results: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let requests = recorder.take();
        let needs_jq = results[0]["note"].as_str().is_some_and(|note| note.contains("jq: not found"));
        if needs_jq {
            println!("skipped: {key}: no jq");
        } else {
            assert_eq!(results[0]["result"], "passed", "{results:#} {output:?}");
        }
        assert_eq!(requests.len(), 1, "{key}: {requests:#?}");
        all.push_str(&format!("=== {key} ===\n{}\n", requests[0]));
    }
    assert_snapshot!(all);
}
