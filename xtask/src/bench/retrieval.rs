//! How well tools are found.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args as ClapArgs;
use mcc_catalog::seam::{Embedder, ToolIndex as _};
use mcc_index::evaluate::{Dataset, Figures, SETS, measure, shared_folder};
use mcc_index::{MemoryIndex, StaticEmbedder};
use serde::Serialize;

use super::Format;

/// Arguments.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Embedders to measure.
    #[arg(long, value_delimiter = ',', default_value = "static")]
    embedder: Vec<EmbedderName>,
    /// Folder of the MiniLM weights.
    #[arg(long, env = "MCC_MODEL_DIR", default_value = "models/minilm")]
    model_dir: PathBuf,
    /// How the figures are printed.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EmbedderName {
    Static,
    Minilm,
}

/// The figures of one embedder.
#[derive(Serialize)]
struct Report {
    embedder: String,
    /// Mean of the sets.
    mean_ndcg_10: f64,
    sets: Vec<SetReport>,
}

#[derive(Serialize)]
struct SetReport {
    set: String,
    tools: usize,
    #[serde(flatten)]
    figures: Figures,
}

/// Runs it.
pub async fn run(args: &Args) -> Result<()> {
    let shared =
        shared_folder().context("no shared data: set MCC_SHARED to the folder that holds data/retrieval")?;
    let mut reports = Vec::new();
    for &name in &args.embedder {
        let embedder = embedder(name, args)?;
        let mut sets = Vec::new();
        for set in SETS {
            let set = Dataset::load(&shared.join("data/retrieval").join(set))
                .with_context(|| format!("set {set}"))?;
            let index = MemoryIndex::new(Arc::clone(&embedder));
            index.replace(set.tools.clone()).await?;
            let figures = measure(&index, &set).await?;
            sets.push(SetReport { set: set.name, tools: set.tools.len(), figures });
        }
        #[expect(clippy::cast_precision_loss, reason = "four sets")]
        let mean_ndcg_10 = sets.iter().map(|set| set.figures.ndcg_10).sum::<f64>() / sets.len() as f64;
        reports.push(Report { embedder: embedder.id().to_owned(), mean_ndcg_10, sets });
    }
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&reports)?),
        Format::Table => reports.iter().for_each(print),
    }
    Ok(())
}

fn embedder(name: EmbedderName, args: &Args) -> Result<Arc<dyn Embedder>> {
    match name {
        EmbedderName::Static => Ok(Arc::new(StaticEmbedder::bundled()?)),
        #[cfg(feature = "minilm")]
        EmbedderName::Minilm => Ok(Arc::new(mcc_index::MiniLmEmbedder::from_folder(&args.model_dir)?)),
        #[cfg(not(feature = "minilm"))]
        EmbedderName::Minilm => {
            anyhow::bail!("this build has no MiniLM for {}; add --features minilm", args.model_dir.display())
        }
    }
}

fn print(report: &Report) {
    println!("{}: mean nDCG@10 {:.4}", report.embedder, report.mean_ndcg_10);
    println!(
        "{:15} {:>6} {:>8} {:>8} {:>9} {:>9} {:>6}",
        "set", "tools", "queries", "nDCG@10", "recall@5", "recall@10", "MRR"
    );
    for SetReport { set, tools, figures } in &report.sets {
        println!(
            "{set:15} {tools:>6} {:>8} {:>8.4} {:>9.4} {:>9.4} {:>6.4}",
            figures.queries, figures.ndcg_10, figures.recall_5, figures.recall_10, figures.mrr
        );
    }
}
