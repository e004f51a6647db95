//! Every method of the three services: served, or answered `UNIMPLEMENTED`.

use qdrant_client::qdrant::{self as q, collections_server, points_server, qdrant_server};
use tonic::{Request, Response, Status};

use crate::faults::Access::{Read, Write};
use crate::store::Store;
use crate::{collections, points};

macro_rules! service {
    (
        $service:path;
        $($access:ident $method:ident($request:ident) -> $reply:ident = $call:path;)*
        $(unserved $other:ident($other_request:ident) -> $other_reply:ident;)*
    ) => {
        #[tonic::async_trait]
        impl $service for Store {
            $(async fn $method(&self, request: Request<q::$request>) -> Result<Response<q::$reply>, Status> {
                self.run($access, move |store| $call(store, request.into_inner())).await
            })*
            $(async fn $other(&self, _: Request<q::$other_request>) -> Result<Response<q::$other_reply>, Status> {
                Err(Status::unimplemented(stringify!($other)))
            })*
        }
    };
}

service! {
    points_server::Points;
    Write upsert(UpsertPoints) -> PointsOperationResponse = points::upsert;
    Write delete(DeletePoints) -> PointsOperationResponse = points::delete;
    Write create_field_index(CreateFieldIndexCollection) -> PointsOperationResponse = points::create_field_index;
    Read get(GetPoints) -> GetResponse = points::get;
    Read scroll(ScrollPoints) -> ScrollResponse = points::scroll;
    Read count(CountPoints) -> CountResponse = points::count;
    Read query(QueryPoints) -> QueryResponse = points::query;
    Read query_batch(QueryBatchPoints) -> QueryBatchResponse = points::query_batch;
    unserved update_vectors(UpdatePointVectors) -> PointsOperationResponse;
    unserved delete_vectors(DeletePointVectors) -> PointsOperationResponse;
    unserved set_payload(SetPayloadPoints) -> PointsOperationResponse;
    unserved overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
    unserved delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
    unserved clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
    unserved delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
    unserved create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
    unserved delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
    unserved search(SearchPoints) -> SearchResponse;
    unserved search_batch(SearchBatchPoints) -> SearchBatchResponse;
    unserved search_groups(SearchPointGroups) -> SearchGroupsResponse;
    unserved recommend(RecommendPoints) -> RecommendResponse;
    unserved recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
    unserved recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
    unserved discover(DiscoverPoints) -> DiscoverResponse;
    unserved discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
    unserved update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
    unserved query_groups(QueryPointGroups) -> QueryGroupsResponse;
    unserved facet(FacetCounts) -> FacetResponse;
    unserved search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
    unserved search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
}

service! {
    collections_server::Collections;
    Read get(GetCollectionInfoRequest) -> GetCollectionInfoResponse = collections::get;
    Read list(ListCollectionsRequest) -> ListCollectionsResponse = collections::list;
    Read collection_exists(CollectionExistsRequest) -> CollectionExistsResponse = collections::exists;
    Read list_aliases(ListAliasesRequest) -> ListAliasesResponse = collections::list_aliases;
    Read list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse
        = collections::list_collection_aliases;
    Write create(CreateCollection) -> CollectionOperationResponse = collections::create;
    Write delete(DeleteCollection) -> CollectionOperationResponse = collections::delete;
    Write update_aliases(ChangeAliases) -> CollectionOperationResponse = collections::update_aliases;
    unserved update(UpdateCollection) -> CollectionOperationResponse;
    unserved collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
    unserved update_collection_cluster_setup(UpdateCollectionClusterSetupRequest)
        -> UpdateCollectionClusterSetupResponse;
    unserved create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
    unserved delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
    unserved list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
}

service! {
    qdrant_server::Qdrant;
    Read health_check(HealthCheckRequest) -> HealthCheckReply = collections::health;
}
