//! Where a catalog is: manifests in this process, or a server.

use std::path::PathBuf;

use crate::commands::client_config::DEFAULT_SERVER;
use crate::embedder::EmbedderArgs;
use crate::failure::Failure;
use crate::local::{CallerArgs, Local, RuntimeArgs};
use crate::printer::Printer;
use crate::remote::Remote;

/// Where the catalog is.
#[derive(Clone, Debug, clap::Args)]
pub struct TargetArgs {
    /// A folder of manifests, or a manifest (repeatable): no server is needed.
    #[arg(long, value_name = "PATH", help_heading = "Catalog")]
    pub dir: Vec<PathBuf>,
    /// MCP endpoint of a server; not looked at with --dir.
    #[arg(long, env = "MCC_SERVER", default_value = DEFAULT_SERVER, value_name = "URL", help_heading = "Catalog")]
    pub server: String,
    #[command(flatten, next_help_heading = "With --dir")]
    caller: CallerArgs,
    #[command(flatten, next_help_heading = "With --dir")]
    runtime: RuntimeArgs,
    #[command(flatten, next_help_heading = "With --dir")]
    embedder: EmbedderArgs,
}

/// A catalog.
pub enum Target {
    /// Manifests in this process.
    Local(Box<Local>),
    /// A server.
    Remote(Remote),
}

impl TargetArgs {
    /// Opens the catalog.
    pub async fn open(&self, printer: Printer) -> Result<Target, Failure> {
        if self.dir.is_empty() {
            if self.caller.user.is_some()
                || self.caller.anonymous
                || !self.caller.groups.is_empty()
                || !self.runtime.secrets.is_empty()
            {
                return Err(Failure::usage("--user, --groups, --anonymous and --secret go with --dir")
                    .hint("a server knows its callers and its secrets itself"));
            }
            return Ok(Target::Remote(Remote::connect(&self.server).await?));
        }
        Ok(Target::Local(Box::new(self.local(printer)?)))
    }

    /// Opens manifests; an error without `--dir`.
    pub fn local(&self, printer: Printer) -> Result<Local, Failure> {
        if self.dir.is_empty() {
            return Err(Failure::usage("this needs the manifests").hint("name their folder with --dir PATH"));
        }
        Local::open(&self.dir, &self.runtime, &self.embedder, &self.caller, printer)
    }
}
