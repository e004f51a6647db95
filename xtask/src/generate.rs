//! Generated files: `cargo xtask generate` writes them, `--check` compares.

mod reference;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use kube::CustomResourceExt;
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};

use crate::workspace;

/// Options of `cargo xtask generate`.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; print what would change and fail if anything would.
    #[arg(long)]
    check: bool,
}

/// A file that is derived from the sources.
struct Generated {
    /// Path below the root of the workspace.
    path: PathBuf,
    /// What belongs in it.
    text: String,
}

/// Writes or checks every generated file.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let root = workspace::root();
    let mut stale = 0;
    for file in files()? {
        let path = root.join(&file.path);
        let present = match fs_err::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.into()),
        };
        if present == file.text {
            continue;
        }
        stale += 1;
        if args.check {
            print!("{}", diff(&file.path.display().to_string(), &present, &file.text));
        } else {
            if let Some(folder) = path.parent() {
                fs_err::create_dir_all(folder)?;
            }
            fs_err::write(&path, &file.text)?;
            println!("wrote {}", file.path.display());
        }
    }
    if args.check && stale > 0 {
        bail!("{stale} generated file(s) are out of date; run `cargo xtask generate` and commit the result");
    }
    Ok(())
}

/// Every generated file with its text.
fn files() -> anyhow::Result<Vec<Generated>> {
    let mut files = Vec::new();
    let crds = [Tool::crd(), ToolGroup::crd(), UserGrant::crd()];
    files.push(Generated { path: PathBuf::from("docs/reference.md"), text: reference::page(&crds)? });
    for crd in &crds {
        let name = &crd.spec.names.plural;
        let yaml = serde_yaml::to_string(crd).with_context(|| format!("can't write the CRD of {name}"))?;
        files.push(Generated {
            path: PathBuf::from(format!("crds/manifests/{name}.yaml")),
            text: format!("# Generated from crds/src by `cargo xtask generate`; do not edit.\n{yaml}"),
        });
    }
    Ok(files)
}

/// The lines that differ, in the form of a unified diff without context: common beginnings and ends are left out.
fn diff(name: &str, present: &str, wanted: &str) -> String {
    let old: Vec<&str> = present.lines().collect();
    let new: Vec<&str> = wanted.lines().collect();
    let mut text = format!("--- {name}\n+++ {name} (generated)\n");
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (di, dj) = resync(&old[i..], &new[j..]);
        let _ = writeln!(text, "@@ -{},{di} +{},{dj} @@", i + 1, j + 1);
        for line in &old[i..i + di] {
            let _ = writeln!(text, "-{line}");
        }
        for line in &new[j..j + dj] {
            let _ = writeln!(text, "+{line}");
        }
        (i, j) = (i + di, j + dj);
    }
    text
}

/// How many lines to skip on each side until three lines agree again (or all of the rest).
fn resync(old: &[&str], new: &[&str]) -> (usize, usize) {
    const REACH: usize = 400;
    for total in 1..REACH.min(old.len() + new.len()) {
        for di in 0..=total.min(old.len()) {
            let dj = total - di;
            if dj > new.len() {
                continue;
            }
            let (a, b) = (&old[di..], &new[dj..]);
            let run = a.len().min(b.len()).min(3);
            if run > 0 && a[..run] == b[..run] {
                return (di, dj);
            }
        }
    }
    (old.len(), new.len())
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn diff_shows_only_what_changed() {
        let text = diff("f", "a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\nf\n");
        assert_eq!(text, "--- f\n+++ f (generated)\n@@ -2,1 +2,1 @@\n-b\n+B\n@@ -6,0 +6,1 @@\n+f\n");
    }

    #[test]
    fn generated_files_are_up_to_date() {
        super::run(&super::Args { check: true }).unwrap();
    }
}
