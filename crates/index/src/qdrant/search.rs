//! A search: every leg and the lookup of names in one batch, each with the visibility inside.

use std::collections::HashMap;

use mcc_catalog::model::Visibility;
use mcc_catalog::seam::{Hit, IndexError, Query};
use qdrant_client::qdrant::{
    self as api, DenseVector, QueryBatchPoints, QueryPoints, ScoredPoint, SearchParams, SparseVector,
    VectorInput, vector_input,
};

use super::client::{Client, Patience};
use super::filter::{KEY, NAMES, Scope};
use super::points::{fields, not_built, text, texts};
use super::schema::Names;
use crate::analyze::Word;
use crate::fusion::{LEG, Legs, Plan, Weights, cut, fuse, rank};
use crate::memory::vectors::rounded;

/// Points asked of a leg: some more than it keeps, because Qdrant has its own order among equal scores.
const FIRST_PAGE: u64 = LEG as u64 + 28;
/// How many times more are asked when the first page ends among equal scores.
const GROWTH: u64 = 8;
/// Most points asked of a leg: beyond, which of equal tools are in a leg is left to Qdrant.
const LAST_PAGE: u64 = 10_000;

/// What one query of the batch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Sparse,
    Dense(usize),
    Names,
}

/// One query of the batch.
struct Ask {
    part: Part,
    query: QueryPoints,
}

/// Searches for the parts of a plan, whose vectors are `vectors`.
pub(super) async fn search(
    client: &Client,
    names: &Names,
    plan: &Plan,
    vectors: &[Vec<f32>],
    weights: Weights,
    query: &Query,
) -> Result<Vec<Hit>, IndexError> {
    let scope = Scope::of(&query.visibility);
    if scope == Scope::Nothing {
        return Ok(Vec::new());
    }
    let mut found = Found::new(vectors.len());
    let mut asks = asks(names, plan, vectors, &scope);
    while !asks.is_empty() {
        let answers = batch(client, names, asks.iter().map(|ask| ask.query.clone()).collect()).await?;
        let mut again = Vec::new();
        for (ask, points) in asks.into_iter().zip(answers) {
            let limit = ask.query.limit.unwrap_or(FIRST_PAGE);
            let complete = (points.len() as u64) < limit || limit >= LAST_PAGE;
            if !found.take(ask.part, points, complete) {
                let limit = Some((limit * GROWTH).min(LAST_PAGE));
                again.push(Ask { query: QueryPoints { limit, ..ask.query }, ..ask });
            }
        }
        asks = again;
    }
    let mentioned = plan.mentions.resolve(|name| found.named.get(name).cloned().unwrap_or_default());
    let hits = fuse(plan, &found.legs, &mentioned, weights);
    Ok(rank(hits, query.min_score, query.limit, |id| &found.keys[id]))
}

/// The texts of the words that no visible tool has in any form.
pub(super) async fn unmatched(
    client: &Client,
    names: &Names,
    words: Vec<Word>,
    visibility: &Visibility,
) -> Result<Vec<String>, IndexError> {
    let scope = Scope::of(visibility);
    if words.is_empty() || scope == Scope::Nothing {
        return Ok(words.into_iter().map(|word| word.text).collect());
    }
    let one = |word: &Word| QueryPoints {
        collection_name: names.alias.clone(),
        query: Some(sparse(word.terms.iter().map(|&(term, _)| term).collect())),
        using: Some(names.sparse.clone()),
        filter: scope.filter(),
        limit: Some(1),
        ..QueryPoints::default()
    };
    let answers = batch(client, names, words.iter().map(one).collect()).await?;
    let without = words.into_iter().zip(answers).filter(|(_, points)| points.is_empty());
    Ok(without.map(|(word, _)| word.text).collect())
}

/// Asks several queries at once: an answer for each.
async fn batch(
    client: &Client,
    names: &Names,
    queries: Vec<QueryPoints>,
) -> Result<Vec<Vec<ScoredPoint>>, IndexError> {
    let asked = queries.len();
    let request = QueryBatchPoints {
        collection_name: names.alias.clone(),
        query_points: queries,
        ..QueryBatchPoints::default()
    };
    let answer = client
        .points(Patience::Search, "search", request, async |mut client, request| {
            client.query_batch(request).await
        })
        .await
        .map_err(|failure| not_built(failure, names))?;
    if answer.result.len() != asked {
        let reason = format!("Qdrant answered {} of {asked} queries", answer.result.len());
        return Err(IndexError::Unavailable(reason));
    }
    Ok(answer.result.into_iter().map(|points| points.result).collect())
}

