//! The state of the index at one moment, and searching it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcc_catalog::model::Visibility;
use mcc_catalog::seam::Hit;

use super::segment::Segment;
use super::top::Top;
use super::vectors::dot;
use crate::analyze::Word;
use crate::bm25f::idf;
use crate::fusion::{LEG, Legs, Plan, Weights, fuse, rank};

/// A set of bits, one a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    pub(super) fn set(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) fn has(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 != 0
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// A segment with what was deleted from it.
#[derive(Clone)]
pub(super) struct View {
    pub segment: Arc<Segment>,
    pub deleted: Arc<Bits>,
    /// How many deleted documents have a term.
    deleted_frequencies: Arc<HashMap<u32, u32>>,
    /// Documents that are not deleted.
    pub live: usize,
}

impl View {
    pub(super) fn new(segment: Segment) -> Self {
        let (len, live) = (segment.entries.len(), segment.entries.len());
        Self {
            segment: Arc::new(segment),
            deleted: Arc::new(Bits::new(len)),
            deleted_frequencies: Arc::default(),
            live,
        }
    }

    /// The same without these documents.
    pub(super) fn without(&self, ids: &[u32]) -> Self {
        if ids.is_empty() {
            return self.clone();
        }
        let mut deleted = Bits::clone(&self.deleted);
        for &id in ids {
            deleted.set(id);
        }
        let deleted_frequencies = Arc::new(self.segment.frequencies_of(|id| deleted.has(id)));
        let live = self.segment.entries.len() - deleted.count();
        Self { segment: Arc::clone(&self.segment), deleted: Arc::new(deleted), deleted_frequencies, live }
    }

    /// The live document with a key.
    pub(super) fn find(&self, key: &str) -> Option<u32> {
        self.segment.find(key).filter(|&id| !self.deleted.has(id))
    }

    fn frequency(&self, term: u32) -> usize {
        let deleted = self.deleted_frequencies.get(&term).map_or(0, |&count| count as usize);
        self.segment.frequency(term) - deleted
    }
}

/// All segments. A document's id in a search is its place in them, one after the other.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub views: Vec<View>,
}

/// A snapshot as one caller sees it.
struct Seen<'a> {
    views: Vec<(&'a View, u32, Bits)>,
    /// Live documents, the invisible included: what a term is worth doesn't depend on who asks.
    all: usize,
}

impl Snapshot {
    /// Number of documents.
    pub(super) fn len(&self) -> usize {
        self.views.iter().map(|view| view.live).sum()
    }

    /// The fingerprints of all documents, by key.
    pub(super) fn fingerprints(&self) -> BTreeMap<String, String> {
        let mut fingerprints = BTreeMap::new();
        for view in &self.views {
            for (_, entry) in (0..).zip(&view.segment.entries).filter(|&(id, _)| !view.deleted.has(id)) {
                fingerprints.insert(entry.key.to_string(), entry.fingerprint());
            }
        }
        fingerprints
    }

    /// Where a document is: its view and its number there.
    pub(super) fn find(&self, key: &str) -> Option<(usize, u32)> {
        self.views.iter().enumerate().find_map(|(at, view)| Some((at, view.find(key)?)))
    }

    /// Searches for the parts of a plan, whose vectors are `vectors`.
    pub(super) fn search(
        &self,
        plan: &Plan,
        vectors: &[Vec<i16>],
        visibility: &Visibility,
        weights: Weights,
        min_score: Option<f32>,
        limit: usize,
    ) -> Vec<Hit> {
        let seen = self.seen(visibility);
        let legs = Legs { sparse: seen.sparse(&plan.terms), dense: seen.dense(vectors) };
        let named = plan.mentions.resolve(|name| seen.named(name));
        rank(fuse(plan, &legs, &named, weights), min_score, limit, |id| seen.key(id))
    }

