//! An immutable part of the index.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use mcc_catalog::model::{Facets, ToolDocument};

use super::vectors::quantize;
use crate::bm25f::SparseVector;
use crate::names;

/// A document ready to be put into a segment.
pub(super) struct Prepared {
    pub document: ToolDocument,
    pub sparse: SparseVector,
    pub dense: Vec<f32>,
}

/// What is kept of a document besides its vectors.
#[derive(Debug)]
pub(super) struct Entry {
    pub key: Box<str>,
    pub digest: Box<str>,
    /// Hashes of its folded names.
    names: Box<[u64]>,
    /// The other facets; equal ones are shared.
    pub class: Arc<Facets>,
}

/// Documents in the order of their keys, with their postings and vectors.
pub(super) struct Segment {
    pub entries: Vec<Arc<Entry>>,
    /// Distinct facets (with an empty key) and, for each document, the index of its own.
    pub classes: Vec<Arc<Facets>>,
    pub class_of: Vec<u32>,
    /// (hash of a folded name, document), rising.
    names: Vec<(u64, u32)>,
    postings: Postings,
    /// Quantised vectors, one after the other.
    pub vectors: Vec<i16>,
    pub dimensions: usize,
}

/// The documents of each term, in compressed rows.
#[derive(Default)]
struct Postings {
    /// Rising.
    terms: Vec<u32>,
    /// Where each term's documents begin; one more than terms.
    starts: Vec<u32>,
    documents: Vec<u32>,
    weights: Vec<f32>,
}

impl Segment {
    /// A segment of documents with distinct keys.
    pub(super) fn build(mut prepared: Vec<Prepared>, dimensions: usize) -> Self {
        prepared.sort_unstable_by(|a, b| a.document.facets.key.cmp(&b.document.facets.key));
        let mut postings: Vec<(u32, u32, f32)> =
            Vec::with_capacity(prepared.iter().map(|one| one.sparse.terms.len()).sum());
        let mut vectors = Vec::with_capacity(prepared.len() * dimensions);
        let mut entries = Vec::with_capacity(prepared.len());
        let mut shared = HashMap::new();
        for (id, one) in (0..).zip(prepared) {
            postings.extend(
                one.sparse.terms.iter().zip(&one.sparse.weights).map(|(&term, &weight)| (term, id, weight)),
            );
            vectors.extend(quantize(&one.dense));
            entries.push(Arc::new(Entry::new(one.document, &mut shared)));
        }
        postings.sort_unstable_by_key(|&(term, id, _)| (term, id));
        Self::assemble(entries, Postings::collect(&postings), vectors, dimensions)
    }

    /// One segment of the documents that are left of several: of each, the documents for which `keeps` says so.
    pub(super) fn merge(parts: &[(&Self, &dyn Fn(u32) -> bool)], dimensions: usize) -> Self {
        let mut order: Vec<(&Arc<Entry>, usize, u32)> = Vec::new();
        for (part, (segment, keeps)) in parts.iter().enumerate() {
            order.extend(
                (0..).zip(&segment.entries).filter(|&(id, _)| keeps(id)).map(|(id, entry)| (entry, part, id)),
            );
        }
        order.sort_unstable_by(|a, b| a.0.key.cmp(&b.0.key));
        let mut new_ids: Vec<Vec<Option<u32>>> =
            parts.iter().map(|(segment, _)| vec![None; segment.entries.len()]).collect();
        let mut vectors = Vec::with_capacity(order.len() * dimensions);
        for (new, &(_, part, id)) in (0..).zip(&order) {
            new_ids[part][id as usize] = Some(new);
            vectors.extend_from_slice(parts[part].0.vector(id));
        }
        let mut terms: Vec<u32> =
            parts.iter().flat_map(|(segment, _)| &segment.postings.terms).copied().collect();
        terms.sort_unstable();
        terms.dedup();
        let mut postings = Postings { starts: vec![0], ..Postings::default() };
        for term in terms {
            for (part, (segment, _)) in parts.iter().enumerate() {
                for (id, weight) in segment.postings(term) {
                    if let Some(id) = new_ids[part][id as usize] {
                        postings.documents.push(id);
                        postings.weights.push(weight);
                    }
                }
            }
            postings.end_term(term);
        }
        let entries = order.into_iter().map(|(entry, ..)| Arc::clone(entry)).collect();
        Self::assemble(entries, postings, vectors, dimensions)
    }