/// The queries of a search. Parts without terms or without a direction find nothing and aren't asked.
fn asks(names: &Names, plan: &Plan, vectors: &[Vec<f32>], scope: &Scope) -> Vec<Ask> {
    let base = QueryPoints {
        collection_name: names.alias.clone(),
        filter: scope.filter(),
        limit: Some(FIRST_PAGE),
        with_payload: Some(fields(&[KEY])),
        ..QueryPoints::default()
    };
    let mut asks = Vec::new();
    if !plan.terms.is_empty() {
        let query = Some(sparse(plan.terms.clone()));
        let using = Some(names.sparse.clone());
        asks.push(Ask { part: Part::Sparse, query: QueryPoints { query, using, ..base.clone() } });
    }
    for (at, vector) in vectors.iter().enumerate().filter(|(_, vector)| vector.iter().any(|&x| x != 0.0)) {
        let query = Some(nearest(vector_input::Variant::Dense(DenseVector { data: rounded(vector) })));
        let using = Some(names.dense.clone());
        let params = Some(SearchParams { exact: Some(true), ..SearchParams::default() });
        asks.push(Ask { part: Part::Dense(at), query: QueryPoints { query, using, params, ..base.clone() } });
    }
    let forms = plan.mentions.forms();
    if !forms.is_empty() {
        let filter = Some(scope.named(&forms));
        let with_payload = Some(fields(&[KEY, NAMES]));
        asks.push(Ask { part: Part::Names, query: QueryPoints { filter, with_payload, ..base } });
    }
    asks
}

/// Each term counts once; Qdrant multiplies by its inverse document frequency.
fn sparse(terms: Vec<u32>) -> api::Query {
    let values = vec![1.0; terms.len()];
    nearest(vector_input::Variant::Sparse(SparseVector { indices: terms, values }))
}

fn nearest(variant: vector_input::Variant) -> api::Query {
    let input = VectorInput { variant: Some(variant) };
    api::Query { variant: Some(api::query::Variant::Nearest(input)) }
}

/// What the batches brought. A tool's id is the place of its key.
struct Found {
    keys: Vec<String>,
    ids: HashMap<String, usize>,
    legs: Legs<usize>,
    /// Tools by folded name.
    named: HashMap<String, Vec<usize>>,
}

impl Found {
    fn new(parts: usize) -> Self {
        let legs = Legs { sparse: Vec::new(), dense: vec![Vec::new(); parts] };
        Self { keys: Vec::new(), ids: HashMap::new(), legs, named: HashMap::new() }
    }

    /// Keeps the points of a query. False: more of them are needed.
    fn take(&mut self, part: Part, points: Vec<ScoredPoint>, complete: bool) -> bool {
        if part == Part::Names {
            return self.take_names(points, complete);
        }
        let mut leg: Vec<(usize, f32)> = points
            .into_iter()
            .filter_map(|mut point| Some((self.id(text(point.payload.remove(KEY))?), point.score)))
            .collect();
        let decided = cut(&mut leg, complete, |id| &self.keys[id]);
        match part {
            Part::Sparse => self.legs.sparse = leg,
            Part::Dense(at) => self.legs.dense[at] = leg,
            Part::Names => {}
        }
        decided
    }

    fn take_names(&mut self, points: Vec<ScoredPoint>, complete: bool) -> bool {
        self.named.clear();
        for mut point in points {
            let Some(key) = text(point.payload.remove(KEY)) else { continue };
            let id = self.id(key);
            for name in texts(point.payload.remove(NAMES)) {
                self.named.entry(name).or_default().push(id);
            }
        }
        complete
    }

    fn id(&mut self, key: String) -> usize {
        let next = self.keys.len();
        *self.ids.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, vectors: &[Vec<f32>]) -> Vec<Part> {
        let names = Names::new("mcc", "static");
        asks(&names, &Plan::new(text), vectors, &Scope::of(&Visibility::public()))
            .into_iter()
            .inspect(|ask| assert!(ask.query.filter.is_some(), "every query is filtered: {:?}", ask.part))
            .map(|ask| ask.part)
            .collect()
    }

    #[test]
    fn one_batch_with_every_leg() {
        let vector = vec![1.0, 0.0];
        let some = parts("find a cheap flight. book a nice hotel", &[vector.clone(), vector.clone(), vector]);
        assert_eq!(some, [Part::Sparse, Part::Dense(0), Part::Dense(1), Part::Dense(2), Part::Names]);
    }

    #[test]
    fn what_has_no_terms_and_no_direction_is_not_asked() {
        assert_eq!(parts("…", &[vec![0.0, 0.0]]), []);
    }
}
