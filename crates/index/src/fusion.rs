//! From the legs of a hybrid search to one ranking. Shared by every index, so that all rank alike.
//!
//! `score = BM25F(request) / 6 + w · ((1 − a) · cosine(request) + a · max over clauses cosine(clause))`. One clause: `a`
//! is 0. Tools that the request names come first.
//!
//! A tool that is missing from a leg counts 0 there by BM25F, and as the last of it by cosine: few tools share a word
//! with a request, but to every tool there is a cosine, and beyond the hundredth they are close to each other.
//!
//! Clauses sharpen the cosine only: one vector for several intents lies between them, while the terms of BM25F add up
//! as they are. That found more than fusing each clause's whole score, and needs one sparse search.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use mcc_catalog::seam::{Embedder, Hit};

use crate::analyze::{self, latin_share};
use crate::bm25f;
use crate::clauses;
use crate::document::truncate;
use crate::names::Mentions;

/// Length of a leg: an index returns this many best tools for each part of a plan and each kind of vector.
pub const LEG: usize = 100;
/// Factor of the BM25F score, two thirds of SEARCH.md's: beside its stem, a word counts as it was written and joined to
/// its neighbours, which raises BM25F's scores and not what they say.
const SPARSE_WEIGHT: f32 = 1.0 / 6.0;
/// What being named adds at least.
const NAME_BONUS: f32 = 5.0;
/// How far named tools stay above all others.
const NAME_GAP: f32 = 1.0;
/// Scores closer than this are equal: sums of 32-bit floats in another order differ by some 10⁻⁶, and the order of tools
/// must not depend on who added up.
const ROUNDING: f32 = 1e-5;
/// The same in a leg, where a cosine still gets its factor; times the score where that is above 1.
const LEG_ROUNDING: f32 = 1e-6;
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

/// The ranking: by falling score, equal ones by key, at most `limit`, none below `min_score`.
pub fn rank<'k, Id: Copy + Eq + Hash>(
    found: Vec<(Id, f32)>,
    min_score: Option<f32>,
    limit: usize,
    key: impl Fn(Id) -> &'k str,
) -> Vec<Hit> {
    let mut found = found;
    level(&mut found, |a, b| a - b <= ROUNDING, &key);
    let mut least = f32::NEG_INFINITY;
    for (_, score) in found.iter_mut().rev() {
        least = least.max(*score);
        *score = least;
    }
    found
        .into_iter()
        .filter(|&(_, score)| min_score.is_none_or(|least| score >= least))
        .take(limit)
        .map(|(id, score)| Hit { key: key(id).to_owned(), score })
        .collect()
}

/// Cuts a leg that an index returned too long, where equal scores may stand in another order, to the [`LEG`] best.
/// False: so many are equal to the last one that more have to be fetched to know which come first.
pub fn cut<'k, Id: Copy>(leg: &mut Vec<(Id, f32)>, complete: bool, key: impl Fn(Id) -> &'k str) -> bool {
    let equal = |a: f32, b: f32| a - b <= LEG_ROUNDING * a.abs().max(1.0);
    level(leg, equal, &key);
    let decided = match (leg.get(LEG - 1), leg.last()) {
        (Some(border), Some(last)) => !equal(border.1, last.1),
        _ => false,
    };
    leg.truncate(LEG);
    complete || decided
}

/// Sorts by falling score, and by key where scores are equal up to rounding.
fn level<'k, Id: Copy>(
    found: &mut [(Id, f32)],
    equal: impl Fn(f32, f32) -> bool,
    key: &impl Fn(Id) -> &'k str,
) {
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    for equals in found.chunk_by_mut(|a, b| equal(a.1, b.1)) {
        equals.sort_unstable_by(|a, b| key(a.0).cmp(key(b.0)));
    }
}

impl Weights {
    /// What an embedder asks for.
    pub fn of(embedder: &dyn Embedder) -> Self {
        Self {
            dense: embedder.weight(),
            clause: embedder.clause_share(),
            multilingual: embedder.multilingual(),
        }
    }
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
    let sparse = Weighed::new(&legs.sparse, SPARSE_WEIGHT, 0.0);
    let dense: Vec<Weighed<Id>> = plan
        .parts
        .iter()
        .zip(&legs.dense)
        .map(|(part, leg)| {
            let weight = if weights.multilingual { weights.dense } else { weights.dense * part.latin };
            Weighed::new(leg, weight, last(leg))
        })
        .collect();
    let found = std::iter::once(&sparse).chain(&dense).flat_map(|leg| leg.scores.keys().copied());
    let mut scores: HashMap<Id, f32> =
        found.map(|id| (id, sparse.of(id) + meaning(&dense, id, weights.clause))).collect();
    lift(&mut scores, named);
    scores.into_iter().filter(|&(_, score)| score > 0.0).collect()
}

