//! The Qdrant that tests use: the server at `$MCC_TEST_QDRANT_URL`, else the double of `tests/qdrant`, which
//! `cargo xtask qdrant build` puts into a cache folder, by the digest of its sources.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest as _, Sha256};

const PROGRAM: &str = "mcc-qdrant-double";

/// A server for one test, and a prefix of its own for what the test puts there.
pub struct TestQdrant {
    /// Address, as the index takes it.
    pub url: String,
    /// Begins the names of this test's collections.
    pub prefix: String,
    double: Option<Double>,
}

impl TestQdrant {
    /// A server, or none and a line that says why `test` is skipped.
    #[expect(clippy::print_stderr, reason = "./test counts what was skipped by this line")]
    pub fn start(test: &str) -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("mcc-test-{}-{number}", std::process::id());
        if let Ok(url) = std::env::var("MCC_TEST_QDRANT_URL") {
            return Some(Self { url, prefix, double: None });
        }
        match Double::start(&Options::default()) {
            Ok(double) => Some(Self { url: double.url.clone(), prefix, double: Some(double) }),
            Err(reason) => {
                eprintln!("skipped: {test}: {reason}");
                None
            }
        }
    }

    /// The same, but the double only: for tests that break it.
    #[expect(clippy::print_stderr, reason = "./test counts what was skipped by this line")]
    pub fn double(test: &str, options: &Options) -> Option<Double> {
        let started = if std::env::var_os("MCC_TEST_QDRANT_URL").is_some() {
            Err("a real server can't be broken on demand".to_owned())
        } else {
            Double::start(options)
        };
        started.inspect_err(|reason| eprintln!("skipped: {test}: {reason}")).ok()
    }

    /// Whether this is the double.
    pub fn is_double(&self) -> bool {
        self.double.is_some()
    }
}

/// How the double is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Every call needs this key.
    pub api_key: Option<String>,
    /// Serve TLS with this certificate and key (PEM files).
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A running double. Killed when dropped, its data with it.
pub struct Double {
    /// Address, as the index takes it.
    pub url: String,
    address: String,
    data: tempfile::TempDir,
    options: Options,
    process: Child,
}

impl Double {
    /// Builds the double if need be, and starts it on a free port.
    pub fn start(options: &Options) -> Result<Self, String> {
        let data =
            tempfile::tempdir().map_err(|error| format!("no folder for the Qdrant double: {error}"))?;
        let (process, address) = spawn(data.path(), "127.0.0.1:0", options)?;
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        Ok(Self { url: format!("{scheme}://{address}"), address, data, options: options.clone(), process })
    }

    /// Ends it as a crash does.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again at the same address, with the data it had or with none.
    pub fn restart(&mut self, keep_data: bool) -> Result<(), String> {
        self.kill();
        if !keep_data {
            let remove = || -> std::io::Result<()> {
                std::fs::remove_dir_all(self.data.path().join("collections"))?;
                let aliases = self.data.path().join("aliases.json");
                if aliases.exists() { std::fs::remove_file(aliases) } else { Ok(()) }
            };
            remove().map_err(|error| format!("the data of the Qdrant double stay: {error}"))?;
        }
        let (process, _) = spawn(self.data.path(), &self.address, &self.options)?;
        self.process = process;
        Ok(())
    }

    /// Stops it without closing a connection: calls hang. [`Self::resume`] goes on.
    pub fn hang(&self) -> Result<(), String> {
        self.signal("-STOP")
    }

    /// Goes on after [`Self::hang`].
    pub fn resume(&self) -> Result<(), String> {
        self.signal("-CONT")
    }

    /// Sets a fault, by the words of `tests/qdrant/src/faults.rs` (`refuse`, `slow 300`, `full`), or none (empty).
    pub fn fault(&self, fault: &str) -> Result<(), String> {
        std::fs::write(self.data.path().join("faults"), fault).map_err(|error| error.to_string())
    }

