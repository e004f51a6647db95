//! Container images: folders packed as archives that containerd imports, and those that the tests run, made once from
//! Debian's packages and kept in the cache.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{command, progress, requirements, root};
use crate::workspace;

/// The release that packages are taken from.
const SUITE: &str = "bookworm";
/// What the images are made by; another text makes them anew.
const RECIPE: &str = include_str!("images.rs");
const SEARCH_PATH: &str = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
/// Only for people, and of this machine.
const UNWANTED: [&str; 11] = [
    "dev",
    "etc/apt",
    "etc/hostname",
    "etc/resolv.conf",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "var/cache",
    "var/lib/apt",
];

/// An image of the tests, called `localhost/NAME:test`.
struct Image {
    name: &'static str,
    entrypoint: &'static [&'static str],
    /// Fills the folder of its root file system.
    fill: fn(&Path) -> Result<()>,
}

const IMAGES: [Image; 3] = [
    Image { name: "pause", entrypoint: &["/pause"], fill: pause },
    Image { name: "busybox", entrypoint: &[], fill: busybox },
    Image { name: "python", entrypoint: &[], fill: python },
];

/// The archives of all images, made if this version isn't there.
pub fn get(cache: &Path) -> Result<Vec<PathBuf>> {
    let recipe = format!("{RECIPE}{}{}", fs_err::read_to_string(pause_source())?, std::env::consts::ARCH);
    let folder = cache.join(format!("images-{}", digest(&recipe)));
    let archives = IMAGES.iter().map(|image| folder.join(format!("{}.tar", image.name))).collect();
    if folder.is_dir() {
        return Ok(archives);
    }
    let _one_at_a_time = root::lock(&cache.join("lock"), cache)?;
    if folder.is_dir() {
        return Ok(archives);
    }
    ensure!(requirements::has("mmdebstrap"), "mmdebstrap is missing: `scripts/setup cluster` installs it");
    let new = folder.with_extension("new");
    if new.exists() {
        fs_err::remove_dir_all(&new)?;
    }
    for image in IMAGES {
        progress::step(&format!("made image {}", image.name), || {
            let files = new.join(image.name);
            fs_err::create_dir_all(&files)?;
            (image.fill)(&files).with_context(|| format!("can't make image {}", image.name))?;
            let reference = format!("localhost/{}:test", image.name);
            pack(&files, &reference, image.entrypoint, &new.join(format!("{}.tar", image.name)))?;
            Ok(fs_err::remove_dir_all(files)?)
        })?;
    }
    fs_err::rename(new, &folder)?;
    Ok(archives)
}

/// Packs a folder as an image of one layer; the archive is the same for the same files.
pub fn pack(files: &Path, reference: &str, entrypoint: &[&str], archive: &Path) -> Result<()> {
    let work = archive.with_extension("pack");
    fs_err::create_dir_all(&work)?;
    tar(files, &work.join("layer.tar"), ".")?;
    let layer = sha256(&fs_err::read(work.join("layer.tar"))?);
    let config = json!({
        "architecture": architecture(),
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{}],
        "config": {"Env": [SEARCH_PATH], "Entrypoint": entrypoint},
    });
    fs_err::write(work.join("config.json"), config.to_string())?;
    let manifest = json!([{"Config": "config.json", "RepoTags": [reference], "Layers": ["layer.tar"]}]);
    fs_err::write(work.join("manifest.json"), manifest.to_string())?;
    tar(&work, archive, "manifest.json config.json layer.tar")?;
    Ok(fs_err::remove_dir_all(work)?)
}

fn tar(folder: &Path, archive: &Path, names: &str) -> Result<()> {
    let mut tar = command::command("tar");
    tar.args([
        "--sort=name",
        "--numeric-owner",
        "--owner=0",
        "--group=0",
        "--mtime=@0",
        "--create",
        "--file",
    ]);
    command::run(tar.arg(archive).arg("--directory").arg(folder).args(names.split(' '))).map(drop)
}

/// Go's name of this machine's processor.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn pause_source() -> PathBuf {
    workspace::root().join("tests/cluster/pause.c")
}

fn pause(files: &Path) -> Result<()> {
    let mut compiler = command::command("cc");
    compiler.args(["-Os", "-static", "-s", "-o"]).arg(files.join("pause")).arg(pause_source());
    command::run(&mut compiler).map(drop)
}

/// All of busybox under its programs' names.
fn busybox(files: &Path) -> Result<()> {
    packages(files, "busybox-static")?;
    let busybox = files.join("bin/busybox");
    let names = command::run(command::command(&busybox.to_string_lossy()).arg("--list-full"))?;
    for name in names.lines() {
        let link = files.join(name);
        fs_err::create_dir_all(link.parent().unwrap_or(files))?;
        if !link.exists() {
            std::os::unix::fs::symlink("/bin/busybox", link)?;
        }
    }
    users(files)
}

/// What tools mostly need: a shell with the usual programs, curl, jq, Python.
fn python(files: &Path) -> Result<()> {
    packages(files, "ca-certificates,coreutils,curl,dash,grep,jq,python3,sed")?;
    // As the package's own script would: it isn't run in an extracted folder.
    let mut certificates = Vec::new();
    let folder = files.join("usr/share/ca-certificates/mozilla");
    let mut found = fs_err::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    found.sort();
    for file in found {
        certificates.extend(fs_err::read(file)?);
    }
    fs_err::create_dir_all(files.join("etc/ssl/certs"))?;
    fs_err::write(files.join("etc/ssl/certs/ca-certificates.crt"), certificates)?;
    users(files)
}

/// Packages and what they need, extracted only: no maintainer script runs.
fn packages(files: &Path, names: &str) -> Result<()> {
    let mut mmdebstrap = command::command("mmdebstrap");
    mmdebstrap.args(["--quiet", "--variant=extract", "--include", names, SUITE]);
    command::run(mmdebstrap.arg(files))?;
    for name in UNWANTED {
        let path = files.join(name);
        if path.is_dir() {
            fs_err::remove_dir_all(path)?;
        } else if path.symlink_metadata().is_ok() {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}

fn users(files: &Path) -> Result<()> {
    fs_err::create_dir_all(files.join("etc"))?;
    fs_err::write(
        files.join("etc/passwd"),
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n",
    )?;
    Ok(fs_err::write(files.join("etc/group"), "root:x:0:\nnogroup:x:65534:\n")?)
}

/// A short name for a recipe.
pub fn digest(recipe: &str) -> String {
    sha256(recipe.as_bytes()).chars().take(12).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let folder = std::env::temp_dir().join(format!("mcc-pack-{}", std::process::id()));
        let files = folder.join("files");
        fs_err::create_dir_all(&files).unwrap();
        let archive = |name: &str, content: &str| {
            fs_err::write(files.join("hello"), content).unwrap();
            let archive = folder.join(name);
            pack(&files, "localhost/hello:test", &["/hello"], &archive).unwrap();
            sha256(&fs_err::read(archive).unwrap())
        };
        let first = archive("first.tar", "hello");
        assert_eq!(archive("second.tar", "hello"), first);
        assert_ne!(archive("third.tar", "other"), first);
        let names =
            command::run(command::command("tar").arg("--list").arg("--file").arg(folder.join("first.tar")));
        assert_eq!(names.unwrap(), "manifest.json\nconfig.json\nlayer.tar\n");
        fs_err::remove_dir_all(folder).unwrap();
    }
}
