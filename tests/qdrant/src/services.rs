//! Every method of the three services: served, or answered `UNIMPLEMENTED`.

use qdrant_client::qdrant::{self as q, collections_server, points_server, qdrant_server};
use tonic::{Request, Response, Status};

use crate::faults::Access::{Read, Write};
use crate::store::Store;
use crate::{collections, points};

macro_rules! service {
    (
        $service:path;
        served { $($access:ident $method:ident($request:ident) -> $reply:ident = $call:path;)* }
        unserved { $($other:ident($other_request:ident) -> $other_reply:ident;)* }
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
    served {
        Write upsert(UpsertPoints) -> PointsOperationResponse = points::upsert;
        Write delete(DeletePoints) -> PointsOperationResponse = points::delete;
        Write create_field_index(CreateFieldIndexCollection) -> PointsOperationResponse = points::create_field_index;
        Read get(GetPoints) -> GetResponse = points::get;
        Read scroll(ScrollPoints) -> ScrollResponse = points::scroll;
        Read count(CountPoints) -> CountResponse = points::count;
        Read query(QueryPoints) -> QueryResponse = points::query;
        Read query_batch(QueryBatchPoints) -> QueryBatchResponse = points::query_batch;
    }
    unserved {
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}

service! {
    collections_server::Collections;
    served {
        Read get(GetCollectionInfoRequest) -> GetCollectionInfoResponse = collections::get;
        Read list(ListCollectionsRequest) -> ListCollectionsResponse = collections::list;
        Read collection_exists(CollectionExistsRequest) -> CollectionExistsResponse = collections::exists;
        Read list_aliases(ListAliasesRequest) -> ListAliasesResponse = collections::list_aliases;
        Read list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse
            = collections::list_collection_aliases;
        Write create(CreateCollection) -> CollectionOperationResponse = collections::create;
        Write delete(DeleteCollection) -> CollectionOperationResponse = collections::delete;
        Write update_aliases(ChangeAliases) -> CollectionOperationResponse = collections::update_aliases;
    }
    unserved {
        update(UpdateCollection) -> CollectionOperationResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest)
            -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}

service! {
    qdrant_server::Qdrant;
    served {
        Read health_check(HealthCheckRequest) -> HealthCheckReply = collections::health;
    }
    unserved {
    }
}
