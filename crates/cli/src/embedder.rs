//! Which model search uses.

use std::sync::Arc;

use clap::ValueEnum;
use mcc_catalog::seam::Embedder;
use mcc_index::{EndpointEmbedder, EndpointSettings, StaticEmbedder};
use reqwest::Url;

use crate::failure::Failure;

/// A kind of model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The table in this program.
    #[default]
    Static,
    /// all-MiniLM-L6-v2, from the folder named by MCC_MODEL_DIR.
    Minilm,
    /// A server with OpenAI's embeddings API.
    Endpoint,
}

/// The choice of a model.
#[derive(Clone, Debug, clap::Args)]
pub struct EmbedderArgs {
    /// Model of search: static (a table in this program), minilm (weights in MCC_MODEL_DIR) or endpoint.
    #[arg(
        long,
        env = "MCC_EMBEDDER",
        value_enum,
        default_value_t,
        value_name = "MODEL",
        hide_possible_values = true
    )]
    pub embedder: Model,
    /// Embeddings resource of a server with OpenAI's API. Its key is read from MCC_EMBEDDER_API_KEY.
    #[arg(long, env = "MCC_EMBEDDER_URL", value_name = "URL", required_if_eq("embedder", "endpoint"))]
    pub embedder_url: Option<Url>,
    /// Name of the model at the endpoint.
    #[arg(long, env = "MCC_EMBEDDER_MODEL", value_name = "NAME", required_if_eq("embedder", "endpoint"))]
    pub embedder_model: Option<String>,
    /// Length of that model's vectors.
    #[arg(long, env = "MCC_EMBEDDER_DIMENSIONS", value_name = "N", required_if_eq("embedder", "endpoint"))]
    pub embedder_dimensions: Option<usize>,
}

impl EmbedderArgs {
    /// Loads the model.
    pub fn load(&self) -> Result<Arc<dyn Embedder>, Failure> {
        match self.embedder {
            Model::Static => Ok(Arc::new(StaticEmbedder::bundled()?)),
            Model::Minilm => minilm(),
            Model::Endpoint => {
                let (Some(url), Some(model), Some(dimensions)) =
                    (&self.embedder_url, &self.embedder_model, self.embedder_dimensions)
                else {
                    return Err(Failure::usage(
                        "--embedder endpoint needs a URL, a model and its dimensions",
                    )
                    .hint("add --embedder-url, --embedder-model and --embedder-dimensions"));
                };
                let settings = EndpointSettings {
                    api_key: std::env::var("MCC_EMBEDDER_API_KEY").ok().filter(|key| !key.is_empty()),
                    ..EndpointSettings::new(url.clone(), model, dimensions)
                };
                Ok(Arc::new(EndpointEmbedder::new(settings)?))
            }
        }
    }
}

#[cfg(feature = "minilm")]
fn minilm() -> Result<Arc<dyn Embedder>, Failure> {
    let folder = mcc_index::model_folder().ok_or_else(|| {
        Failure::usage("--embedder minilm needs its weights")
            .hint("cargo xtask model fetches them; name the folder by MCC_MODEL_DIR")
    })?;
    Ok(Arc::new(mcc_index::MiniLmEmbedder::from_folder(&folder)?))
}

#[cfg(not(feature = "minilm"))]
fn minilm() -> Result<Arc<dyn Embedder>, Failure> {
    Err(Failure::usage("MiniLM is not part of this build")
        .hint("build with the feature minilm, or use --embedder static"))
}
