//! From the legs of a hybrid search to one ranking. Shared by every index, so that all rank alike.
//!
//! `S = 0.25 · BM25F + w · cosine`, a tool that is missing from a leg counts 0 there. With clauses,
//! `score = (1 − a) · S(request) + a · max over clauses S(clause)`. Tools that the request names come first.

use std::collections::HashMap;
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

/// A request, or a clause of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Text for the embedder.
    pub text: String,
    /// Distinct terms, each of weight 1.0.
    pub terms: Vec<u32>,
    /// Share of its letters that are Latin.
    pub latin: f32,
}

impl Part {
    fn new(text: &str) -> Self {
        Self {
            terms: bm25f::query_terms(&analyze::query(text)),
            latin: latin_share(text),
            text: text.to_owned(),
        }
    }
}

/// What has to be searched for a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The request, then its clauses if it has several.
    pub parts: Vec<Part>,
    /// Names of tools in it.
    pub mentions: Mentions,
}

impl Plan {
    /// Reads a request. What is beyond 8 KiB is ignored.
    pub fn new(query: &str) -> Self {
        let mut text = query.to_owned();
        truncate(&mut text, LONGEST);
        let clauses = clauses::split(&text);
        let mut parts = vec![Part::new(&text)];
        if clauses.len() > 1 {
            parts.extend(clauses.iter().map(|clause| Part::new(clause)));
        }
        Self { parts, mentions: Mentions::of(&text) }
    }
}

/// The best tools of one part by each kind of vector: at most [`LEG`] each, with the raw score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legs<Id> {
    /// By BM25F.
    pub sparse: Vec<(Id, f32)>,
    /// By cosine.
    pub dense: Vec<(Id, f32)>,
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

/// Tools with a positive score, in no order. `legs` has an element for each part of `plan`; `named` are the tools that
/// the request names.
///
/// A tool without a term or a direction in common with the request isn't found, however few others there are.
pub fn fuse<Id: Copy + Eq + Hash>(
    plan: &Plan,
    legs: &[Legs<Id>],
    named: &[Id],
    weights: Weights,
) -> Vec<(Id, f32)> {
    let mut scores: HashMap<Id, f32> = HashMap::new();
    let mut best_clause: HashMap<Id, f32> = HashMap::new();
    for (at, (part, legs)) in plan.parts.iter().zip(legs).enumerate() {
        let of_part = part_scores(part, legs, weights);
        if at == 0 {
            scores = of_part;
            continue;
        }
        for (id, score) in of_part {
            best_clause.entry(id).and_modify(|best| *best = best.max(score)).or_insert(score);
        }
    }
    if plan.parts.len() > 1 {
        for score in scores.values_mut() {
            *score *= 1.0 - weights.clause;
        }
        for (id, best) in best_clause {
            *scores.entry(id).or_default() += weights.clause * best;
        }
    }
    lift(&mut scores, named);
    scores.into_iter().filter(|&(_, score)| score > 0.0).collect()
}

fn part_scores<Id: Copy + Eq + Hash>(part: &Part, legs: &Legs<Id>, weights: Weights) -> HashMap<Id, f32> {
    let dense = if weights.multilingual { weights.dense } else { weights.dense * part.latin };
    let mut scores = HashMap::with_capacity(legs.sparse.len() + legs.dense.len());
    for &(id, score) in &legs.sparse {
        scores.insert(id, SPARSE_WEIGHT * score);
    }
    for &(id, cosine) in &legs.dense {
        *scores.entry(id).or_default() += dense * cosine;
    }
    scores
}

/// Lifts the named tools, all by the same amount, above every other.
fn lift<Id: Copy + Eq + Hash>(scores: &mut HashMap<Id, f32>, named: &[Id]) {
    let lowest = named.iter().map(|id| scores.get(id).copied().unwrap_or(0.0)).fold(f32::INFINITY, f32::min);
    let highest =
        scores.iter().filter(|(id, _)| !named.contains(id)).map(|(_, &score)| score).fold(0.0_f32, f32::max);
    for &id in named {
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
        let legs = Legs { sparse: vec![(1, 8.0), (2, 4.0)], dense: vec![(1, 0.5), (3, 0.25)] };
        let found = fuse(&Plan::new("weather"), &[legs], &[], WEIGHTS);
        assert!((score(&found, 1) - 6.0).abs() < 1e-6);
        assert!((score(&found, 2) - 1.0).abs() < 1e-6);
        assert!((score(&found, 3) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn unrelated_tools_are_not_found() {
        let legs = Legs { sparse: vec![], dense: vec![(1, 0.5), (2, -0.1), (3, 0.0)] };
        assert_eq!(fuse(&Plan::new("weather"), &[legs], &[], WEIGHTS), [(1, 4.0)]);
    }

    #[test]
    fn the_best_clause_counts() {
        let plan = Plan::new("find me a flight. book me a hotel");
        assert_eq!(plan.parts.len(), 3);
        let leg = |id, cosine| Legs { sparse: vec![], dense: vec![(id, cosine)] };
        let found = fuse(&plan, &[leg(1, 0.5), leg(1, 0.25), leg(2, 1.0)], &[], WEIGHTS);
        assert!((score(&found, 1) - (0.65 * 4.0 + 0.35 * 2.0)).abs() < 1e-6);
        assert!((score(&found, 2) - 0.35 * 8.0).abs() < 1e-6);
    }

    #[test]
    fn named_tools_come_first_in_their_own_order() {
        let legs = Legs { sparse: vec![(1, 80.0), (2, 8.0), (3, 4.0)], dense: vec![] };
        let found = fuse(&Plan::new("x"), &[legs], &[2, 3, 4], WEIGHTS);
        assert!(score(&found, 2) > score(&found, 3) && score(&found, 3) > score(&found, 4));
        assert!(score(&found, 4) > score(&found, 1));
    }

    #[test]
    fn an_english_model_is_not_asked_about_other_scripts() {
        let legs = Legs { sparse: vec![(1, 8.0)], dense: vec![(2, 0.9)] };
        assert_eq!(fuse(&Plan::new("天气预报"), std::slice::from_ref(&legs), &[], WEIGHTS), [(1, 2.0)]);
        let multilingual = Weights { multilingual: true, ..WEIGHTS };
        assert_eq!(fuse(&Plan::new("天气预报"), &[legs], &[], multilingual).len(), 2);
    }
}
