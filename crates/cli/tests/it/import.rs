//! Toolset files to manifests.

use std::fmt::Write as _;
use std::path::Path;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{fixtures, mcc, outcome_without};

/// All files of a folder, one after the other.
fn contents(folder: &Path) -> String {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().fold(String::new(), |mut text, file| {
        let name = file.file_name().unwrap().to_string_lossy();
        write!(text, "=== {name} ===\n{}", std::fs::read_to_string(file).unwrap()).unwrap();
        text
    })
}

#[test]
fn every_construct() {
    let out = TempDir::new().unwrap();
    let toolsets = fixtures().join("toolsets");
    let mut command = mcc();
    command.arg("import").arg(&toolsets).arg("-o").arg(out.path());
    assert_snapshot!("every_construct_report", outcome_without(&mut command, out.path(), "[OUT]"));
    assert_snapshot!("every_construct", contents(out.path()));
}

#[test]
fn twice_gives_the_same_bytes() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for out in [&first, &first, &second] {
        let toolsets = fixtures().join("toolsets");
        mcc().arg("import").arg(&toolsets).arg("-o").arg(out.path()).output().unwrap();
    }
    assert_eq!(contents(first.path()), contents(second.path()));
}

#[test]
fn what_others_have_written_is_left_alone() {
    let out = TempDir::new().unwrap();
    let own = "# my own groups\n";
    std::fs::write(out.path().join("groups.yaml"), own).unwrap();
    let mut command = mcc();
    command.arg("import").arg(fixtures().join("toolsets")).arg("-o").arg(out.path());
    let refused = outcome_without(&mut command, out.path(), "[OUT]");
    assert!(refused.contains("groups.yaml would be overwritten in [OUT]"), "{refused}");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1, "nothing is written");
    assert_eq!(std::fs::read_to_string(out.path().join("groups.yaml")).unwrap(), own);
    command.arg("--force");
    outcome_without(&mut command, out.path(), "[OUT]");
    assert_ne!(std::fs::read_to_string(out.path().join("groups.yaml")).unwrap(), own);
}

#[test]
fn functions_are_inspected() {
    let out = TempDir::new().unwrap();
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/python");
    let toolset = out.path().join("functions.yaml");
    let entries = ["http:request", "text:hash", "time:delta", "system:get_env", "no:such"];
    let entries = entries.iter().fold("groups: [x]\ntools:\n".to_owned(), |mut text, function| {
        writeln!(text, "- fn: toolsets.contrib.{function}").unwrap();
        text
    });
    std::fs::write(&toolset, entries + "- fn: re:findall\n- fn: json.dumps\n  description: Own words.\n")
        .unwrap();
    let manifests = out.path().join("manifests");
    let mut command = mcc();
    command.arg("import").arg(&toolset).arg("-o").arg(&manifests);
    command.args(["--python", "python3", "--python-path"]).arg(python);
    assert_snapshot!("functions_report", outcome_without(&mut command, out.path(), "[OUT]"));
    assert_snapshot!("functions", contents(&manifests));
}

#[test]
fn a_report_for_programs() {
    let out = TempDir::new().unwrap();
    let mut command = mcc();
    command.arg("import").arg(fixtures().join("toolsets/plain.yaml")).arg("-o").arg(out.path());
    command.args(["--report", "json"]);
    assert_snapshot!(outcome_without(&mut command, out.path(), "[OUT]"));
}

#[test]
fn nothing_to_import() {
    let out = TempDir::new().unwrap();
    for path in [out.path().join("absent.yaml"), out.path().to_owned()] {
        let mut command = mcc();
        command.arg("import").arg(path).arg("-o").arg(out.path());
        let output = outcome_without(&mut command, out.path(), "[OUT]");
        assert!(output.starts_with("exit: 1\n--- stderr ---\nerror: [OUT]"), "{output}");
    }
}
