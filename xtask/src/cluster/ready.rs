//! Whether a node does its work, asked from outside.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::addresses::{DNS_READY_PORT, KUBELET_PORT};
use super::parts::{self, NODE, Part};
use super::processes::{Identity, Process};
use super::root::{Root, State};
use super::stage::CONTAINERD;
use super::{command, node};

const PAUSE: Duration = Duration::from_millis(100);
/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Waits until the node is ready.
pub fn wait(root: &Root, state: &State, patience: Duration) -> Result<()> {
    let began = Instant::now();
    loop {
        let Err(problem) = check(root, state) else { return Ok(()) };
        ensure!(is_alive(state), "the node has ended. {}", node::last_words(root));
        if began.elapsed() > patience {
            let log = root.log();
            return Err(problem.context(format!(
                "the node isn't ready after {} s: see {} for its programs' logs",
                patience.as_secs(),
                log.display()
            )));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether PID 1 runs.
pub fn is_alive(state: &State) -> bool {
    state.init.as_ref().is_some_and(Identity::is_alive)
}

/// The node's programs, each with its process id if it runs.
pub fn parts(state: &State) -> Result<Vec<(Part, Option<i32>)>> {
    let init = state.init.as_ref().filter(|init| init.is_alive());
    let children = init.map(|init| Process::children(init.pid)).transpose()?.unwrap_or_default();
    let pid =
        |part: &Part| children.iter().find(|child| child.name == part.short_name()).map(|child| child.pid);
    Ok(parts::all(state.addresses)
        .into_iter()
        .map(|part| (pid(&part), part))
        .map(|(pid, part)| (part, pid))
        .collect())
}

/// Says what isn't ready yet, the first of what the rest needs.
pub fn check(root: &Root, state: &State) -> Result<()> {
    for (part, pid) in parts(state)? {
        ensure!(pid.is_some(), "{} doesn't run", part.name);
    }
    let init = state.init.as_ref().context("the node doesn't run")?;
    UnixStream::connect(init.file(CONTAINERD)).context("containerd doesn't answer")?;
    kubectl(root, state, "get --raw /readyz").context("the API server isn't ready")?;
    let address = |port| SocketAddr::from((state.addresses.node(), port));
    TcpStream::connect_timeout(&address(KUBELET_PORT), ANSWER).context("the kubelet doesn't answer")?;
    http_ok(address(DNS_READY_PORT)).context("CoreDNS isn't ready")?;
    let condition = "jsonpath={.items[*].status.conditions[?(@.type==\"Ready\")].status}";
    let ready = kubectl(root, state, &format!("get nodes --output={condition}"))?;
    ensure!(ready == "True", "the node `{NODE}` isn't Ready");
    kubectl(root, state, "get serviceaccount default --namespace default --output=name")
        .context("there are no ServiceAccounts yet")?;
    Ok(())
}

/// Calls the cluster's own kubectl as its administrator.
pub fn kubectl(root: &Root, state: &State, arguments: &str) -> Result<String> {
    let mut kubectl = command::command(&state.programs.join("kubectl").to_string_lossy());
    kubectl.env("KUBECONFIG", root.kubeconfig()).arg("--cache-dir").arg(root.kubectl_cache());
    command::run(kubectl.arg("--request-timeout=5s").args(arguments.split_whitespace()))
}

/// Asks for `/ready` as plainly as HTTP allows.
fn http_ok(address: SocketAddr) -> Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(b"GET /ready HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.lines().next().unwrap_or_default();
    if !status.contains(" 200 ") {
        bail!("it answers `{status}`");
    }
    Ok(())
}
