//! Collections and aliases.

use std::collections::HashMap;
use std::sync::Arc;

use qdrant_client::qdrant::{self as q, alias_operations::Action, vectors_config};
use qdrant_edge::{
    Distance, EdgeConfig, EdgeShard, EdgeSparseVectorParamsBuilder, EdgeVectorParams, Modifier, WalOptions,
};
use tonic::Status;

use crate::convert::engine_error;
use crate::store::{State, Store};

type Answer<T> = Result<T, Status>;

/// A segment of the write-ahead log: small, because a test's data are.
const WAL_SEGMENT: usize = 4 << 20;

fn done(result: bool) -> q::CollectionOperationResponse {
    q::CollectionOperationResponse { result, time: 0.0 }
}

pub fn create(store: &Store, request: q::CreateCollection) -> Answer<q::CollectionOperationResponse> {
    let name = request.collection_name;
    if name.is_empty() || name.contains(['/', '\\', '<', '>', ':', '"', '|', '?', '*', '\0']) {
        return Err(Status::invalid_argument(format!("Validation error: collection name {name:?}")));
    }
    if request.quantization_config.is_some() || request.shard_number.is_some_and(|shards| shards != 1) {
        return Err(Status::unimplemented("quantization and several shards"));
    }
    let mut state = store.write();
    if state.collections.contains_key(&name) {
        return Err(Status::already_exists(format!("Wrong input: Collection `{name}` already exists!")));
    }
    let mut config = EdgeConfig::builder()
        .wal_options(WalOptions { segment_capacity: WAL_SEGMENT, ..WalOptions::default() });
    let dense = match request.vectors_config.and_then(|config| config.config) {
        Some(vectors_config::Config::Params(params)) => {
            HashMap::from([(qdrant_edge::DEFAULT_VECTOR_NAME.to_owned(), params)])
        }
        Some(vectors_config::Config::ParamsMap(map)) => map.map,
        None => HashMap::new(),
    };
    for (name, params) in dense {
        config = config.vector(name, dense_params(&params)?);
    }
    for (name, params) in request.sparse_vectors_config.map(|config| config.map).unwrap_or_default() {
        let mut sparse = EdgeSparseVectorParamsBuilder::new();
        if params.modifier == Some(q::Modifier::Idf.into()) {
            sparse = sparse.modifier(Modifier::Idf);
        }
        config = config.sparse_vector(name, sparse.build());
    }
    let shard = EdgeShard::new(&store.folder(&name), config.build()).map_err(engine_error)?;
    state.collections.insert(name, Arc::new(shard));
    Ok(done(true))
}

fn dense_params(params: &q::VectorParams) -> Answer<EdgeVectorParams> {
    if params.datatype.is_some()
        || params.multivector_config.is_some()
        || params.quantization_config.is_some()
    {
        return Err(Status::unimplemented("datatypes, multivectors, quantization"));
    }
    let distance = match params.distance() {
        q::Distance::Cosine => Distance::Cosine,
        q::Distance::Dot => Distance::Dot,
        q::Distance::Euclid => Distance::Euclid,
        q::Distance::Manhattan => Distance::Manhattan,
        q::Distance::UnknownDistance => return Err(Status::invalid_argument("Wrong input: distance")),
    };
    Ok(EdgeVectorParams::builder(size(params.size)?, distance).build())
}

fn size(size: u64) -> Answer<usize> {
    usize::try_from(size).map_err(|error| Status::invalid_argument(error.to_string()))
}

pub fn get(store: &Store, request: q::GetCollectionInfoRequest) -> Answer<q::GetCollectionInfoResponse> {
    let shard = store.collection(&request.collection_name)?;
    let info = shard.info().map_err(engine_error)?;
    let config = shard.config();
    let dense =
        config.vectors.iter().map(|(name, params)| (name.to_string(), vector_params(params))).collect();
    let sparse = config.sparse_vectors.iter().map(|(name, params)| {
        let modifier = match params.modifier {
            Some(Modifier::Idf) => Some(q::Modifier::Idf.into()),
            _ => None,
        };
        (name.to_string(), q::SparseVectorParams { index: None, modifier })
    });
    let params = q::CollectionParams {
        shard_number: 1,
        vectors_config: Some(q::VectorsConfig {
            config: Some(vectors_config::Config::ParamsMap(q::VectorParamsMap { map: dense })),
        }),
        sparse_vectors_config: Some(q::SparseVectorConfig { map: sparse.collect() }),
        ..q::CollectionParams::default()
    };
    let payload_schema = info
        .payload_schema
        .iter()
        .map(|(name, info)| {
            let points = Some(info.points as u64);
            let data_type = crate::convert::payload_type(&info.data_type).into();
            (name.to_string(), q::PayloadSchemaInfo { data_type, params: None, points })
        })
        .collect();
    let result = q::CollectionInfo {
        status: q::CollectionStatus::Green.into(),
        optimizer_status: Some(q::OptimizerStatus { ok: true, error: String::new() }),
        segments_count: info.segments_count as u64,
        points_count: Some(info.points_count as u64),
        indexed_vectors_count: Some(info.indexed_vectors_count as u64),
        config: Some(q::CollectionConfig { params: Some(params), ..q::CollectionConfig::default() }),
        payload_schema,
        ..q::CollectionInfo::default()
    };
    Ok(q::GetCollectionInfoResponse { result: Some(result), time: 0.0 })
}

