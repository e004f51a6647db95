//! Commands on a folder of manifests.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{fixtures, mcc, outcome, outcome_without};

fn on(command: &str) -> Command {
    let mut mcc = mcc();
    mcc.arg(command).arg("--dir").arg(fixtures().join("manifests"));
    mcc
}

#[test]
fn list() {
    assert_snapshot!("list", outcome(&mut on("list")));
    assert_snapshot!("list_long", outcome(on("list").args(["--long", "--group", "text"])));
    assert_snapshot!("list_json", outcome(on("list").args(["-o", "json", "--group", "text"])));
    assert_snapshot!("list_alice", outcome(on("list").args(["--user", "alice", "--keys"])));
    assert_snapshot!("list_anonymous", outcome(on("list").args(["--anonymous", "--keys"])));
    assert_snapshot!("list_nothing", outcome(on("list").args(["--group", "absent"])));
}

#[test]
fn info() {
    assert_snapshot!("info", outcome(on("info").arg("text.shout")));
    assert_snapshot!("info_yaml", outcome(on("info").args(["text.shout", "-o", "yaml"])));
    assert_snapshot!("info_unknown", outcome(on("info").arg("text.shuot")));
    // A forbidden key is an unknown one.
    assert_snapshot!("info_forbidden", outcome(on("info").args(["text.shout", "--anonymous"])));
}

#[test]
fn search() {
    let output = outcome(on("search").args(["say hello to somebody"]));
    assert!(output.starts_with("exit: 0\n"), "{output}");
    assert!(output.lines().nth(3).unwrap().contains("public.greet"), "{output}");
    assert_snapshot!("search_nothing", outcome(on("search").args(["hello", "--min-score", "99"])));
}

#[test]
fn calls() {
    let file = fixtures().join("manifests/groups.yaml");
    for (name, args) in [
        ("text", vec!["public.greet", "name=O'Neil $(id)"]),
        ("typed", vec!["public.greet", "name:=\"x\"", "times=2"]),
        ("params", vec!["public.greet", "-p", "{\"name\": \"y\", \"times\": 2}"]),
        ("missing", vec!["public.greet"]),
        ("wrong", vec!["public.greet", "nmae=x", "times=many"]),
        ("unknown", vec!["public.great"]),
        ("fails", vec!["public.fail", "code=3"]),
        ("json", vec!["public.fail", "code=3", "-o", "json"]),
        ("python", vec!["text.shout", "text=quiet"]),
        ("context", vec!["text.shout", "text=quiet", "--ctx", "mark=?"]),
        ("not_an_argument", vec!["public.greet", "name"]),
        ("not_json", vec!["public.greet", "name:=x"]),
        ("reserved_context", vec!["public.greet", "name=x", "--ctx", "user=bob"]),
        ("forbidden", vec!["text.shout", "text=x", "--anonymous"]),
    ] {
        assert_snapshot!(format!("call_{name}"), outcome(on("call").args(args)));
    }
    let given = format!("name=@{}", file.display());
    let output = outcome(on("call").args(["public.greet", &given]));
    assert!(output.contains("Hello, apiVersion: mcc.dev/v1alpha1"), "{output}");
}

#[test]
fn examples() {
    let times = |text: String| {
        let words = text.lines().map(|line| {
            let words: Vec<&str> = line.split("  ").filter(|word| !word.trim().ends_with(" s")).collect();
            words.join("  ").trim_end().to_owned()
        });
        words.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!("test_all", times(outcome(on("test").arg("--all"))));
    assert_snapshot!("test_unknown", outcome(on("test").arg("nothing.*")));
    assert_snapshot!("test_without_manifests", outcome(mcc().args(["test", "--all"])));
}

#[test]
fn lint() {
    let run = |paths: &[&str], args: &[&str]| {
        let mut command = mcc();
        command.arg("lint").current_dir(fixtures()).args(paths).args(args);
        outcome(&mut command)
    };
    assert_snapshot!("lint_clean", run(&["manifests"], &[]));
    assert_snapshot!("lint_bad", run(&["bad"], &[]));
    assert_snapshot!("lint_bad_json", run(&["bad"], &["-o", "json"]));
    assert_snapshot!("lint_absent", run(&["absent"], &[]));
    let warned = run(&["suspicious"], &[]);
    assert!(warned.starts_with("exit: 0\n") && warned.contains("warning["), "{warned}");
    assert!(run(&["suspicious"], &["--strict"]).starts_with("exit: 1\n"));
}

#[test]
fn a_server_that_is_not_there() {
    let output = outcome(mcc().args(["list", "--server", "http://127.0.0.1:1/mcp"]));
    assert!(output.starts_with("exit: 1\n"), "{output}");
    assert!(
        output.contains("no MCP server answers at http://127.0.0.1:1/mcp") && output.contains("hint: "),
        "{output}"
    );
}

#[test]
fn imported_fixtures_lint_clean() {
    let out = TempDir::new().unwrap();
    let toolsets: &Path = &fixtures().join("toolsets");
    mcc().arg("import").arg(toolsets).arg("-o").arg(out.path()).output().unwrap();
    let mut lint = mcc();
    lint.arg("lint").arg(out.path());
    let output = outcome_without(&mut lint, out.path(), "[OUT]");
    assert!(output.starts_with("exit: 0\n"), "{output}");
    assert_snapshot!("lint_imported", output);
}
