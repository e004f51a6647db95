//! Points: written, read, searched.

use std::collections::HashMap;

use qdrant_client::qdrant::{self as q, points_selector::PointsSelectorOneOf};
use qdrant_edge::{
    CountRequestBuilder, CreateIndex, FieldIndexOperations, NamedQuery, PayloadFieldSchema,
    PointInsertOperations, PointOperations, PointStruct, QueryBatchRequest, QueryEnum, QueryRequest,
    RetrieveRequestBuilder, ScoredPoint, ScoringQuery, ScrollRequest, UpdateOperation, Vectors,
};
use tonic::Status;

use crate::convert::{
    engine_error, field_type, filter, from_id, from_payload, invalid, query_vector, search_params, to_id,
    to_payload, vector, with_payload,
};
use crate::store::Store;

type Answer<T> = Result<T, Status>;

/// What the server returns of a scroll or query without a limit.
const DEFAULT_LIMIT: usize = 10;

fn update(store: &Store, collection: &str, operation: UpdateOperation) -> Answer<q::PointsOperationResponse> {
    store.collection(collection)?.update(operation).map_err(engine_error)?;
    let status = q::UpdateStatus::Completed.into();
    let result = Some(q::UpdateResult { operation_id: None, status });
    Ok(q::PointsOperationResponse { result, ..q::PointsOperationResponse::default() })
}

pub fn upsert(store: &Store, request: q::UpsertPoints) -> Answer<q::PointsOperationResponse> {
    let points =
        request.points.into_iter().map(|point| Ok(point_struct(point)?.into())).collect::<Answer<_>>()?;
    let operation = PointOperations::UpsertPoints(PointInsertOperations::PointsList(points));
    update(store, &request.collection_name, UpdateOperation::PointOperation(operation))
}

fn point_struct(point: q::PointStruct) -> Answer<PointStruct> {
    use q::vectors::VectorsOptions;
    let named = match point.vectors.and_then(|vectors| vectors.vectors_options) {
        Some(VectorsOptions::Vectors(named)) => named.vectors,
        Some(VectorsOptions::Vector(vector)) => {
            HashMap::from([(qdrant_edge::DEFAULT_VECTOR_NAME.to_owned(), vector)])
        }
        None => return Err(invalid("Expected some vectors")),
    };
    let named = named
        .into_iter()
        .map(|(name, one)| Ok((name, vector(one)?)))
        .collect::<Answer<HashMap<String, qdrant_edge::Vector>>>()?;
    Ok(PointStruct::new(to_id(point.id)?, Vectors::from(named), to_payload(point.payload)))
}

pub fn delete(store: &Store, request: q::DeletePoints) -> Answer<q::PointsOperationResponse> {
    let operation = match request.points.and_then(|points| points.points_selector_one_of) {
        Some(PointsSelectorOneOf::Points(list)) => PointOperations::DeletePoints {
            ids: list.ids.into_iter().map(|id| to_id(Some(id))).collect::<Answer<_>>()?,
        },
        Some(PointsSelectorOneOf::Filter(by)) => PointOperations::DeletePointsByFilter(filter(by)?),
        None => return Err(invalid("PointSelector is missing")),
    };
    update(store, &request.collection_name, UpdateOperation::PointOperation(operation))
}

pub fn create_field_index(
    store: &Store,
    request: q::CreateFieldIndexCollection,
) -> Answer<q::PointsOperationResponse> {
    let operation = FieldIndexOperations::CreateIndex(CreateIndex {
        field_name: request.field_name.parse().map_err(|()| invalid(&request.field_name))?,
        field_schema: Some(PayloadFieldSchema::FieldType(field_type(request.field_type())?)),
    });
    update(store, &request.collection_name, UpdateOperation::FieldIndexOperation(operation))
}

pub fn get(store: &Store, request: q::GetPoints) -> Answer<q::GetResponse> {
    let ids = request.ids.into_iter().map(|id| to_id(Some(id))).collect::<Answer<Vec<_>>>()?;
    let wanted =
        RetrieveRequestBuilder::new(ids).with_payload(with_payload(request.with_payload, true)?).build();
    let records = store.collection(&request.collection_name)?.retrieve(wanted).map_err(engine_error)?;
    Ok(q::GetResponse { result: records.into_iter().map(record).collect(), ..q::GetResponse::default() })
}