fn vector_params(params: &EdgeVectorParams) -> q::VectorParams {
    let distance = match params.distance {
        Distance::Cosine => q::Distance::Cosine,
        Distance::Dot => q::Distance::Dot,
        Distance::Euclid => q::Distance::Euclid,
        Distance::Manhattan => q::Distance::Manhattan,
    };
    q::VectorParams { size: params.size as u64, distance: distance.into(), ..q::VectorParams::default() }
}

pub fn list(store: &Store, _: q::ListCollectionsRequest) -> Answer<q::ListCollectionsResponse> {
    let mut names: Vec<String> = store.read().collections.keys().cloned().collect();
    names.sort_unstable();
    let collections = names.into_iter().map(|name| q::CollectionDescription { name }).collect();
    Ok(q::ListCollectionsResponse { collections, time: 0.0 })
}

pub fn exists(store: &Store, request: q::CollectionExistsRequest) -> Answer<q::CollectionExistsResponse> {
    let exists = store.collection(&request.collection_name).is_ok();
    Ok(q::CollectionExistsResponse { result: Some(q::CollectionExists { exists }), time: 0.0 })
}

pub fn delete(store: &Store, request: q::DeleteCollection) -> Answer<q::CollectionOperationResponse> {
    let name = request.collection_name;
    let mut state = store.write();
    let Some(shard) = state.collections.remove(&name) else { return Ok(done(false)) };
    state.aliases.retain(|_, collection| *collection != name);
    store.save_aliases(&state)?;
    drop(shard);
    std::fs::remove_dir_all(store.folder(&name)).map_err(|error| Status::internal(error.to_string()))?;
    Ok(done(true))
}

/// All actions or none.
pub fn update_aliases(store: &Store, request: q::ChangeAliases) -> Answer<q::CollectionOperationResponse> {
    let mut state = store.write();
    let before = state.aliases.clone();
    for action in request.actions.into_iter().filter_map(|action| action.action) {
        if let Err(error) = change(&mut state, action) {
            state.aliases = before;
            return Err(error);
        }
    }
    store.save_aliases(&state)?;
    Ok(done(true))
}

fn change(state: &mut State, action: Action) -> Answer<()> {
    match action {
        Action::CreateAlias(create) => {
            if !state.collections.contains_key(&create.collection_name) {
                return Err(Status::not_found(format!(
                    "Not found: Collection `{}` doesn't exist!",
                    create.collection_name
                )));
            }
            if state.collections.contains_key(&create.alias_name) {
                return Err(Status::already_exists(format!(
                    "Wrong input: Collection `{}` already exists!",
                    create.alias_name
                )));
            }
            state.aliases.insert(create.alias_name, create.collection_name);
        }
        Action::DeleteAlias(delete) => {
            state.aliases.remove(&delete.alias_name);
        }
        Action::RenameAlias(rename) => {
            let collection = state.aliases.remove(&rename.old_alias_name).ok_or_else(|| {
                Status::not_found(format!("Not found: Alias {} does not exists!", rename.old_alias_name))
            })?;
            state.aliases.insert(rename.new_alias_name, collection);
        }
    }
    Ok(())
}

pub fn list_aliases(store: &Store, _: q::ListAliasesRequest) -> Answer<q::ListAliasesResponse> {
    Ok(aliases(store, |_| true))
}

pub fn list_collection_aliases(
    store: &Store,
    request: q::ListCollectionAliasesRequest,
) -> Answer<q::ListAliasesResponse> {
    Ok(aliases(store, |collection| collection == request.collection_name))
}

fn aliases(store: &Store, keep: impl Fn(&str) -> bool) -> q::ListAliasesResponse {
    let state = store.read();
    let kept = state.aliases.iter().filter(|(_, collection)| keep(collection));
    let aliases = kept
        .map(|(alias, collection)| q::AliasDescription {
            alias_name: alias.clone(),
            collection_name: collection.clone(),
        })
        .collect();
    q::ListAliasesResponse { aliases, time: 0.0 }
}

pub fn health(_: &Store, _: q::HealthCheckRequest) -> Answer<q::HealthCheckReply> {
    Ok(q::HealthCheckReply {
        title: "qdrant - vector search engine (mcc's test double)".to_owned(),
        version: "1.20.0".to_owned(),
        commit: None,
    })
}
