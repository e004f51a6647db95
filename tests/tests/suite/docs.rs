//! Pages that must say everything there is.

use std::process::Command;

use mcc_tests::workspace;

/// Every reason of a problem or condition has a line in `docs/reasons.md`.
#[test]
fn every_reason_is_documented() -> anyhow::Result<()> {
    let source = fs_err::read_to_string(workspace::root().join("crates/catalog/src/model/problem.rs"))?;
    let page = fs_err::read_to_string(workspace::root().join("docs/reasons.md"))?;
    let (_, after) = source.split_once("pub enum Reason {").unwrap_or_default();
    let (body, _) = after.split_once('}').unwrap_or_default();
    let reasons: Vec<&str> = body.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    assert!(reasons.len() > 10, "no reasons found: has the enum moved?");
    let missing: Vec<&str> =
        reasons.into_iter().filter(|reason| !page.contains(&format!("`{reason}`"))).collect();
    assert!(missing.is_empty(), "docs/reasons.md says nothing about {}", missing.join(", "));
    Ok(())
}

/// Every reason that only conditions have, too.
#[test]
fn every_reason_of_conditions_is_documented() -> anyhow::Result<()> {
    let source = fs_err::read_to_string(workspace::root().join("operator/src/conditions.rs"))?;
    let page = fs_err::read_to_string(workspace::root().join("docs/reasons.md"))?;
    let constants = source.lines().filter_map(|line| line.trim().strip_prefix("pub const "));
    let reasons: Vec<&str> = constants.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(reasons.len() > 10, "no reasons found: have the constants moved?");
    let missing: Vec<&&str> = reasons.iter().filter(|reason| !page.contains(**reason)).collect();
    assert!(missing.is_empty(), "docs/reasons.md says nothing about {missing:?}");
    Ok(())
}

/// Every command has a line in `docs/cli.md`.
#[test]
fn every_command_is_documented() -> anyhow::Result<()> {
    let help = Command::new(workspace::program("mcc")?).arg("--help").output()?;
    let help = String::from_utf8(help.stdout)?;
    let page = fs_err::read_to_string(workspace::root().join("docs/cli.md"))?;
    let (_, commands) = help.split_once("Commands:\n").unwrap_or_default();
    let (commands, _) = commands.split_once("\n\n").unwrap_or((commands, ""));
    // Names stand after two spaces; further lines of a description after more.
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.len() > 5, "no commands found in: {help}");
    let missing: Vec<&str> =
        names.into_iter().filter(|name| !page.contains(&format!("`mcc {name}"))).collect();
    assert!(missing.is_empty(), "docs/cli.md says nothing about {}", missing.join(", "));
    Ok(())
}
