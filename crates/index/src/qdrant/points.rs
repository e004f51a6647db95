//! Points: what is stored of a tool, written and listed.

use std::collections::BTreeMap;

use mcc_catalog::model::ToolDocument;
use mcc_catalog::seam::IndexError;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::{
    CountPoints, DeletePoints, DenseVector, GetPoints, NamedVectors, PayloadIncludeSelector, PointId,
    PointStruct, PointsIdsList, PointsSelector, ScrollPoints, SparseVector, UpsertPoints, Value, Vector,
    Vectors, WithPayloadSelector, points_selector::PointsSelectorOneOf, vector,
    with_payload_selector::SelectorOptions,
};
use sha2::{Digest as _, Sha256};

use super::client::{Client, Failure, Patience};
use super::filter::{GROUPS, KEY, NAMES, PREFIXES};
use super::schema::Names;
use crate::bm25f;
use crate::memory::vectors::rounded;
use crate::names;

/// Payload: the document's fingerprint.
const FINGERPRINT: &str = "fingerprint";
/// Points a page of a scroll.
const PAGE: u32 = 1000;

/// A point's id: a UUID of the key's SHA-256. Nobody can find a key whose id is another's.
pub(super) fn id(key: &str) -> String {
    let hex = crate::hex(&Sha256::digest(key)[..16]);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A tool as a point.
pub(super) fn point(document: &ToolDocument, dense: &[f32], names: &Names) -> PointStruct {
    let sparse = bm25f::document(document);
    let facets = &document.facets;
    let strings = |values: &[String]| {
        Value::from(values.iter().map(|value| value.as_str().into()).collect::<Vec<Value>>())
    };
    let payload = [
        (KEY, facets.key.as_str().into()),
        (GROUPS, strings(&facets.groups)),
        (PREFIXES, strings(&facets.prefixes)),
        (NAMES, strings(&names::of_tool(document))),
        (FINGERPRINT, document.fingerprint().into()),
    ];
    let dense = vector::Vector::Dense(DenseVector { data: rounded(dense) });
    let sparse = vector::Vector::Sparse(SparseVector { indices: sparse.terms, values: sparse.weights });
    let vectors = [(&names.dense, dense), (&names.sparse, sparse)]
        .map(|(name, vector)| (name.clone(), Vector { vector: Some(vector), ..Vector::default() }));
    PointStruct {
        id: Some(id(&facets.key).into()),
        payload: payload.map(|(name, value)| (name.to_owned(), value)).into(),
        vectors: Some(Vectors {
            vectors_options: Some(VectorsOptions::Vectors(NamedVectors { vectors: vectors.into() })),
        }),
    }
}

/// The named fields of the payload.
pub(super) fn fields(names: &[&str]) -> WithPayloadSelector {
    let fields = names.iter().map(|&name| name.to_owned()).collect();
    WithPayloadSelector {
        selector_options: Some(SelectorOptions::Include(PayloadIncludeSelector { fields })),
    }
}

/// A string of the payload.
pub(super) fn text(value: Option<Value>) -> Option<String> {
    match value?.kind? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

/// Strings of the payload.
pub(super) fn texts(value: Option<Value>) -> Vec<String> {
    match value.and_then(|value| value.kind) {
        Some(Kind::ListValue(list)) => {
            list.values.into_iter().filter_map(|value| text(Some(value))).collect()
        }
        _ => Vec::new(),
    }
}

/// What a collection holds.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Fingerprints by key.
    pub fingerprints: BTreeMap<String, String>,
    /// Points that this index didn't write.
    pub strays: Vec<PointId>,
}

impl Stored {
    fn take(&mut self, point: qdrant_client::qdrant::RetrievedPoint) {
        let mut payload = point.payload;
        match (text(payload.remove(KEY)), point.id) {
            (Some(key), Some(found)) if found == PointId::from(id(&key)) => {
                self.fingerprints.insert(key, text(payload.remove(FINGERPRINT)).unwrap_or_default());
            }
            (_, Some(stray)) => self.strays.push(stray),
            (_, None) => {}
        }
    }
}

impl Client {
    /// Key and fingerprint of every point.
    pub(super) async fn stored(&self, collection: &str) -> Result<Stored, Failure> {
        let mut stored = Stored::default();
        let mut request = ScrollPoints {
            collection_name: collection.to_owned(),
            limit: Some(PAGE),
            with_payload: Some(fields(&[KEY, FINGERPRINT])),
            ..ScrollPoints::default()
        };
        loop {
            let page = self
                .points(Patience::Write, "list its points", request.clone(), async |mut client, request| {
                    client.scroll(request).await
                })
                .await?;
            page.result.into_iter().for_each(|point| stored.take(point));
            match page.next_page_offset {
                Some(next) => request.offset = Some(next),
                None => return Ok(stored),
            }
        }
    }

    /// Key and fingerprint of the points of these keys, as far as they are there.
    pub(super) async fn stored_of(&self, collection: &str, keys: &[&str]) -> Result<Stored, Failure> {
        let mut stored = Stored::default();
        for keys in keys.chunks(PAGE as usize) {
            let request = GetPoints {
                collection_name: collection.to_owned(),
                ids: keys.iter().map(|key| id(key).into()).collect(),
                with_payload: Some(fields(&[KEY, FINGERPRINT])),
                ..GetPoints::default()
            };
            let answer = self
                .points(Patience::Write, "look points up", request, async |mut client, request| {
                    client.get(request).await
                })
                .await?;
            answer.result.into_iter().for_each(|point| stored.take(point));
        }
        Ok(stored)
    }

    /// Writes points; a batch is acknowledged once it is stored.
    pub(super) async fn upsert(&self, collection: &str, points: Vec<PointStruct>) -> Result<(), Failure> {
        let request = UpsertPoints {
            collection_name: collection.to_owned(),
            wait: Some(true),
            points,
            ..UpsertPoints::default()
        };
        self.points(Patience::Write, "store tools", request, async |mut client, request| {
            client.upsert(request).await
        })
        .await?;
        Ok(())
    }

    /// Deletes points; those that aren't there are no error.
    ///
    /// Emptied first: Qdrant counts the terms of a deleted point in the inverse document frequencies, unless the point
    /// had none any more.
    pub(super) async fn delete_points(&self, collection: &str, ids: Vec<PointId>) -> Result<(), Failure> {
        for ids in ids.chunks(PAGE as usize) {
            let vectors = Vectors { vectors_options: Some(VectorsOptions::Vectors(NamedVectors::default())) };
            let empty = |id: &PointId| PointStruct {
                id: Some(id.clone()),
                vectors: Some(vectors.clone()),
                ..PointStruct::default()
            };
            self.upsert(collection, ids.iter().map(empty).collect()).await?;
            let list = PointsSelectorOneOf::Points(PointsIdsList { ids: ids.to_vec() });
            let request = DeletePoints {
                collection_name: collection.to_owned(),
                wait: Some(true),
                points: Some(PointsSelector { points_selector_one_of: Some(list) }),
                ..DeletePoints::default()
            };
            self.points(Patience::Write, "delete tools", request, async |mut client, request| {
                client.delete(request).await
            })
            .await?;
        }
        Ok(())
    }

    /// The exact number of points.
    pub(super) async fn count(&self, collection: &str) -> Result<usize, Failure> {
        let request = CountPoints {
            collection_name: collection.to_owned(),
            exact: Some(true),
            ..CountPoints::default()
        };
        let answer = self
            .points(Patience::Search, "count its points", request, async |mut client, request| {
                client.count(request).await
            })
            .await?;
        Ok(answer.result.map_or(0, |result| usize::try_from(result.count).unwrap_or(usize::MAX)))
    }
}

/// What has to be written and deleted, so that what is stored becomes exactly `documents`.
pub(super) fn difference(stored: &Stored, documents: Vec<ToolDocument>) -> (Vec<ToolDocument>, Vec<PointId>) {
    let documents = crate::memory::distinct(documents);
    let mut gone = stored.fingerprints.clone();
    for document in &documents {
        gone.remove(&document.facets.key);
    }
    let mut ids = stored.strays.clone();
    ids.extend(gone.keys().map(|key| PointId::from(id(key))));
    (changed(stored, documents), ids)
}

/// The documents that aren't stored as they are.
pub(super) fn changed(stored: &Stored, mut documents: Vec<ToolDocument>) -> Vec<ToolDocument> {
    documents.retain(|document| {
        stored.fingerprints.get(&document.facets.key).is_none_or(|known| *known != document.fingerprint())
    });
    documents
}

/// A failure of reading or writing through the alias: a missing alias or vector isn't the caller's fault.
pub(super) fn not_built(failure: Failure, names: &Names) -> IndexError {
    if failure.code == tonic::Code::NotFound {
        return IndexError::Unavailable(format!(
            "there is no index behind the alias {}: mcc-operator builds it ({})",
            names.alias, failure.reason
        ));
    }
    // What Qdrant says of a vector's name that the collection doesn't have.
    if failure.code == tonic::Code::InvalidArgument && failure.reason.contains("Not existing vector name") {
        return IndexError::Unavailable(format!(
            "the index behind the alias {} is of another version of mcc or another embedder than {}, {}: run the same \
             version with the same embedder everywhere ({})",
            names.alias, names.sparse, names.dense, failure.reason
        ));
    }
    failure.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testsuite::tool;

    fn stored(documents: &[ToolDocument]) -> Stored {
        let fingerprints =
            documents.iter().map(|document| (document.facets.key.clone(), document.fingerprint())).collect();
        Stored { fingerprints, strays: Vec::new() }
    }

    #[test]
    fn ids_are_uuids_of_the_key() {
        assert_eq!(id(""), "e3b0c442-98fc-1c14-9afb-f4c8996fb924");
        assert_ne!(id("a.b"), id("a.c"));
    }

    #[test]
    fn only_what_changed_is_written() {
        let (one, two) = (tool(&["geo"], "one", "First"), tool(&["geo"], "two", "Second"));
        let before = stored(&[one.clone(), two.clone()]);
        let (upserts, removals) = difference(&before, vec![one.clone(), two.clone()]);
        assert!(upserts.is_empty() && removals.is_empty());
        let mut moved = one.clone();
        moved.facets.prefixes = vec!["other".to_owned()];
        let (upserts, removals) = difference(&before, vec![moved.clone()]);
        assert_eq!(upserts, [moved]);
        assert_eq!(removals, [PointId::from(id("geo.two"))]);
    }

    #[test]
    fn points_of_others_are_removed() {
        let before = Stored { strays: vec![PointId::from(7)], ..stored(&[]) };
        assert_eq!(difference(&before, Vec::new()).1, [PointId::from(7)]);
    }

    #[test]
    fn reasons_say_what_to_do() {
        let names = Names::new("mcc", "static");
        let failure = |code, reason: &str| Failure { code, reason: reason.to_owned() };
        let missing = not_built(failure(tonic::Code::NotFound, "gone"), &names);
        assert!(
            matches!(&missing, IndexError::Unavailable(reason) if reason.contains("mcc-operator builds it"))
        );
        let other = failure(
            tonic::Code::InvalidArgument,
            "Wrong input: Not existing vector name error: dense_static",
        );
        assert!(
            matches!(not_built(other, &names), IndexError::Unavailable(reason) if reason.contains("same version"))
        );
        let wrong = failure(tonic::Code::InvalidArgument, "Wrong input: Vector dimension error");
        assert!(matches!(not_built(wrong, &names), IndexError::Refused(_)));
    }
}
