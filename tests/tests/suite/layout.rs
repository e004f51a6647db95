//! The shape of the workspace: which crate may depend on which, and how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};
use mcc_tests::workspace;

/// Crates of the workspace that each may use, in programs. Dependencies point one way:
/// crds <- catalog <- {index, cluster} <- {gateway, operator} <- cli, tests.
const ALLOWED: [(&str, &[&str]); 8] = [
    ("mcc-crds", &[]),
    ("mcc-catalog", &["mcc-crds"]),
    ("mcc-index", &["mcc-crds", "mcc-catalog"]),
    ("mcc-cluster", &["mcc-crds", "mcc-catalog"]),
    ("mcc-gateway", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster"]),
    ("mcc-cli", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway"]),
    ("mcc-tests", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway"]),
    ("xtask", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway"]),
];

#[test]
fn dependencies_point_one_way() -> anyhow::Result<()> {
    let manifest = workspace::root().join("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec()?;
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let members: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut problems = Vec::new();
    for package in &metadata.packages {
        let Some(allowed) = allowed.get(package.name.as_str()) else {
            problems.push(format!("{} has no place in the order: add it to ALLOWED", package.name));
            continue;
        };
        let used = package.dependencies.iter().filter(|used| used.kind == DependencyKind::Normal);
        for used in used.filter(|used| members.contains(used.name.as_str())) {
            if !allowed.contains(&used.name.as_str()) {
                problems.push(format!("{} may not depend on {}", package.name, used.name));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// The core knows no transport and no storage: whoever embeds it gets none of them.
#[test]
fn the_catalog_has_no_servers_in_its_tree() -> anyhow::Result<()> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "mcc-catalog", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}"])
        .current_dir(workspace::root())
        .output()?;
    anyhow::ensure!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout)?;
    let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("minijinja"), "not a dependency tree: {tree}");
    for banned in
        ["axum", "hyper", "kube-client", "kube-runtime", "qdrant-client", "reqwest", "rmcp", "tonic"]
    {
        assert!(!crates.contains(banned), "mcc-catalog depends on {banned}");
    }
    Ok(())
}

#[test]
fn no_source_file_is_too_long() -> anyhow::Result<()> {
    const MOST: usize = 500;
    let mut long = Vec::new();
    for folder in ["crds", "crates", "gateway", "tests/src", "tests/tests", "xtask"] {
        visit(&workspace::root().join(folder), &mut |path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let counts =
                path.extension().is_some_and(|extension| extension == "rs") && !name.ends_with("tests.rs");
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            if counts && !is_test {
                let lines = fs_err::read_to_string(path)?.lines().count();
                if lines > MOST {
                    long.push(format!("{}: {lines} lines", path.display()));
                }
            }
            Ok(())
        })?;
    }
    assert!(long.is_empty(), "more than {MOST} lines, split by what they do:\n{}", long.join("\n"));
    Ok(())
}

fn visit(path: &Path, see: &mut impl FnMut(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    if path.is_file() {
        return see(path);
    }
    for entry in fs_err::read_dir(path)? {
        visit(&entry?.path(), see)?;
    }
    Ok(())
}