    fn assemble(entries: Vec<Arc<Entry>>, postings: Postings, vectors: Vec<i16>, dimensions: usize) -> Self {
        let mut names = Vec::new();
        let mut classes = Vec::new();
        let mut class_of = Vec::with_capacity(entries.len());
        let mut known: HashMap<(Vec<String>, Vec<String>), u32> = HashMap::new();
        for (id, entry) in (0..).zip(&entries) {
            names.extend(entry.names.iter().map(|&name| (name, id)));
            let facets = (entry.class.groups.clone(), entry.class.prefixes.clone());
            let class = *known.entry(facets).or_insert_with(|| {
                classes.push(Arc::clone(&entry.class));
                u32::try_from(classes.len() - 1).unwrap_or(u32::MAX)
            });
            class_of.push(class);
        }
        names.sort_unstable();
        Self { entries, classes, class_of, names, postings, vectors, dimensions }
    }

    /// The vector of a document.
    pub(super) fn vector(&self, id: u32) -> &[i16] {
        let start = id as usize * self.dimensions;
        &self.vectors[start..start + self.dimensions]
    }

    /// The document with a key.
    pub(super) fn find(&self, key: &str) -> Option<u32> {
        let at = self.entries.binary_search_by(|entry| (*entry.key).cmp(key)).ok()?;
        u32::try_from(at).ok()
    }

    /// Documents and weights of a term.
    pub(super) fn postings(&self, term: u32) -> impl Iterator<Item = (u32, f32)> {
        let range = self.postings.range(term);
        self.postings.documents[range.clone()]
            .iter()
            .copied()
            .zip(self.postings.weights[range].iter().copied())
    }

    /// Number of documents with a term.
    pub(super) fn frequency(&self, term: u32) -> usize {
        self.postings.range(term).len()
    }

    /// For each term, how many of the documents that `is` names have it; terms of none are left out.
    pub(super) fn frequencies_of(&self, is: impl Fn(u32) -> bool) -> HashMap<u32, u32> {
        let mut frequencies = HashMap::new();
        for (at, &term) in self.postings.terms.iter().enumerate() {
            let range = self.postings.starts[at] as usize..self.postings.starts[at + 1] as usize;
            let count = self.postings.documents[range].iter().filter(|&&id| is(id)).count();
            if count > 0 {
                frequencies.insert(term, u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
        frequencies
    }

    /// Documents one of whose folded names is `name`.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = u32> {
        let hash = hash_name(name);
        let start = self.names.partition_point(|&(other, _)| other < hash);
        self.names[start..].iter().take_while(move |&&(other, _)| other == hash).map(|&(_, id)| id)
    }
}

impl Postings {
    /// From entries in rising order of terms.
    fn collect(entries: &[(u32, u32, f32)]) -> Self {
        let mut postings = Self { starts: vec![0], ..Self::default() };
        for of_term in entries.chunk_by(|a, b| a.0 == b.0) {
            postings.documents.extend(of_term.iter().map(|&(_, id, _)| id));
            postings.weights.extend(of_term.iter().map(|&(_, _, weight)| weight));
            postings.end_term(of_term[0].0);
        }
        postings
    }

    /// Ends the row of a term; a row without documents leaves no trace.
    fn end_term(&mut self, term: u32) {
        let end = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        if self.starts.last() != Some(&end) {
            self.terms.push(term);
            self.starts.push(end);
        }
    }

    fn range(&self, term: u32) -> std::ops::Range<usize> {
        match self.terms.binary_search(&term) {
            Ok(at) => self.starts[at] as usize..self.starts[at + 1] as usize,
            Err(_) => 0..0,
        }
    }
}

impl Entry {
    fn new(document: ToolDocument, shared: &mut HashMap<(Vec<String>, Vec<String>), Arc<Facets>>) -> Self {
        let names = names::of_tool(&document).iter().map(|name| hash_name(name)).collect();
        let Facets { key, groups, prefixes } = document.facets;
        let class = shared
            .entry((groups, prefixes))
            .or_insert_with_key(|(groups, prefixes)| {
                Arc::new(Facets { key: String::new(), groups: groups.clone(), prefixes: prefixes.clone() })
            })
            .clone();
        Self { key: key.into(), digest: document.digest.into(), names, class }
    }

    /// Whether a document is the one that was indexed.
    pub(super) fn is(&self, document: &ToolDocument) -> bool {
        *self.digest == *document.digest
            && self.class.groups == document.facets.groups
            && self.class.prefixes == document.facets.prefixes
    }

    /// [`ToolDocument::fingerprint`] of the document that was indexed.
    pub(super) fn fingerprint(&self) -> String {
        let digest = self.digest.to_string();
        ToolDocument { facets: self.facets(), digest, ..ToolDocument::default() }.fingerprint()
    }

    /// All facets.
    pub(super) fn facets(&self) -> Facets {
        Facets { key: self.key.to_string(), ..Facets::clone(&self.class) }
    }
}

/// 64 bits: of a million names, two collide once in forty million catalogs, and then one search has a tool too high.
fn hash_name(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
