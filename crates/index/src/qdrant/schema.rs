//! Names, the form of the collection, and the alias that searches go through.
//!
//! ```text
//! alias mcc_tools ─▶ collection mcc_tools_v1_EMBEDDER     points: dense vector of the embedder, sparse vector of BM25F
//! ```
//!
//! The alias points at a collection only once that is complete. The vectors are named after embedder and schema: a
//! program of another version that searches through the alias is refused by Qdrant, instead of comparing vectors of
//! different models.

use mcc_catalog::seam::IndexError;
use qdrant_client::qdrant::{
    AliasOperations, ChangeAliases, CollectionInfo, CreateAlias, CreateCollection,
    CreateFieldIndexCollection, DeleteAlias, DeleteCollection, Distance, FieldType, GetCollectionInfoRequest,
    HnswConfigDiff, ListAliasesRequest, ListCollectionsRequest, Modifier, OptimizersConfigDiff,
    SparseVectorConfig, SparseVectorParams, VectorParams, VectorParamsMap, VectorsConfig,
    alias_operations::Action, vectors_config,
};
use sha2::{Digest as _, Sha256};
use tonic::Code;

use super::QdrantSettings;
use super::client::{Client, Failure};
use super::filter::{GROUPS, KEY, NAMES, PREFIXES};

/// Version of what is stored: analyzer, BM25F, embedded text, payload. Raise it whenever one of them changes, so that
/// the operator builds a new collection; a test holds it.
pub const SCHEMA: u32 = 1;

/// Longest part of a name that comes from the embedder's id.
const LONGEST: usize = 40;

/// The names an index uses in Qdrant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// What is searched.
    pub alias: String,
    /// The collection of this schema and embedder.
    pub collection: String,
    /// The vector of BM25F.
    pub sparse: String,
    /// The vector of the embedder.
    pub dense: String,
    /// What all collections of this prefix begin with.
    family: String,
}

impl Names {
    pub(super) fn new(prefix: &str, embedder: &str) -> Self {
        let embedder = slug(embedder);
        let alias = format!("{prefix}_tools");
        let family = format!("{alias}_v");
        Self {
            collection: format!("{family}{SCHEMA}_{embedder}"),
            sparse: format!("bm25f_v{SCHEMA}"),
            dense: format!("dense_{embedder}"),
            alias,
            family,
        }
    }
}

/// An embedder's id as part of a name: shortened and cleaned ids get a digest, so that different ids stay different.
fn slug(id: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' };
    let slug: String = id.chars().map(clean).take(LONGEST).collect();
    if slug == id {
        return slug;
    }
    format!("{slug}-{}", crate::hex(&Sha256::digest(id)[..4]))
}

impl Client {
    /// The collection that is searched, if any.
    pub(super) async fn alias_target(&self, names: &Names) -> Result<Option<String>, Failure> {
        let answer = self
            .collections("list its aliases", ListAliasesRequest {}, async |mut client, request| {
                client.list_aliases(request).await
            })
            .await?;
        let alias = answer.aliases.into_iter().find(|alias| alias.alias_name == names.alias);
        Ok(alias.map(|alias| alias.collection_name))
    }

    /// Makes searches see the collection. Pointing an alias elsewhere is one step: no search falls between.
    pub(super) async fn switch(&self, names: &Names) -> Result<(), Failure> {
        let create =
            CreateAlias { collection_name: names.collection.clone(), alias_name: names.alias.clone() };
        self.change_alias(Action::CreateAlias(create)).await
    }

    async fn change_alias(&self, action: Action) -> Result<(), Failure> {
        let request =
            ChangeAliases { actions: vec![AliasOperations { action: Some(action) }], timeout: None };
        self.collections("change an alias", request, async |mut client, request| {
            client.update_aliases(request).await
        })
        .await?;
        Ok(())
    }