    fn signal(&self, signal: &str) -> Result<(), String> {
        let status = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("kill {signal}: {status}")),
            Err(error) => Err(format!("kill {signal}: {error}")),
        }
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(data: &Path, listen: &str, options: &Options) -> Result<(Child, String), String> {
    // Tests don't build it: that takes longer than a test may.
    let Place { program, .. } = Place::find()?;
    if !program.is_file() {
        return Err("the Qdrant double isn't built (cargo xtask qdrant build)".to_owned());
    }
    let mut command = Command::new(program);
    command.arg("--data").arg(data).args(["--listen", listen]);
    if let Some((certificate, key)) = &options.tls {
        command.arg("--certificate").arg(certificate).arg("--key").arg(key);
    }
    if let Some(key) = &options.api_key {
        command.env("MCC_QDRANT_API_KEY", key);
    }
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the Qdrant double doesn't start: {error}"))?;
    let mut line = String::new();
    if let Some(stdout) = process.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let Some(address) = line.trim().strip_prefix("listening on ") else {
        let _ = process.kill();
        let _ = process.wait();
        return Err(format!("the Qdrant double ended at once ({line:?})"));
    };
    Ok((process, address.to_owned()))
}

/// Where the double is, or will be.
struct Place {
    sources: PathBuf,
    cache: PathBuf,
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    fn find() -> Result<Self, String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/qdrant");
        let digest = digest(&sources).map_err(|error| format!("no sources of the Qdrant double: {error}"))?;
        let cache = cache_folder().ok_or("neither XDG_CACHE_HOME nor HOME is set")?;
        let folder = cache.join(format!("qdrant-double-{digest}"));
        Ok(Self { program: folder.join(PROGRAM), sources, cache, folder })
    }
}

/// The program of the double: from the cache, else built, which takes minutes.
pub fn binary() -> Result<PathBuf, String> {
    let Place { sources, cache, folder, program } = Place::find()?;
    if program.is_file() {
        return Ok(program);
    }
    let io = |error: std::io::Error| format!("the cache {}: {error}", cache.display());
    std::fs::create_dir_all(&cache).map_err(io)?;
    // Tests run as processes beside each other: one builds, the others wait.
    let lock = std::fs::File::create(cache.join("qdrant-double.lock")).map_err(io)?;
    lock.lock().map_err(io)?;
    if !program.is_file() {
        let built = build(&sources, &cache.join("qdrant-double-target"))?;
        std::fs::create_dir_all(&folder).map_err(io)?;
        let unfinished = folder.join("unfinished");
        std::fs::copy(built, &unfinished).map_err(io)?;
        std::fs::rename(unfinished, &program).map_err(io)?;
        // Gigabytes that are of no use until the sources change.
        std::fs::remove_dir_all(cache.join("qdrant-double-target")).map_err(io)?;
    }
    Ok(program)
}

/// `$XDG_CACHE_HOME/mcc`, else `~/.cache/mcc`: outside the target folder, so that `cargo clean` keeps it.
fn cache_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?.join("mcc"))
}

/// Of the manifest, the lock file and the sources, and the machine's architecture.
fn digest(sources: &Path) -> std::io::Result<String> {
    let mut files = BTreeMap::new();
    for name in ["Cargo.toml", "Cargo.lock", "rustc.sh"] {
        files.insert(name.to_owned(), std::fs::read(sources.join(name))?);
    }
    for entry in std::fs::read_dir(sources.join("src"))? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?);
    }
    let mut hasher = Sha256::new();
    hasher.update(std::env::consts::ARCH);
    for (name, content) in &files {
        hasher.update(format!("\n{name} {}\n", content.len()));
        hasher.update(content);
    }
    Ok(crate::hex(&hasher.finalize()[..8]))
}

fn build(sources: &Path, target: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--locked", "--quiet"])
        .current_dir(sources)
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTC_WRAPPER", sources.join("rustc.sh"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo doesn't start: {error}"))?;
    if output.status.success() {
        return Ok(target.join("debug").join(PROGRAM));
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = errors.lines().rev().take(5).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join(" / ");
    Err(format!("the Qdrant double can't be built: {last}"))
}