    /// Of each word, whether a visible document has one of its terms.
    pub(super) fn matched(&self, words: &[Word], visibility: &Visibility) -> Vec<bool> {
        let seen = self.seen(visibility);
        let has = |word: &Word| {
            seen.views.iter().any(|(view, _, admitted)| {
                let mut postings = word.terms.iter().flat_map(|&(term, _)| view.segment.postings(term));
                postings.any(|(id, _)| admitted.has(id))
            })
        };
        words.iter().map(has).collect()
    }

    fn seen(&self, visibility: &Visibility) -> Seen<'_> {
        let mut views = Vec::with_capacity(self.views.len());
        let mut base = 0;
        for view in &self.views {
            views.push((view, base, admitted(view, visibility)));
            base += u32::try_from(view.segment.entries.len()).unwrap_or(u32::MAX);
        }
        Seen { views, all: self.len() }
    }
}

/// The live documents that the caller may see. Grants by key are looked at one by one; all else is decided once for
/// each set of groups.
fn admitted(view: &View, visibility: &Visibility) -> Bits {
    let segment = &view.segment;
    let without_keys = Visibility { keys: std::collections::BTreeSet::new(), ..visibility.clone() };
    let classes: Vec<bool> = segment.classes.iter().map(|facets| without_keys.admits(facets)).collect();
    let mut bits = Bits::new(segment.entries.len());
    for (id, &class) in (0..).zip(&segment.class_of) {
        if classes[class as usize] && !view.deleted.has(id) {
            bits.set(id);
        }
    }
    for key in &visibility.keys {
        if let Some(id) = view.find(key)
            && visibility.admits(&segment.entries[id as usize].facets())
        {
            bits.set(id);
        }
    }
    bits
}

impl Seen<'_> {
    fn key(&self, id: u32) -> &str {
        let at = self.views.partition_point(|&(_, base, _)| base <= id).saturating_sub(1);
        let (view, base, _) = &self.views[at];
        &view.segment.entries[(id - base) as usize].key
    }

    fn top(&self) -> Top<impl Fn(u32, u32) -> bool> {
        Top::new(LEG, |a, b| self.key(a) < self.key(b))
    }

    /// The best by BM25F.
    fn sparse(&self, terms: &[u32]) -> Vec<(u32, f32)> {
        let terms: Vec<(u32, f32)> = terms
            .iter()
            .filter_map(|&term| {
                let with: usize = self.views.iter().map(|(view, ..)| view.frequency(term)).sum();
                (with > 0).then(|| (term, idf(self.all, with)))
            })
            .collect();
        let mut top = self.top();
        for (view, base, admitted) in &self.views {
            let mut scores = vec![0.0_f32; view.segment.entries.len()];
            for &(term, idf) in &terms {
                for (id, weight) in view.segment.postings(term) {
                    scores[id as usize] += idf * weight;
                }
            }
            for (id, &score) in (0..).zip(&scores) {
                if score > 0.0 && top.admits(score) && admitted.has(id) {
                    top.offer(base + id, score);
                }
            }
        }
        top.into_vec()
    }

    /// The best by cosine, for several vectors at once: each document's vector is read once.
    fn dense(&self, vectors: &[Vec<i16>]) -> Vec<Vec<(u32, f32)>> {
        // A text without a known token has no direction: its leg is empty.
        let some = |vector: &Vec<i16>| vector.iter().any(|&x| x != 0);
        let mut tops: Vec<_> =
            vectors.iter().map(|vector| some(vector).then(|| (vector, self.top()))).collect();
        for (view, base, admitted) in &self.views {
            let rows = view.segment.vectors.chunks_exact(view.segment.dimensions.max(1));
            for (id, row) in (0..).zip(rows) {
                if !admitted.has(id) {
                    continue;
                }
                for (vector, top) in tops.iter_mut().flatten() {
                    top.offer(base + id, dot(vector, row));
                }
            }
        }
        tops.into_iter().map(|leg| leg.map_or_else(Vec::new, |(_, top)| top.into_vec())).collect()
    }

    /// The visible documents with a folded name.
    fn named(&self, name: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        for (view, base, admitted) in &self.views {
            ids.extend(view.segment.named(name).filter(|&id| admitted.has(id)).map(|id| base + id));
        }
        ids
    }
}
