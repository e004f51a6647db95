//! The MCP conformance suite against the gateway's own transport stack, judged by its exit code and by an explicit list:
//! with nothing listening, dozens of its checks still pass.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use mcc_tests::server::Server;
use mcc_tests::workspace;
use serde_json::Value;

#[test]
fn every_scenario_of_2025_11_25_passes() -> anyhow::Result<()> {
    check("every_scenario_of_2025_11_25_passes", "2025-11-25")
}

#[test]
fn every_scenario_of_2026_07_28_passes() -> anyhow::Result<()> {
    check("every_scenario_of_2026_07_28_passes", "2026-07-28")
}

fn check(test: &str, version: &str) -> anyhow::Result<()> {
    let (Some(node), Some(packages)) = (workspace::node(), workspace::npm_packages()) else {
        workspace::skip(test, "the conformance suite isn't installed (scripts/setup)");
        return Ok(());
    };
    let catalog = workspace::root().join("tests/fixtures/catalog");
    let server = Server::start(&catalog, &["--conformance-fixtures"])?;
    let results = tempfile::tempdir()?;
    let output = Command::new(node)
        .arg(packages.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", server.url(), "--suite", "all", "--spec-version", version])
        .arg("-o")
        .arg(results.path())
        .output()?;

    let list = fs_err::read_to_string(workspace::root().join(format!("tests/conformance/{version}.txt")))?;
    let mut problems = Vec::new();
    for scenario in list.lines() {
        problems.extend(judge(results.path(), scenario)?);
    }
    let listed: BTreeSet<&str> = list.lines().collect();
    for scenario in scenarios(results.path())? {
        if !listed.contains(scenario.as_str()) {
            problems.push(format!("{scenario}: not in tests/conformance/{version}.txt"));
        }
    }
    if !output.status.success() {
        problems.push(format!("exit: {}", output.status));
    }
    assert!(problems.is_empty(), "{}\n\n{}", problems.join("\n"), String::from_utf8_lossy(&output.stdout));
    Ok(())
}

fn scenarios(results: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs_err::read_dir(results)? {
        names.insert(scenario(&entry?.file_name().to_string_lossy()).context("result folder")?);
    }
    Ok(names)
}

/// The scenario of a result folder, which is named `server-SCENARIO-2026-12-01T14-17-54-928Z`.
fn scenario(folder: &str) -> Option<String> {
    let (name, _time) = folder.strip_prefix("server-")?.split_at_checked(folder.len().checked_sub(32)?)?;
    Some(name.to_owned())
}

/// What is wrong with one scenario: no result, a failed check, a warning, or nothing that succeeded.
fn judge(results: &Path, wanted: &str) -> anyhow::Result<Vec<String>> {
    let mut checks = Vec::new();
    for entry in fs_err::read_dir(results)? {
        let entry = entry?;
        let name = scenario(&entry.file_name().to_string_lossy()).unwrap_or_default();
        if name == wanted {
            let text = fs_err::read_to_string(entry.path().join("checks.json"))?;
            checks = serde_json::from_str::<Vec<Value>>(&text)?;
        }
    }
    let status = |check: &Value| check["status"].as_str().unwrap_or_default().to_owned();
    if !checks.iter().any(|check| status(check) == "SUCCESS") {
        return Ok(vec![format!("{wanted}: no check succeeded")]);
    }
    let bad = checks.iter().filter(|check| ["FAILURE", "WARNING"].contains(&status(check).as_str()));
    Ok(bad
        .map(|check| format!("{wanted}: {} {}: {}", check["status"], check["id"], check["errorMessage"]))
        .collect())
}
