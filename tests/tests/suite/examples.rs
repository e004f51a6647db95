//! Every file of `examples/` is loaded, nothing is wrong with it, and what the examples show runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use mcc_tests::workspace;
use serde_json::Value;

/// Examples that talk to the internet.
const NEED_INTERNET: [&str; 1] = ["public.weather"];

fn folders() -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs_err::read_dir(workspace::root().join("examples"))? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    anyhow::ensure!(folders.len() >= 2, "no examples found");
    Ok(folders)
}

fn mcc(arguments: &[&str]) -> anyhow::Result<(bool, String)> {
    let output = Command::new(workspace::program("mcc")?).args(arguments).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), format!("{}{stderr}", String::from_utf8_lossy(&output.stdout))))
}

#[test]
fn examples_lint_clean() -> anyhow::Result<()> {
    for folder in folders()? {
        let (clean, said) = mcc(&["lint", "--strict", &folder.to_string_lossy()])?;
        assert!(clean, "{}:\n{said}", folder.display());
    }
    Ok(())
}

/// Every Tool of every file is among the tools that an admin sees.
#[test]
fn every_example_tool_is_served() -> anyhow::Result<()> {
    for folder in folders()? {
        let mut declared = BTreeSet::new();
        visit(&folder, &mut declared)?;
        let (_, listed) = mcc(&["list", "--dir", &folder.to_string_lossy(), "-o", "json"])?;
        let listed: Value = serde_json::from_str(&listed)?;
        let served = listed.to_string();
        for tool in &declared {
            let name = tool.replace('-', "_");
            assert!(
                served.contains(&format!("{name}\"")),
                "{}: {tool} isn't served: {served}",
                folder.display()
            );
        }
        assert!(!declared.is_empty(), "{} declares no Tool", folder.display());
    }
    Ok(())
}

/// Names of the Tools in all manifests of a folder. Each document of the examples begins with apiVersion, kind, metadata.
fn visit(path: &PathBuf, declared: &mut BTreeSet<String>) -> anyhow::Result<()> {
    if path.is_dir() {
        for entry in fs_err::read_dir(path)? {
            visit(&entry?.path(), declared)?;
        }
        return Ok(());
    }
    if path.extension().is_some_and(|extension| extension == "yaml") {
        let text = fs_err::read_to_string(path)?;
        for (_, after) in text.match_indices("kind: Tool\n").map(|(at, kind)| text.split_at(at + kind.len()))
        {
            let name = after.split_once("{name: ").and_then(|(_, rest)| rest.split([',', '}']).next());
            declared.insert(name.unwrap_or_default().to_owned());
        }
    }
    Ok(())
}

/// `mcc test` runs each tool's own example.
#[test]
fn the_quickstart_examples_run() -> anyhow::Result<()> {
    let folder = workspace::root().join("examples/quickstart");
    let folder = folder.to_string_lossy();
    let (_, listed) = mcc(&["list", "--dir", &folder, "-o", "json"])?;
    let listed: Value = serde_json::from_str(&listed)?;
    let tools = listed.as_array().or_else(|| listed["tools"].as_array()).cloned().unwrap_or_default();
    let keys: Vec<&str> = tools.iter().filter_map(|tool| tool["key"].as_str()).collect();
    assert!(keys.len() >= 8, "{listed}");
    for key in keys.into_iter().filter(|key| !NEED_INTERNET.contains(key)) {
        let (passed, said) = mcc(&["test", "--dir", &folder, "--verbose", key])?;
        assert!(passed && !said.contains("skipped"), "{key}: {said}");
    }
    Ok(())
}
