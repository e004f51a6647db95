//! From the legs of a hybrid search to one ranking. Shared by every index, so that all rank alike.
//!
//! `score = 0.25 · BM25F(request) + w · ((1 − a) · cosine(request) + a · max over clauses cosine(clause))`; a tool that
//! is missing from a leg counts 0 there. One clause: `a` is 0. Tools that the request names come first.
//!
//! Clauses sharpen the cosine only: one vector for several intents lies between them, while the terms of BM25F add up
//! as they are. That found more than fusing each clause's whole score, and needs one sparse search.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::analyze::{self, latin_share};
use crate::bm25f;
use crate::clauses;
use crate::document::truncate;
use crate::names::Mentions;

/// Length of a leg: an index returns this many best tools for each part of a plan and each kind of vector.
pub const LEG: usize = 100;
/// Factor of the BM25F score.
const SPARSE_WEIGHT: f32 = 0.25;
/// What being named adds at least.
const NAME_BONUS: f32 = 5.0;
/// How far named tools stay above all others.
const NAME_GAP: f32 = 1.0;
/// Longest request that is read, in bytes.
const LONGEST: usize = 8 * 1024;

/// A text to embed: the request, or a clause of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Text for the embedder.
    pub text: String,
    /// Share of its letters that are Latin.
    pub latin: f32,
}

/// What has to be searched for a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Distinct terms for the sparse leg, each of weight 1.0.
    pub terms: Vec<u32>,
    /// One dense leg each: the request, then its clauses if it has several.
    pub parts: Vec<Part>,
    /// Names of tools in it.
    pub mentions: Mentions,
}

impl Plan {
    /// Reads a request. What is beyond 8 KiB is ignored.
    pub fn new(query: &str) -> Self {
        let mut text = query.to_owned();
        truncate(&mut text, LONGEST);
        let mut texts = vec![text.as_str()];
        let clauses = clauses::split(&text);
        if clauses.len() > 1 {
            texts.extend(clauses);
        }
        let parts =
            texts.into_iter().map(|text| Part { text: text.to_owned(), latin: latin_share(text) }).collect();
        Self { terms: bm25f::query_terms(&analyze::query(&text)), parts, mentions: Mentions::of(&text) }
    }
}

/// The best tools by each kind of vector: at most [`LEG`] in each leg, with the raw score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legs<Id> {
    /// By BM25F.
    pub sparse: Vec<(Id, f32)>,
    /// By cosine, a leg for each part of the plan.
    pub dense: Vec<Vec<(Id, f32)>>,
}

/// How the legs are weighed; depends on the embedder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Factor of the cosine.
    pub dense: f32,
    /// Share of the best clause.
    pub clause: f32,
    /// Whether the embedder knows other languages than English. If not, the factor of the cosine is scaled by the
    /// share of Latin letters.
    pub multilingual: bool,
}

/// Tools with a positive score, in no order. `named` are the tools that the request names.
///
/// A tool without a term or a direction in common with the request isn't found, however few others there are.
pub fn fuse<Id: Copy + Eq + Hash>(
    plan: &Plan,
    legs: &Legs<Id>,
    named: &[Id],
    weights: Weights,
) -> Vec<(Id, f32)> {
    let mut scores: HashMap<Id, f32> =
        legs.sparse.iter().map(|&(id, score)| (id, SPARSE_WEIGHT * score)).collect();
    let clause_share = if plan.parts.len() > 1 { weights.clause } else { 0.0 };
    let mut best_clause: HashMap<Id, f32> = HashMap::new();
    for (at, (part, leg)) in plan.parts.iter().zip(&legs.dense).enumerate() {
        let weight = if weights.multilingual { weights.dense } else { weights.dense * part.latin };
        for &(id, cosine) in leg {
            if at == 0 {
                *scores.entry(id).or_default() += (1.0 - clause_share) * weight * cosine;
            } else {
                let score = clause_share * weight * cosine;
                best_clause.entry(id).and_modify(|best| *best = best.max(score)).or_insert(score);
            }
        }
    }
    for (id, score) in best_clause {
        *scores.entry(id).or_default() += score;
    }
    lift(&mut scores, named);
    scores.into_iter().filter(|&(_, score)| score > 0.0).collect()
}

/// Lifts the named tools, all by the same amount, above every other.
fn lift<Id: Copy + Eq + Hash>(scores: &mut HashMap<Id, f32>, named: &[Id]) {
    let named: HashSet<Id> = named.iter().copied().collect();
    let lowest = named.iter().map(|id| scores.get(id).copied().unwrap_or(0.0)).fold(f32::INFINITY, f32::min);
    let highest =
        scores.iter().filter(|(id, _)| !named.contains(id)).map(|(_, &score)| score).fold(0.0_f32, f32::max);
    for id in named {
        *scores.entry(id).or_default() += NAME_BONUS.max(highest - lowest + NAME_GAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: Weights = Weights { dense: 8.0, clause: 0.35, multilingual: false };

    fn score(found: &[(u32, f32)], id: u32) -> f32 {
        found.iter().find(|found| found.0 == id).map_or(0.0, |found| found.1)
    }

    #[test]
    fn the_sum_of_both_legs() {
        let legs = Legs { sparse: vec![(1, 8.0), (2, 4.0)], dense: vec![vec![(1, 0.5), (3, 0.25)]] };
        let found = fuse(&Plan::new("weather"), &legs, &[], WEIGHTS);
        assert!((score(&found, 1) - 6.0).abs() < 1e-6);
        assert!((score(&found, 2) - 1.0).abs() < 1e-6);
        assert!((score(&found, 3) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn unrelated_tools_are_not_found() {
        let legs = Legs { sparse: vec![], dense: vec![vec![(1, 0.5), (2, -0.1), (3, 0.0)]] };
        assert_eq!(fuse(&Plan::new("weather"), &legs, &[], WEIGHTS), [(1, 4.0)]);
    }

    #[test]
    fn the_best_clause_counts() {
        let plan = Plan::new("find me a cheap flight. book me a nice hotel");
        assert_eq!(plan.parts.len(), 3);
        let legs =
            Legs { sparse: vec![], dense: vec![vec![(1, 0.5)], vec![(1, 0.25)], vec![(1, 0.125), (2, 1.0)]] };
        let found = fuse(&plan, &legs, &[], WEIGHTS);
        assert!((score(&found, 1) - (0.65 * 4.0 + 0.35 * 2.0)).abs() < 1e-6);
        assert!((score(&found, 2) - 0.35 * 8.0).abs() < 1e-6);
    }

    #[test]
    fn named_tools_come_first_in_their_own_order() {
        let legs = Legs { sparse: vec![(1, 80.0), (2, 8.0), (3, 4.0)], dense: vec![] };
        let found = fuse(&Plan::new("x"), &legs, &[2, 3, 4], WEIGHTS);
        assert!(score(&found, 2) > score(&found, 3) && score(&found, 3) > score(&found, 4));
        assert!(score(&found, 4) > score(&found, 1));
    }

    #[test]
    fn an_english_model_is_not_asked_about_other_scripts() {
        let legs = Legs { sparse: vec![(1, 8.0)], dense: vec![vec![(2, 0.9)]] };
        assert_eq!(fuse(&Plan::new("天气预报"), &legs, &[], WEIGHTS), [(1, 2.0)]);
        let multilingual = Weights { multilingual: true, ..WEIGHTS };
        assert_eq!(fuse(&Plan::new("天气预报"), &legs, &[], multilingual).len(), 2);
    }
}
