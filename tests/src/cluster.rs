//! The cluster of the test run: a real Kubernetes node, started once by `./test` (`cargo xtask cluster`).
//!
//! Tests share it, each in a namespace of its own. `MCC_TEST_KUBECONFIG` names it; without that a test is skipped.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace;

/// Images that are on the node, made of Debian's packages (`xtask/src/cluster/images.rs`).
pub const BUSYBOX: &str = "localhost/busybox:test";
/// Python, dash, coreutils, grep, sed, curl, jq.
pub const PYTHON: &str = "localhost/python:test";

/// How long the cluster may take to do something; generous, for a machine that also builds.
pub const PATIENCE: Duration = Duration::from_secs(120);

const KUBECONFIG: &str = "MCC_TEST_KUBECONFIG";

/// A running cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    kubeconfig: PathBuf,
    kubectl: PathBuf,
}

impl Cluster {
    /// The cluster of this test run; without one, says that the test is skipped.
    pub fn of_this_run(test: &str) -> Option<Self> {
        let Some(kubeconfig) = std::env::var_os(KUBECONFIG).filter(|path| !path.is_empty()) else {
            workspace::skip(
                test,
                &format!("no cluster ({KUBECONFIG} isn't set; `./test` starts one as root)"),
            );
            return None;
        };
        Some(Self::new(Path::new(&kubeconfig)))
    }

    /// The cluster of a kubeconfig.
    pub fn new(kubeconfig: &Path) -> Self {
        // Its own kubectl is beside it, and is of its version.
        let own = kubeconfig.with_file_name("bin").join("kubectl");
        let kubectl = if own.is_file() { own } else { PathBuf::from("kubectl") };
        Self { kubeconfig: kubeconfig.to_owned(), kubectl }
    }

    /// A call of kubectl.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(&self.kubectl);
        command.env("KUBECONFIG", &self.kubeconfig).stdin(Stdio::null());
        command.arg("--cache-dir").arg(self.kubeconfig.with_file_name("kubectl-cache"));
        command
    }

    /// Runs kubectl and returns its output; its failure says what it said.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        self.run_with(arguments, "")
    }

    /// Runs kubectl with standard input.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Result<String> {
        let mut child = self
            .kubectl()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't start {}", self.kubectl.display()))?;
        // Dropped at the end of the statement: the input ends. Whoever doesn't read it all may close it.
        let _ = child.stdin.take().context("no standard input")?.write_all(input.as_bytes());
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("kubectl {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A namespace for one test, which goes with it. `labels` as kubectl takes them.
    pub fn namespace(&self, labels: &[&str]) -> Result<Namespace> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcc-test-{}-{number}", std::process::id());
        self.run(&["create", "namespace", &name])?;
        let namespace = Namespace { cluster: self.clone(), name };
        if !labels.is_empty() {
            self.run(&[&["label", "namespace", namespace.name.as_str()], labels].concat())?;
        }
        // Made by a controller, and needed by every pod.
        namespace.until(
            "its ServiceAccount",
            &["get", "serviceaccount", "default", "--output=name"],
            |_| true,
        )?;
        Ok(namespace)
    }

    /// The machine that runs the tests, as pods reach it: the node's default route.
    pub fn machine(&self) -> Result<std::net::Ipv4Addr> {
        let path = "--output=jsonpath={.items[0].status.addresses[?(@.type==\"InternalIP\")].address}";
        let node: std::net::Ipv4Addr = self.run(&["get", "nodes", path])?.parse()?;
        let [a, b, c, _] = node.octets();
        Ok(std::net::Ipv4Addr::new(a, b, c, 1))
    }
}

/// A namespace that is deleted when it goes out of scope.
#[derive(Debug)]
pub struct Namespace {
    cluster: Cluster,
    name: String,
}

impl Namespace {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs kubectl in it.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        self.cluster.run(&[&["--namespace", self.name.as_str()], arguments].concat())
    }

    /// Runs kubectl in it, with standard input.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Result<String> {
        self.cluster.run_with(&[&["--namespace", self.name.as_str()], arguments].concat(), input)
    }

    /// Applies manifests.
    pub fn apply(&self, manifests: &str) -> Result<String> {
        self.run_with(&["apply", "--filename=-"], manifests)
    }

    /// Calls kubectl until its output is as wanted, and returns that.
    pub fn until(&self, what: &str, arguments: &[&str], wanted: impl Fn(&str) -> bool) -> Result<String> {
        let began = Instant::now();
        loop {
            let said = self.run(arguments);
            match said {
                Ok(said) if wanted(&said) => return Ok(said),
                said => ensure!(began.elapsed() < PATIENCE, "no {what} in {}: {said:?}", self.name),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits for the end of a pod, and returns its phase and its log.
    pub fn finished(&self, pod: &str) -> Result<(String, String)> {
        let phase = self.until(
            &format!("end of the pod {pod}"),
            &["get", "pod", pod, "--output=jsonpath={.status.phase}"],
            |phase| matches!(phase, "Succeeded" | "Failed"),
        )?;
        Ok((phase, self.run(&["logs", pod])?))
    }

    /// Runs a script in a pod of its own and returns its phase and its log.
    pub fn script(&self, name: &str, image: &str, script: &str) -> Result<(String, String)> {
        self.apply(&pod(name, image, script).to_string())?;
        self.finished(name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.cluster.run(&["delete", "namespace", &self.name, "--wait=false"]);
    }
}

/// A pod that runs a script once.
pub fn pod(name: &str, image: &str, script: &str) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"name": name}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": image, "command": ["/bin/sh", "-c", script]}],
        },
    })
}
