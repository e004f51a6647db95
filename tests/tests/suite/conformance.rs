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

/// Scenarios of extensions are in no suite: each is run by its name. One that the suite gains must be listed, as run or
/// as left out with the reason.
#[test]
fn scenarios_of_extensions_pass_or_are_left_out_with_a_reason() -> anyhow::Result<()> {
    let Some(mut list) = suite("scenarios_of_extensions") else { return Ok(()) };
    let known = String::from_utf8(list.arg("list").output()?.stdout)?;
    // Its list of servers' scenarios is followed by that of clients'.
    let known: BTreeSet<&str> = known
        .lines()
        .take_while(|line| !line.starts_with("Client scenarios"))
        .filter(|line| line.ends_with(" [extension]"))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let lists = workspace::root().join("tests/conformance");
    let passing = fs_err::read_to_string(lists.join("extensions.txt"))?;
    let left_out = fs_err::read_to_string(lists.join("extensions-left-out.txt"))?;
    let reasons = left_out.lines().map(|line| line.split_once(": ").context("NAME: REASON"));
    let reasons = reasons.collect::<anyhow::Result<Vec<_>>>()?;
    // `NAME except CHECK`: this one check must fail, and the others pass.
    let passing = passing.lines().map(|line| match line.split_once(" except ") {
        Some((name, check)) => (name, Some(check)),
        None => (line, None),
    });
    let passing: Vec<_> = passing.collect();
    let listed: BTreeSet<&str> =
        passing.iter().map(|(name, _)| *name).chain(reasons.iter().map(|(name, _)| *name)).collect();
    assert_eq!(
        known, listed,
        "the suite's scenarios of extensions, and those of tests/conformance/extensions*.txt"
    );

    let server = server()?;
    let mut problems = Vec::new();
    for (scenario, except) in passing {
        let results = tempfile::tempdir()?;
        let Some(mut run) = suite("scenarios_of_extensions") else { return Ok(()) };
        run.args(["server", "--url", server.url(), "--scenario", scenario, "-o"]).arg(results.path());
        let output = run.output()?;
        let (excepted, found): (Vec<_>, Vec<_>) = judge(results.path(), scenario)?
            .into_iter()
            .partition(|problem| except.is_some_and(|check| problem.contains(check)));
        let as_wanted =
            output.status.success() == except.is_none() && excepted.is_empty() == except.is_none();
        if !as_wanted || !found.is_empty() {
            problems.push(format!(
                "{scenario}: {}\n{}",
                output.status,
                String::from_utf8_lossy(&output.stdout)
            ));
            problems.extend(found);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// The suite's program; none where it isn't installed.
fn suite(test: &str) -> Option<Command> {
    let (Some(node), Some(packages)) = (workspace::node(), workspace::npm_packages()) else {
        workspace::skip(test, "the conformance suite isn't installed (scripts/setup)");
        return None;
    };
    let mut command = Command::new(node);
    command.arg(packages.join("@modelcontextprotocol/conformance/dist/index.js"));
    Some(command)
}

fn server() -> anyhow::Result<Server> {
    let fixtures = workspace::root().join("tests/fixtures");
    let tasks = fixtures.join("conformance");
    Server::start(&fixtures.join("catalog"), &[&tasks.to_string_lossy(), "--conformance-fixtures"])
}

fn check(test: &str, version: &str) -> anyhow::Result<()> {
    let Some(mut suite) = suite(test) else { return Ok(()) };
    let server = server()?;
    let results = tempfile::tempdir()?;
    let output = suite
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
