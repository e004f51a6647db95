//! Measuring retrieval on public tool-retrieval sets (feature `testsuite`): for the tests and `xtask bench retrieval`.

mod remembering;

use std::path::{Path, PathBuf};

use mcc_catalog::model::{Facets, ToolDocument, Visibility};
use mcc_catalog::seam::{IndexError, Query, ToolIndex};
use serde::{Deserialize, Serialize};

pub use remembering::Remembering;

/// The four sets of `shared/data/retrieval`.
pub const SETS: [&str; 4] = ["livemcp", "livemcp_steps", "bfcl", "metatool"];
/// Most queries of a set that are asked.
const MOST_QUERIES: usize = 600;

/// The folder of the shared data: `$MCC_SHARED`, else `shared` beside the workspace; none where there is none.
pub fn shared_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("MCC_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    folder.join("data/retrieval").is_dir().then_some(folder)
}

/// A retrieval set.
#[derive(Debug)]
pub struct Dataset {
    /// Name.
    pub name: String,
    /// Tools, as an index takes them.
    pub tools: Vec<ToolDocument>,
    /// Requests.
    pub queries: Vec<LabelledQuery>,
}

/// A request and the tools it asks for.
#[derive(Debug, Deserialize)]
pub struct LabelledQuery {
    /// The request.
    #[serde(rename = "query")]
    pub text: String,
    /// Keys of the right tools.
    pub gold: Vec<String>,
}

#[derive(Deserialize)]
struct Tool {
    key: String,
    name: String,
    #[serde(default)]
    server: Option<String>,
    description: String,
    params: Vec<Param>,
}

#[derive(Deserialize)]
struct Param {
    name: String,
    #[serde(default)]
    description: String,
}

impl Dataset {
    /// Reads `tools.jsonl`, `queries.jsonl` and, if there, `sample.json` (the lines to ask) of a set's folder.
    pub fn load(folder: &Path) -> std::io::Result<Self> {
        let mut tools: Vec<ToolDocument> = Vec::new();
        for tool in lines::<Tool>(&folder.join("tools.jsonl"))? {
            tools.push(tool.into());
        }
        let mut queries = lines::<LabelledQuery>(&folder.join("queries.jsonl"))?;
        let sample = folder.join("sample.json");
        if sample.exists() {
            let sample: Vec<usize> = serde_json::from_slice(&std::fs::read(sample)?)?;
            let mut asked: Vec<Option<LabelledQuery>> = queries.into_iter().map(Some).collect();
            queries = sample.into_iter().filter_map(|at| asked.get_mut(at).and_then(Option::take)).collect();
        }
        queries.truncate(MOST_QUERIES);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, tools, queries })
    }
}

impl From<Tool> for ToolDocument {
    fn from(tool: Tool) -> Self {
        let groups: Vec<String> = tool.server.into_iter().collect();
        Self {
            digest: format!("{:?}", (&tool.key, &tool.description)),
            facets: Facets::new(tool.key, &groups),
            name: tool.name,
            description: tool.description,
            keywords: Vec::new(),
            params: tool.params.into_iter().map(|param| (param.name, param.description)).collect(),
        }
    }
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> std::io::Result<Vec<T>> {
    let text = std::fs::read_to_string(path)?;
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Means over the queries of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Normalised discounted cumulative gain of the first ten, gains 0 and 1.
    pub ndcg_10: f64,
    /// Share of the right tools among the first five.
    pub recall_5: f64,
    /// Share of the right tools among the first eight.
    pub recall_8: f64,
    /// Share of the right tools among the first ten.
    pub recall_10: f64,
    /// Mean reciprocal rank of the first right tool, 0 beyond the tenth.
    pub mrr: f64,
    /// Queries asked.
    pub queries: usize,
}

/// Asks every query of a set of an index that holds its tools.
pub async fn measure(index: &dyn ToolIndex, set: &Dataset) -> Result<Figures, IndexError> {
    let mut sum = Figures::default();
    for query in &set.queries {
        let keys: Vec<String> = index
            .search(&Query {
                text: query.text.clone(),
                min_score: None,
                limit: 10,
                visibility: Visibility::everything(),
            })
            .await?
            .into_iter()
            .map(|hit| hit.key)
            .collect();
        sum.add(&keys, &query.gold);
    }
    Ok(sum.mean())
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
impl Figures {
    fn add(&mut self, found: &[String], gold: &[String]) {
        let right: Vec<bool> = found.iter().map(|key| gold.contains(key)).collect();
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let gain: f64 =
            right.iter().enumerate().filter(|&(_, &right)| right).map(|(rank, _)| discount(rank)).sum();
        let ideal: f64 = (0..gold.len().min(10)).map(discount).sum();
        let recall = |first: usize| {
            right.iter().take(first).filter(|&&right| right).count() as f64 / gold.len() as f64
        };
        self.ndcg_10 += gain / ideal;
        self.recall_5 += recall(5);
        self.recall_8 += recall(8);
        self.recall_10 += recall(10);
        self.mrr += right.iter().position(|&right| right).map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        self.queries += 1;
    }

    fn mean(self) -> Self {
        let n = self.queries.max(1) as f64;
        Self {
            ndcg_10: self.ndcg_10 / n,
            recall_5: self.recall_5 / n,
            recall_8: self.recall_8 / n,
            recall_10: self.recall_10 / n,
            mrr: self.mrr / n,
            queries: self.queries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_rankings() {
        let key = |name: &str| name.to_owned();
        let mut sum = Figures::default();
        sum.add(&[key("a"), key("b")], &[key("a")]);
        sum.add(&[key("a"), key("b")], &[key("b")]);
        let mean = sum.mean();
        assert!((mean.ndcg_10 - f64::midpoint(1.0, 1.0 / 3.0_f64.log2())).abs() < 1e-9);
        assert!((mean.mrr - 0.75).abs() < 1e-9);
        assert!((mean.recall_5 - 1.0).abs() < 1e-9);
    }
}
