//! How well tools are found.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args as ClapArgs;
use mcc_catalog::seam::{Embedder, ToolIndex as _};
use mcc_index::evaluate::{Dataset, Figures, Remembering, SETS, measure, shared_folder};
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
    /// Factor of the cosine instead of the embedder's: at 0 BM25F ranks alone, at 1e6 the vectors do.
    #[arg(long)]
    weight: Option<f32>,
    /// Share of the best clause instead of the embedder's.
    #[arg(long)]
    clause_share: Option<f32>,
    /// Folder that keeps the vectors between runs.
    #[arg(long)]
    vectors: Option<PathBuf>,
    /// Ask at most this many queries of each set [default: all].
    #[arg(long)]
    queries: Option<usize>,
    /// Fail where the mean nDCG@10 of an embedder is below its bound.
    #[arg(long, conflicts_with_all = ["queries", "weight", "clause_share"])]
    check: bool,
    /// How the figures are printed.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum EmbedderName {
    Static,
    Minilm,
}

impl EmbedderName {
    /// The least mean nDCG@10 of the four sets, of the acceptance list.
    fn least(self) -> f64 {
        match self {
            Self::Static => 0.626,
            Self::Minilm => 0.655,
        }
    }
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
    let load = |set| -> Result<Dataset> {
        let mut set =
            Dataset::load(&shared.join("data/retrieval").join(set)).with_context(|| format!("set {set}"))?;
        set.queries.truncate(args.queries.unwrap_or(usize::MAX));
        Ok(set)
    };
    let data = SETS.iter().map(load).collect::<Result<Vec<_>>>()?;
    let (mut reports, mut broken) = (Vec::new(), Vec::new());
    for &name in &args.embedder {
        let embedder = embedder(name, args)?;
        learn(&embedder, args, &data).await?;
        let mut sets = Vec::new();
        for set in &data {
            let index = MemoryIndex::new(Arc::clone(&embedder) as Arc<dyn Embedder>);
            index.replace(set.tools.clone()).await?;
            let figures = measure(&index, set).await?;
            sets.push(SetReport { set: set.name.clone(), tools: set.tools.len(), figures });
        }
        #[expect(clippy::cast_precision_loss, reason = "four sets")]
        let mean_ndcg_10 = sets.iter().map(|set| set.figures.ndcg_10).sum::<f64>() / sets.len() as f64;
        broken.extend(too_low(name, mean_ndcg_10));
        reports.push(Report { embedder: embedder.id().to_owned(), mean_ndcg_10, sets });
    }
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&reports)?),
        Format::Table => reports.iter().for_each(print),
    }
    if args.check { super::verdict(&broken) } else { Ok(()) }
}

/// What is wrong with a mean, in words. Not a number is no mean that keeps its bound.
fn too_low(name: EmbedderName, mean: f64) -> Option<String> {
    let keeps = mean >= name.least();
    (!keeps).then(|| format!("{name:?}: mean nDCG@10 {mean:.4}, must be at least {}", name.least()))
}

fn embedder(name: EmbedderName, args: &Args) -> Result<Arc<Remembering>> {
    let model: Arc<dyn Embedder> = match name {
        EmbedderName::Static => Arc::new(StaticEmbedder::bundled()?),
        #[cfg(feature = "minilm")]
        EmbedderName::Minilm => Arc::new(mcc_index::MiniLmEmbedder::from_folder(&args.model_dir)?),
        #[cfg(not(feature = "minilm"))]
        EmbedderName::Minilm => {
            anyhow::bail!("this build has no MiniLM for {}; add --features minilm", args.model_dir.display())
        }
    };
    let mut embedder = Remembering::new(model);
    embedder.weight = args.weight;
    embedder.clause_share = args.clause_share;
    Ok(Arc::new(embedder))
}

/// Embeds what the sets need, and keeps it in `--vectors`.
async fn learn(embedder: &Remembering, args: &Args, data: &[Dataset]) -> Result<()> {
    let Some(folder) = &args.vectors else { return Ok(embedder.learn(data).await?) };
    fs_err::create_dir_all(folder)?;
    let file = folder.join(format!("{}.safetensors", embedder.id()));
    if file.exists() {
        embedder.read(&file).with_context(|| file.display().to_string())?;
    }
    embedder.learn(data).await?;
    embedder.write(&file).with_context(|| file.display().to_string())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_can_break() {
        for (name, least) in [(EmbedderName::Static, 0.626), (EmbedderName::Minilm, 0.655)] {
            assert_eq!(too_low(name, least), None);
            assert!(too_low(name, least - 0.0001).is_some_and(|text| text.contains(&least.to_string())));
            assert!(too_low(name, f64::NAN).is_some());
        }
    }
}