    async fn info(&self, collection: &str) -> Result<Option<CollectionInfo>, Failure> {
        let request = GetCollectionInfoRequest { collection_name: collection.to_owned() };
        let answer = self
            .collections("describe a collection", request, async |mut client, request| {
                client.get(request).await
            })
            .await;
        match answer {
            Ok(answer) => Ok(answer.result),
            Err(failure) if failure.code == Code::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Makes the collection exist in the right form; one of another form is of no use and is built anew.
    pub(super) async fn ensure(
        &self,
        names: &Names,
        dimensions: usize,
        settings: &QdrantSettings,
    ) -> Result<(), IndexError> {
        let mut info = self.info(&names.collection).await?;
        if info.as_ref().is_some_and(|info| !fits(info, names, dimensions)) {
            tracing::warn!(
                collection = names.collection,
                "the collection has other vectors, building it anew"
            );
            self.delete(&names.collection).await?;
            info = None;
        }
        if info.is_none() {
            // Left behind by a collection that is gone: searches must not see the new one before it is complete.
            if self.alias_target(names).await?.as_ref() == Some(&names.collection) {
                self.change_alias(Action::DeleteAlias(DeleteAlias { alias_name: names.alias.clone() }))
                    .await?;
            }
            Box::pin(self.create(names, dimensions, settings)).await?;
        }
        let known = info.map(|info| info.payload_schema).unwrap_or_default();
        for field in [KEY, GROUPS, PREFIXES, NAMES] {
            if !known.contains_key(field) {
                self.create_payload_index(names, field).await?;
            }
        }
        Ok(())
    }

    async fn create(
        &self,
        names: &Names,
        dimensions: usize,
        settings: &QdrantSettings,
    ) -> Result<(), Failure> {
        let request = collection(names, dimensions, settings);
        let created = self.collections("create a collection", request, async |mut client, request| {
            client.create(request).await
        });
        match Box::pin(created).await {
            // A try that was thought lost.
            Err(failure) if failure.code == Code::AlreadyExists => Ok(()),
            other => other.map(|_| ()),
        }
    }

    async fn create_payload_index(&self, names: &Names, field: &str) -> Result<(), Failure> {
        let request = CreateFieldIndexCollection {
            collection_name: names.collection.clone(),
            wait: Some(true),
            field_name: field.to_owned(),
            field_type: Some(FieldType::Keyword.into()),
            ..CreateFieldIndexCollection::default()
        };
        let patience = super::client::Patience::Write;
        self.points(patience, "index a payload field", request, async |mut client, request| {
            client.create_field_index(request).await
        })
        .await?;
        Ok(())
    }

    async fn delete(&self, collection: &str) -> Result<(), Failure> {
        let request = DeleteCollection { collection_name: collection.to_owned(), timeout: None };
        self.collections("delete a collection", request, async |mut client, request| {
            client.delete(request).await
        })
        .await?;
        Ok(())
    }

    /// Deletes the collections of other schemas and embedders that the alias doesn't point at. Returns their names.
    pub(super) async fn delete_superseded(&self, names: &Names) -> Result<Vec<String>, Failure> {
        let current = self.alias_target(names).await?;
        let answer = self
            .collections("list its collections", ListCollectionsRequest {}, async |mut client, request| {
                client.list(request).await
            })
            .await?;
        let mut superseded: Vec<String> =
            answer.collections.into_iter().map(|collection| collection.name).collect();
        superseded.retain(|name| {
            name.starts_with(&names.family) && *name != names.collection && Some(name) != current.as_ref()
        });
        for name in &superseded {
            self.delete(name).await?;
        }
        Ok(superseded)
    }
}

/// Whether a collection has the vectors that are to be stored.
fn fits(info: &CollectionInfo, names: &Names, dimensions: usize) -> bool {
    let params = info.config.as_ref().and_then(|config| config.params.as_ref());
    let dense = params
        .and_then(|params| params.vectors_config.as_ref())
        .and_then(|vectors| match vectors.config.as_ref()? {
            vectors_config::Config::ParamsMap(map) => map.map.get(&names.dense),
            vectors_config::Config::Params(_) => None,
        })
        .is_some_and(|vector| vector.size == dimensions as u64 && vector.distance() == Distance::Dot);
    let sparse = params
        .and_then(|params| params.sparse_vectors_config.as_ref())
        .and_then(|vectors| vectors.map.get(&names.sparse))
        .is_some_and(|vector| vector.modifier == Some(Modifier::Idf.into()));
    dense && sparse
}

/// One shard: IDF is counted in each shard by itself. Neither HNSW nor immutable segments: searches are exact, and
/// only segments that are written to forget the terms of deleted points at once. Not quantised: that changes the order.
fn collection(names: &Names, dimensions: usize, settings: &QdrantSettings) -> CreateCollection {
    let dense =
        VectorParams { size: dimensions as u64, distance: Distance::Dot.into(), ..VectorParams::default() };
    let sparse = SparseVectorParams { modifier: Some(Modifier::Idf.into()), ..SparseVectorParams::default() };
    CreateCollection {
        collection_name: names.collection.clone(),
        shard_number: Some(1),
        replication_factor: Some(settings.replication_factor),
        write_consistency_factor: Some(settings.write_consistency_factor),
        hnsw_config: Some(HnswConfigDiff { m: Some(0), ..HnswConfigDiff::default() }),
        optimizers_config: Some(OptimizersConfigDiff {
            indexing_threshold: Some(0),
            ..OptimizersConfigDiff::default()
        }),
        vectors_config: Some(VectorsConfig {
            config: Some(vectors_config::Config::ParamsMap(VectorParamsMap {
                map: [(names.dense.clone(), dense)].into(),
            })),
        }),
        sparse_vectors_config: Some(SparseVectorConfig { map: [(names.sparse.clone(), sparse)].into() }),
        ..CreateCollection::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_embedders_differ() {
        let plain = Names::new("mcc", "static-en-256");
        assert_eq!(plain.alias, "mcc_tools");
        assert_eq!(plain.collection, format!("mcc_tools_v{SCHEMA}_static-en-256"));
        let odd = Names::new("mcc", "BAAI/bge m3");
        assert!(odd.collection.starts_with(&format!("mcc_tools_v{SCHEMA}_baai-bge-m3-")), "{odd:?}");
        assert_ne!(odd.collection, Names::new("mcc", "BAAI/bge-m3").collection);
        assert_ne!(odd.dense, Names::new("mcc", "BAAI/bge-m3").dense);
        assert!(Names::new("mcc", &"x".repeat(300)).collection.len() < 80);
    }
}
