//! `cargo xtask cluster`: one real Kubernetes node for the tests.
//!
//! ```text
//! up ─┬─> programs, images: made once, kept in a cache
//!     ├─> keys, config: files of this cluster, in its root folder
//!     ├─> node: unshare(mount, net, pid) ──> supervisor, PID 1 of the node ──> etcd, containerd, API server, kubelet, …
//!     ├─> network: a veth pair, the only way between the machine and the node
//!     └─> ready: probes from outside, until everything answers
//! ```
//!
//! The node has mount, network and process namespaces of its own, so that the end of its PID 1, of whatever kind, takes
//! every process, mount, bridge and iptables rule with it, and so that two nodes don't know of each other. What is left
//! for `down` are folders: the root and the control groups.

mod addresses;
mod cgroups;
mod command;
mod config;
mod down;
mod images;
mod keys;
mod load_image;
mod network;
mod node;
mod parts;
mod processes;
mod programs;
mod progress;
mod ready;
mod requirements;
mod root;
mod stage;
mod status;
mod supervisor;
mod up;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};

/// Arguments of `cargo xtask cluster`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

/// Where a cluster keeps its things.
#[derive(Debug, clap::Args)]
struct Place {
    /// The folder of this cluster: two folders, two clusters.
    #[arg(long, global = true, env = "MCC_CLUSTER_ROOT", default_value = "/var/tmp/mcc-cluster")]
    root: PathBuf,
    /// The folder of built programs and images, shared by all clusters; default: mcc/cluster in the user's cache.
    #[arg(long, global = true, env = "MCC_CLUSTER_CACHE")]
    cache: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the node, or mend it, wait until it is ready, and print the path of its kubeconfig.
    Up {
        /// The first two bytes of the node's addresses; the third is the first one that is free on this machine.
        #[arg(long, env = "MCC_CLUSTER_NETWORK", default_value = "10.87", value_parser = addresses::prefix)]
        network: [u8; 2],
        /// Seconds that the node may take to get ready, after everything is built.
        #[arg(long, default_value = "180", value_parser = seconds)]
        timeout: Duration,
    },
    /// Stop the node and forget it; programs and images stay in the cache.
    Down,
    /// Say what runs; exits 1 unless everything does.
    Status {
        /// The form of the answer.
        #[arg(short, long, value_enum, default_value_t)]
        output: Format,
    },
    /// Give the node image archives (of `docker save` or an OCI layout, as tar files).
    LoadImage {
        /// The archives.
        #[arg(required = true)]
        archives: Vec<PathBuf>,
    },
    /// PID 1 of the node.
    #[command(hide = true)]
    Supervise,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
}

fn seconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_secs)
}

/// Runs the command.
pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Up { network, timeout } => up::run(&args.place, *network, *timeout),
        Command::Down => down::run(&args.place),
        Command::Status { output } => status::run(&args.place, *output),
        Command::LoadImage { archives } => load_image::run(&args.place, archives),
        Command::Supervise => supervisor::run(),
    }
}
