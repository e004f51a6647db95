//! Pages that must say everything there is.

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