pub fn scroll(store: &Store, request: q::ScrollPoints) -> Answer<q::ScrollResponse> {
    if request.order_by.is_some() {
        return Err(Status::unimplemented("order_by"));
    }
    let wanted = ScrollRequest {
        offset: request.offset.map(|id| to_id(Some(id))).transpose()?,
        limit: Some(request.limit.map_or(DEFAULT_LIMIT, |limit| limit as usize)),
        filter: request.filter.map(filter).transpose()?,
        with_payload: Some(with_payload(request.with_payload, true)?),
        ..ScrollRequest::default()
    };
    let (records, next) = store.collection(&request.collection_name)?.scroll(wanted).map_err(engine_error)?;
    Ok(q::ScrollResponse {
        result: records.into_iter().map(record).collect(),
        next_page_offset: next.map(from_id),
        ..q::ScrollResponse::default()
    })
}

fn record(record: qdrant_edge::Record) -> q::RetrievedPoint {
    q::RetrievedPoint {
        id: Some(from_id(record.id)),
        payload: record.payload.map(from_payload).unwrap_or_default(),
        ..q::RetrievedPoint::default()
    }
}

pub fn count(store: &Store, request: q::CountPoints) -> Answer<q::CountResponse> {
    let mut wanted = CountRequestBuilder::new().exact(request.exact.unwrap_or(true));
    if let Some(by) = request.filter {
        wanted = wanted.filter(filter(by)?);
    }
    let count = store.collection(&request.collection_name)?.count(wanted.build()).map_err(engine_error)?;
    Ok(q::CountResponse {
        result: Some(q::CountResult { count: count as u64 }),
        ..q::CountResponse::default()
    })
}

pub fn query(store: &Store, request: q::QueryPoints) -> Answer<q::QueryResponse> {
    let shard = store.collection(&request.collection_name)?;
    let found = shard.query(query_request(request)?).map_err(engine_error)?;
    let result = found.into_iter().map(scored).collect();
    Ok(q::QueryResponse { result, ..q::QueryResponse::default() })
}

pub fn query_batch(store: &Store, request: q::QueryBatchPoints) -> Answer<q::QueryBatchResponse> {
    let shard = store.collection(&request.collection_name)?;
    let queries = request.query_points.into_iter().map(query_request).collect::<Answer<_>>()?;
    let found = shard.query_batch(QueryBatchRequest::new(queries)).map_err(engine_error)?;
    let result = found
        .into_iter()
        .map(|points| q::BatchResult { result: points.into_iter().map(scored).collect() })
        .collect();
    Ok(q::QueryBatchResponse { result, ..q::QueryBatchResponse::default() })
}

fn query_request(request: q::QueryPoints) -> Answer<QueryRequest> {
    use q::query::Variant;
    if !request.prefetch.is_empty() {
        return Err(Status::unimplemented("prefetch"));
    }
    let scoring = match request.query.map(|query| query.variant) {
        None => None,
        Some(Some(Variant::Nearest(input))) => Some(ScoringQuery::Vector(QueryEnum::Nearest(
            NamedQuery::new(query_vector(input)?, request.using.unwrap_or_default()),
        ))),
        Some(_) => return Err(Status::unimplemented("this kind of query")),
    };
    let mut wanted = QueryRequest::new(request.limit.map_or(Ok(DEFAULT_LIMIT), usize_of)?);
    wanted.query = scoring;
    wanted.filter = request.filter.map(filter).transpose()?;
    wanted.params = request.params.map(search_params).transpose()?;
    wanted.offset = usize_of(request.offset.unwrap_or(0))?;
    wanted.score_threshold = request.score_threshold;
    wanted.with_payload = with_payload(request.with_payload, false)?;
    Ok(wanted)
}

fn usize_of(number: u64) -> Answer<usize> {
    usize::try_from(number).map_err(|error| invalid(&error))
}

fn scored(point: ScoredPoint) -> q::ScoredPoint {
    q::ScoredPoint {
        id: Some(from_id(point.id)),
        payload: point.payload.map(from_payload).unwrap_or_default(),
        score: point.score,
        version: point.version,
        ..q::ScoredPoint::default()
    }
}