/// The dense part of a tool's score: of the request, or of it and its best clause.
fn meaning<Id: Copy + Eq + Hash>(dense: &[Weighed<Id>], id: Id, clause_share: f32) -> f32 {
    let Some((whole, clauses)) = dense.split_first() else { return 0.0 };
    match clauses.iter().map(|clause| clause.of(id)).reduce(f32::max) {
        Some(best) => (1.0 - clause_share) * whole.of(id) + clause_share * best,
        None => whole.of(id),
    }
}

/// What a tool beyond the end of a dense leg counts: no more than the last in it; nothing when the leg has every tool.
fn last<Id>(leg: &[(Id, f32)]) -> f32 {
    if leg.len() < LEG {
        return 0.0;
    }
    leg.iter().map(|&(_, score)| score).fold(f32::INFINITY, f32::min).max(0.0)
}

/// A leg times its factor.
struct Weighed<Id> {
    scores: HashMap<Id, f32>,
    missing: f32,
}

impl<Id: Copy + Eq + Hash> Weighed<Id> {
    fn new(leg: &[(Id, f32)], weight: f32, missing: f32) -> Self {
        let scores = leg.iter().map(|&(id, score)| (id, weight * score)).collect();
        Self { scores, missing: weight * missing }
    }

    fn of(&self, id: Id) -> f32 {
        self.scores.get(&id).copied().unwrap_or(self.missing)
    }
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
        let legs = Legs { sparse: vec![(1, 12.0), (2, 6.0)], dense: vec![vec![(1, 0.5), (3, 0.25)]] };
        let found = fuse(&Plan::new("weather"), &legs, &[], WEIGHTS);
        assert!((score(&found, 1) - 6.0).abs() < 1e-6);
        assert!((score(&found, 2) - 1.0).abs() < 1e-6);
        assert!((score(&found, 3) - 2.0).abs() < 1e-6);
    }

    /// Beyond the end of a full dense leg a tool is as near as the last in it, whatever it is by words.
    #[test]
    fn a_full_dense_leg_bounds_what_is_missing_from_it() {
        let near: Vec<(u32, f32)> = (0..100).map(|id| (id, if id == 7 { 0.25 } else { 0.5 })).collect();
        let legs = Legs { sparse: vec![(200, 6.0)], dense: vec![near] };
        let found = fuse(&Plan::new("weather"), &legs, &[], WEIGHTS);
        assert!((score(&found, 200) - 3.0).abs() < 1e-6);
        assert!((score(&found, 7) - 2.0).abs() < 1e-6);
        let short = Legs { dense: vec![legs.dense[0][..99].to_vec()], ..legs };
        let found = fuse(&Plan::new("weather"), &short, &[], WEIGHTS);
        assert!((score(&found, 200) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn unrelated_tools_are_not_found() {
        let legs = Legs { sparse: vec![], dense: vec![vec![(1, 0.5), (2, -0.1), (3, 0.0)]] };
        assert_eq!(fuse(&Plan::new("weather"), &legs, &[], WEIGHTS), [(1, 4.0)]);
    }

    #[test]
    fn rounding_does_not_decide() {
        let names = ["c", "a", "b", "d"];
        let found = vec![(3, 1.0), (0, 2.000_000_2), (1, 2.0), (2, 1.999_999_9)];
        let hits = rank(found, None, 3, |id: usize| names[id]);
        assert_eq!(hits.iter().map(|hit| hit.key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
    }

    #[test]
    fn a_leg_is_cut_between_different_scores_only() {
        let names: Vec<String> = (0..150).map(|id| format!("{:03}", 149 - id)).collect();
        let key = |id: usize| names[id].as_str();
        let scored = |equal: usize| (0..150).map(|id| (id, if id < equal { 1.0 } else { 0.5 })).collect();
        let mut leg: Vec<(usize, f32)> = scored(120);
        assert!(cut(&mut leg, false, key), "the 120 are all there");
        assert_eq!((leg.len(), leg[0].0, leg[99].0), (100, 119, 20));
        let mut leg = scored(150);
        assert!(!cut(&mut leg, false, key), "there may be more");
        let mut leg = scored(150);
        assert!(cut(&mut leg, true, key));
        let mut short = vec![(1, 1.0)];
        assert!(cut(&mut short, true, key));
        assert_eq!(short, [(1, 1.0)]);
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
        let legs = Legs { sparse: vec![(1, 12.0)], dense: vec![vec![(2, 0.9)]] };
        assert_eq!(fuse(&Plan::new("天气预报"), &legs, &[], WEIGHTS), [(1, 2.0)]);
        let multilingual = Weights { multilingual: true, ..WEIGHTS };
        assert_eq!(fuse(&Plan::new("天气预报"), &legs, &[], multilingual).len(), 2);
    }
}
