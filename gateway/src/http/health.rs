//! Probes and metrics, on a port of their own.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::state::Shared;

/// `/healthz`: the process answers. `/readyz`: the catalog is there and can be searched. `/metrics`: for Prometheus.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/healthz", get(async || json(StatusCode::OK, "ok")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(shared)
}

async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.is_ready() {
        json(StatusCode::OK, "ok")
    } else {
        json(StatusCode::SERVICE_UNAVAILABLE, "degraded")
    }
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    match shared.metrics.encode(&shared) {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "metrics could not be encoded");
            json(StatusCode::INTERNAL_SERVER_ERROR, "error")
        }
    }
}

fn json(status: StatusCode, text: &str) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], format!("{{\"status\":\"{text}\"}}")).into_response()
}
