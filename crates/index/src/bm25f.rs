//! BM25F as one sparse vector a tool.
//!
//! `tf' = Σ_f w_f · tf_f / (1 − b + b · len_f / avg_f)`, weight of a term = `tf' · (k1 + 1) / (k1 + tf')`; the index
//! multiplies by the [`idf`] of each query term and adds up (Robertson, Zaragoza: The Probabilistic Relevance
//! Framework: BM25 and Beyond, 2009, section 3.6). The average lengths are fixed, so a tool's vector doesn't depend on
//! the other tools; that scored better than the averages of each catalog, too.

use mcc_catalog::model::ToolDocument;

use crate::analyze::{self, Content, Origin, Word};

/// Weight and average length of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Field {
    weight: f32,
    /// Words without stop words.
    average_length: f32,
}

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Groups and name.
const NAME: Field = Field { weight: 2.0, average_length: 3.0 };
const DESCRIPTION: Field = Field { weight: 1.0, average_length: 12.0 };
const KEYWORDS: Field = Field { weight: 1.0, average_length: 4.0 };
const PARAM_NAMES: Field = Field { weight: 0.5, average_length: 4.0 };
const PARAM_DESCRIPTIONS: Field = Field { weight: 0.5, average_length: 20.0 };

/// A sparse vector: distinct term ids in rising order, each with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector {
    /// Term ids.
    pub terms: Vec<u32>,
    /// A weight for each.
    pub weights: Vec<f32>,
}

/// The vector of a tool. Deterministic.
pub fn document(tool: &ToolDocument) -> SparseVector {
    let name = format!("{} {}", tool.facets.groups.join(" "), tool.name);
    let (mut params, mut param_descriptions) = (String::new(), String::new());
    for (param, description) in &tool.params {
        params.push_str(param);
        params.push('\n');
        param_descriptions.push_str(description);
        param_descriptions.push('\n');
    }
    let fields = analyze::fields([
        (&name, Content::Identifiers),
        (&tool.description, Content::Prose),
        (&tool.keywords.join("\n"), Content::Identifiers),
        (&params, Content::Identifiers),
        (&param_descriptions, Content::Detail),
    ]);
    // (term, weight) once for each time a term stands in a field.
    let mut found: Vec<(u32, f32)> = Vec::new();
    for (words, field) in fields.iter().zip([NAME, DESCRIPTION, KEYWORDS, PARAM_NAMES, PARAM_DESCRIPTIONS]) {
        let norm = field.weight / (1.0 - B + B * length(words) / field.average_length);
        let terms = words.iter().flat_map(|word| &word.terms);
        found.extend(terms.map(|&(term, origin)| (term, norm * factor(origin))));
    }
    // Stable: the order of a term's weights, and so their sum to the last bit, is that of the text.
    found.sort_by_key(|&(term, _)| term);
    let mut vector = SparseVector::default();
    for chunk in found.chunk_by(|a, b| a.0 == b.0) {
        let tf: f32 = chunk.iter().map(|&(_, weight)| weight).sum();
        vector.terms.push(chunk[0].0);
        vector.weights.push(tf * (K1 + 1.0) / (K1 + tf));
    }
    vector
}

/// What a term counts in a tool's vector. A word as it was written only decides between inflections: at full weight it
/// counts rare words twice and costs .02 of BM25F's nDCG@10.
fn factor(origin: Origin) -> f32 {
    match origin {
        Origin::Stem | Origin::Joined => 1.0,
        Origin::Surface => 0.1,
    }
}

/// Distinct terms of a request, in order of appearance; each counts 1.0.
pub fn query_terms(words: &[Word]) -> Vec<u32> {
    let mut terms = Vec::new();
    for &(term, _) in words.iter().flat_map(|word| &word.terms) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

/// `ln(1 + (N − n + .5) / (n + .5))` of a term that `with` of `all` documents have.
pub fn idf(all: usize, with: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^24 documents")]
    let (all, with) = (all as f32, with.min(all) as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

fn length(words: &[Word]) -> f32 {
    let words = words.iter().filter(|word| !word.repeats).count();
    f32::from(u16::try_from(words).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use mcc_catalog::model::Facets;

    use super::*;

    fn tool(name: &str, description: &str) -> ToolDocument {
        ToolDocument {
            facets: Facets::new(name, &[]),
            name: name.to_owned(),
            description: description.to_owned(),
            ..ToolDocument::default()
        }
    }

    #[test]
    fn one_word_has_the_weight_of_the_formula() {
        let vector = document(&tool("weather", ""));
        // tf' = 2 / (.25 + .75 · 1/3) = 4; 4 · 2.2 / 5.2
        let weights: Vec<f32> = vector.weights.clone();
        assert_eq!(weights.len(), 2);
        let has = |weight: f32| weights.iter().any(|other| (other - weight).abs() < 1e-6);
        assert!(has(4.0 * 2.2 / 5.2), "{weights:?}");
        // As it was written: a tenth of tf'.
        assert!(has(0.4 * 2.2 / 1.6), "{weights:?}");
    }

    #[test]
    fn terms_are_distinct_and_rising() {
        let vector = document(&tool("get_weather", "Get the weather of a place. Weather of today."));
        assert!(vector.terms.is_sorted_by(|a, b| a < b));
        assert_eq!(vector.terms.len(), vector.weights.len());
    }

    #[test]
    fn query_terms_count_once() {
        assert_eq!(
            query_terms(&analyze::query("weather weather")).len(),
            query_terms(&analyze::query("weather")).len()
        );
    }

    #[test]
    fn rare_terms_weigh_more() {
        assert!(idf(1000, 1) > idf(1000, 10));
        assert!(idf(10, 10) > 0.0);
        assert!((idf(0, 0) - 2.0_f32.ln()).abs() < 1e-6);
    }
}
