//! `status`: what runs, for people and programs.

use anyhow::{Result, bail};
use serde::Serialize;

use super::root::Root;
use super::{Format, Place, ready};

/// A cluster as `-o json` shows it. Missing addresses and files: nothing was started.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    /// Whether everything answers.
    ready: bool,
    /// What doesn't.
    problem: Option<String>,
    root: std::path::PathBuf,
    kubeconfig: Option<std::path::PathBuf>,
    kubectl: Option<std::path::PathBuf>,
    /// The API server.
    api: Option<String>,
    /// What pods reach this machine as.
    machine: Option<String>,
    /// The node.
    node: Option<String>,
    /// PID 1 of the node, as this machine numbers it.
    init: Option<i32>,
    parts: Vec<PartStatus>,
}

#[derive(Debug, Serialize)]
struct PartStatus {
    name: &'static str,
    pid: Option<i32>,
}

/// Prints the status; an error unless everything answers.
pub fn run(place: &Place, output: Format) -> Result<()> {
    let root = Root::new(place)?;
    let status = status(&root)?;
    match output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&status)?),
        Format::Table => {
            for part in &status.parts {
                let pid = part.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
                println!("{:<24} {pid}", part.name);
            }
            if let (Some(api), Some(kubeconfig)) = (&status.api, &status.kubeconfig) {
                println!("{:<24} {api}\n{:<24} {}", "API", "KUBECONFIG", kubeconfig.display());
            }
        }
    }
    match status.problem {
        None => Ok(()),
        Some(problem) => bail!("{problem}"),
    }
}

fn status(root: &Root) -> Result<Status> {
    let state = root.state()?;
    let problem = match &state {
        None => Some(format!("no cluster was started in {}", root.path().display())),
        Some(state) if !ready::is_alive(state) => {
            Some("the node has ended; `cluster up` starts it anew".to_owned())
        }
        Some(state) => ready::check(root, state).err().map(|problem| format!("{problem:#}")),
    };
    let state = state.as_ref();
    let parts = state.map(ready::parts).transpose()?.unwrap_or_default();
    Ok(Status {
        ready: problem.is_none(),
        problem,
        root: root.path().to_owned(),
        kubeconfig: state.map(|_| root.kubeconfig()),
        kubectl: state.map(|_| root.programs().join("kubectl")),
        api: state.map(|state| state.addresses.api()),
        machine: state.map(|state| state.addresses.machine().to_string()),
        node: state.map(|state| state.addresses.node().to_string()),
        init: state.and_then(|state| state.init.as_ref()).map(|init| init.pid),
        parts: parts.into_iter().map(|(part, pid)| PartStatus { name: part.name, pid }).collect(),
    })
}
