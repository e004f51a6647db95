//! The shape of the workspace: which crate may depend on which, and how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use cargo_metadata::{DependencyKind, MetadataCommand};
use mcc_tests::workspace;

/// Crates of the workspace that each may use, in programs. Dependencies point one way:
/// crds <- catalog <- {index, cluster} <- {gateway, operator} <- cli, tests.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("mcc-crds", &[]),
    ("mcc-catalog", &["mcc-crds"]),
    ("mcc-index", &["mcc-crds", "mcc-catalog"]),
    ("mcc-cluster", &["mcc-crds", "mcc-catalog"]),
    ("mcc-gateway", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster"]),
    ("mcc-operator", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster"]),
    ("mcc-cli", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway"]),
    ("mcc-tests", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway", "mcc-operator"]),
    ("xtask", &["mcc-crds", "mcc-catalog", "mcc-index", "mcc-cluster", "mcc-gateway", "mcc-operator"]),
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

/// What nobody uses, everybody compiles.
#[test]
fn every_dependency_is_used() -> anyhow::Result<()> {
    let root = workspace::root();
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let (mut problems, mut declared) = (Vec::new(), BTreeSet::new());
    for package in &metadata.packages {
        let folder = package.manifest_path.parent().context("a manifest has a folder")?;
        let program = code(folder.join("src").as_std_path())?;
        let tests = code(folder.join("tests").as_std_path())?;
        for used in &package.dependencies {
            declared.insert(used.name.clone());
            let name = used.rename.as_ref().unwrap_or(&used.name).replace('-', "_");
            let in_tests = used.kind == DependencyKind::Development && mentions(&tests, &name);
            if !in_tests && !mentions(&program, &name) {
                problems.push(format!("{}: {} is declared and not used", package.name, used.name));
            }
        }
    }
    let manifest = fs_err::read_to_string(root.join("Cargo.toml"))?;
    let shared = manifest.split("[workspace.dependencies]").nth(1).and_then(|rest| rest.split("\n[").next());
    for line in shared.context("the workspace has dependencies")?.lines() {
        let Some((name, rest)) = line.split_once(" = ") else { continue };
        // A member that nothing builds on yet isn't fetched for nothing.
        if rest.contains("path = ") {
            continue;
        }
        let package =
            rest.split("package = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or(name);
        if !name.starts_with('#') && !declared.contains(package) {
            problems.push(format!("Cargo.toml: {name} is a dependency of no member"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// The code of a folder's Rust files, without lines that are comments.
fn code(folder: &Path) -> anyhow::Result<String> {
    let mut code = String::new();
    if folder.is_dir() {
        visit(folder, &mut |path| {
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs_err::read_to_string(path)?;
                code.extend(
                    text.lines()
                        .filter(|line| !line.trim_start().starts_with("//"))
                        .flat_map(|line| [line, "\n"]),
                );
            }
            Ok(())
        })?;
    }
    Ok(code)
}

/// Whether code takes something from a crate: `name::…`, `name as …` or `use name;`.
fn mentions(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = &code[at + name.len()..];
        let begins = before.is_none_or(|letter| !letter.is_alphanumeric() && !"_:.".contains(letter));
        begins && ["::", " as ", ";"].iter().any(|ending| after.starts_with(ending))
    })
}

#[test]
fn the_check_of_dependencies_tells_names_apart() {
    for code in
        ["use http::Request;", "fn f(a: http::Method)", "use http as h;", "(http::x)", "#[http::test]"]
    {
        assert!(mentions(code, "http"), "{code}");
    }
    for code in
        ["use tower_http::limit;", "use crate::http::guard;", "mod httpd;", "let http = 1;", "my.http;", ""]
    {
        assert!(!mentions(code, "http"), "{code}");
    }
}

#[test]
fn no_source_file_is_too_long() -> anyhow::Result<()> {
    const MOST: usize = 500;
    let mut long = Vec::new();
    for folder in ["crds", "crates", "gateway", "operator", "tests/src", "tests/tests", "xtask"] {
        visit(&workspace::root().join(folder), &mut |path| {
            if path.extension().is_some_and(|extension| extension == "rs") {
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
