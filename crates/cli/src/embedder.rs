//! Which model search uses.

use std::sync::Arc;

use mcc_catalog::seam::Embedder;
use mcc_index::StaticEmbedder;

use crate::failure::Failure;

/// The choice of a model.
#[derive(Clone, Debug, clap::Args)]
pub struct EmbedderArgs {
    /// Model of search: `static`, the table in this program.
    #[arg(long, env = "MCC_EMBEDDER", default_value = "static", value_name = "MODEL")]
    pub embedder: String,
}

impl EmbedderArgs {
    /// Loads the model.
    pub fn load(&self) -> Result<Arc<dyn Embedder>, Failure> {
        match self.embedder.as_str() {
            "static" => Ok(Arc::new(StaticEmbedder::bundled()?)),
            other => Err(Failure::usage(format!("there is no embedder '{other}'")).hint("use static")),
        }
    }
}
