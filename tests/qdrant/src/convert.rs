//! Between the protobuf messages and the engine's types.

use std::collections::HashMap;
use std::fmt::Display;

use qdrant_client::qdrant::{self as q, condition::ConditionOneOf, r#match::MatchValue};
use qdrant_edge::{
    Filter, OperationError, Payload, PayloadSchemaType, PointId, SearchParams, SparseVector, Vector,
    VectorInternal, WithPayloadInterface,
};
use serde_json::{Map, Value, json};
use tonic::Status;

type Answer<T> = Result<T, Status>;

/// A request that makes no sense, worded as the server does.
pub fn invalid(what: &(impl Display + ?Sized)) -> Status {
    Status::invalid_argument(format!("Wrong input: {what}"))
}

/// What the server makes of an error of the engine: the caller's fault or its own.
pub fn engine_error(error: OperationError) -> Status {
    match error {
        OperationError::ServiceError { .. }
        | OperationError::InconsistentStorage { .. }
        | OperationError::FileNotFound { .. }
        | OperationError::OutOfMemory { .. } => Status::internal(format!("Service internal error: {error}")),
        OperationError::Timeout { .. } => Status::deadline_exceeded(error.to_string()),
        OperationError::Cancelled { .. } => Status::cancelled(error.to_string()),
        _ => invalid(&error),
    }
}

pub fn to_id(id: Option<q::PointId>) -> Answer<PointId> {
    use q::point_id::PointIdOptions;
    match id.and_then(|id| id.point_id_options) {
        Some(PointIdOptions::Num(number)) => Ok(PointId::NumId(number)),
        Some(PointIdOptions::Uuid(uuid)) => Ok(PointId::Uuid(
            uuid.parse().map_err(|_| Status::invalid_argument(format!("Unable to parse UUID: {uuid}")))?,
        )),
        None => Err(invalid("No ID options provided")),
    }
}

pub fn from_id(id: PointId) -> q::PointId {
    match id {
        PointId::NumId(number) => number.into(),
        PointId::Uuid(uuid) => uuid.to_string().into(),
    }
}

pub fn to_payload(payload: HashMap<String, q::Value>) -> Value {
    Value::Object(payload.into_iter().map(|(name, value)| (name, value.into_json())).collect())
}

pub fn from_payload(payload: Payload) -> HashMap<String, q::Value> {
    payload.0.into_iter().map(|(name, value)| (name, q::Value::from(value))).collect()
}

pub fn with_payload(selector: Option<q::WithPayloadSelector>, default: bool) -> Answer<WithPayloadInterface> {
    use q::with_payload_selector::SelectorOptions;
    match selector.map(|selector| selector.selector_options) {
        None => Ok(WithPayloadInterface::Bool(default)),
        Some(Some(SelectorOptions::Enable(enable))) => Ok(WithPayloadInterface::Bool(enable)),
        Some(Some(SelectorOptions::Include(include))) => {
            let fields = include.fields.iter().map(|field| field.parse().map_err(|()| invalid(field)));
            Ok(WithPayloadInterface::Fields(fields.collect::<Answer<_>>()?))
        }
        Some(_) => Err(Status::unimplemented("this payload selector")),
    }
}

pub fn vector(vector: q::Vector) -> Answer<Vector> {
    use q::vector::Vector as Kind;
    match vector.vector {
        Some(Kind::Dense(dense)) => Ok(Vector::new_dense(dense.data)),
        Some(Kind::Sparse(sparse)) => Vector::new_sparse(sparse.indices, sparse.values).map_err(engine_error),
        _ => Err(Status::unimplemented("this kind of vector")),
    }
}

pub fn query_vector(input: q::VectorInput) -> Answer<VectorInternal> {
    use q::vector_input::Variant;
    match input.variant {
        Some(Variant::Dense(dense)) => Ok(dense.data.into()),
        Some(Variant::Sparse(sparse)) => {
            Ok(SparseVector::new(sparse.indices, sparse.values).map_err(|error| invalid(&error))?.into())
        }
        _ => Err(Status::unimplemented("this kind of query vector")),
    }
}

pub fn search_params(params: q::SearchParams) -> Answer<SearchParams> {
    if params.quantization.is_some() || params.idf.is_some() || params.acorn.is_some() {
        return Err(Status::unimplemented("quantization, idf and acorn parameters"));
    }
    Ok(SearchParams {
        exact: params.exact.unwrap_or(false),
        indexed_only: params.indexed_only.unwrap_or(false),
        ..SearchParams::default()
    })
}

pub fn field_type(kind: q::FieldType) -> Answer<PayloadSchemaType> {
    Ok(match kind {
        q::FieldType::Keyword => PayloadSchemaType::Keyword,
        q::FieldType::Integer => PayloadSchemaType::Integer,
        q::FieldType::Float => PayloadSchemaType::Float,
        q::FieldType::Bool => PayloadSchemaType::Bool,
        q::FieldType::Datetime => PayloadSchemaType::Datetime,
        q::FieldType::Uuid => PayloadSchemaType::Uuid,
        q::FieldType::Geo | q::FieldType::Text => return Err(Status::unimplemented("this kind of index")),
    })
}

pub fn payload_type(kind: &PayloadSchemaType) -> q::PayloadSchemaType {
    match kind {
        PayloadSchemaType::Keyword => q::PayloadSchemaType::Keyword,
        PayloadSchemaType::Integer => q::PayloadSchemaType::Integer,
        PayloadSchemaType::Float => q::PayloadSchemaType::Float,
        PayloadSchemaType::Geo => q::PayloadSchemaType::Geo,
        PayloadSchemaType::Text => q::PayloadSchemaType::Text,
        PayloadSchemaType::Bool => q::PayloadSchemaType::Bool,
        PayloadSchemaType::Datetime => q::PayloadSchemaType::Datetime,
        PayloadSchemaType::Uuid => q::PayloadSchemaType::Uuid,
    }
}

/// Through the JSON form, which the engine reads itself.
pub fn filter(filter: q::Filter) -> Answer<Filter> {
    serde_json::from_value(filter_json(filter)?).map_err(|error| invalid(&error))
}

fn filter_json(filter: q::Filter) -> Answer<Value> {
    if filter.min_should.is_some() {
        return Err(Status::unimplemented("min_should"));
    }
    let clauses = [("must", filter.must), ("should", filter.should), ("must_not", filter.must_not)];
    let mut object = Map::new();
    for (name, conditions) in clauses {
        if !conditions.is_empty() {
            let conditions = conditions.into_iter().map(condition_json).collect::<Answer<_>>()?;
            object.insert(name.to_owned(), Value::Array(conditions));
        }
    }
    Ok(Value::Object(object))
}

fn condition_json(condition: q::Condition) -> Answer<Value> {
    match condition.condition_one_of {
        Some(ConditionOneOf::Filter(filter)) => filter_json(filter),
        Some(ConditionOneOf::IsEmpty(is_empty)) => Ok(json!({"is_empty": {"key": is_empty.key}})),
        Some(ConditionOneOf::HasId(ids)) => {
            let ids = ids.has_id.into_iter().map(|id| match to_id(Some(id))? {
                PointId::NumId(number) => Ok(json!(number)),
                PointId::Uuid(uuid) => Ok(json!(uuid.to_string())),
            });
            Ok(json!({"has_id": ids.collect::<Answer<Vec<_>>>()?}))
        }
        Some(ConditionOneOf::Field(field)) => field_json(field),
        _ => Err(Status::unimplemented("this kind of condition")),
    }
}

fn field_json(field: q::FieldCondition) -> Answer<Value> {
    if let Some(range) = field.range {
        let range = json!({"lt": range.lt, "lte": range.lte, "gt": range.gt, "gte": range.gte});
        return Ok(json!({"key": field.key, "range": range}));
    }
    let matching = match field.r#match.and_then(|matching| matching.match_value) {
        Some(MatchValue::Keyword(word)) => json!({"value": word}),
        Some(MatchValue::Integer(number)) => json!({"value": number}),
        Some(MatchValue::Boolean(flag)) => json!({"value": flag}),
        Some(MatchValue::Keywords(words)) => json!({"any": words.strings}),
        Some(MatchValue::Integers(numbers)) => json!({"any": numbers.integers}),
        Some(MatchValue::ExceptKeywords(words)) => json!({"except": words.strings}),
        _ => return Err(Status::unimplemented("this kind of field condition")),
    };
    Ok(json!({"key": field.key, "match": matching}))
}
