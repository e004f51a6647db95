//! Help, version, wrong usage.

use std::process::Command;

use insta::assert_snapshot;

use crate::support::{mcc, outcome};

#[test]
fn help() {
    assert_snapshot!(outcome(mcc().arg("--help")));
}

#[test]
fn help_of_every_command() {
    let commands = [
        "up",
        "lint",
        "search",
        "list",
        "info",
        "call",
        "test",
        "import",
        "crds",
        "client-config",
        "completion",
        "version",
    ];
    for command in commands {
        assert_snapshot!(format!("help_{command}"), outcome(mcc().args([command, "--help"])));
    }
}

#[test]
fn wrong_usage() {
    for (name, args) in [
        ("no_command", vec![]),
        ("unknown_command", vec!["serch", "x"]),
        ("unknown_option", vec!["version", "--json"]),
        ("missing_argument", vec!["import"]),
        ("unknown_client", vec!["client-config", "emacs"]),
    ] {
        let output = outcome(mcc().args(args));
        assert!(output.starts_with("exit: 2\n"), "{output}");
        assert_snapshot!(format!("usage_{name}"), output);
    }
}

#[test]
fn version_in_every_form() {
    for format in ["table", "json", "yaml"] {
        let output = outcome(mcc().args(["version", "-o", format]));
        assert_snapshot!(format!("version_{format}"), output.replace(env!("CARGO_PKG_VERSION"), "[VERSION]"));
    }
}

#[test]
fn completion_for_every_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let output = outcome(mcc().args(["completion", shell]));
        assert!(output.starts_with("exit: 0\n") && output.contains("client-config"), "{output}");
    }
}

/// The shells themselves read what is meant for them.
#[test]
fn completion_scripts_have_no_syntax_error() {
    for shell in ["bash", "zsh", "fish"] {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("completion");
        std::fs::write(&file, mcc().args(["completion", shell]).output().unwrap().stdout).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(read) => {
                assert!(read.status.success() && read.stderr.is_empty(), "{shell}: {read:?}");
            }
            Err(_) => println!("skipped: completion_scripts_have_no_syntax_error: no {shell}"),
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = mcc().arg("crds").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn crds_in_every_form() {
    assert_snapshot!(outcome(mcc().args(["crds", "-o", "table"])));
    for format in ["yaml", "json"] {
        let output = outcome(mcc().args(["crds", "-o", format]));
        assert!(output.starts_with("exit: 0\n") && output.contains("usergrants.mcc.dev"), "{format}");
    }
}
