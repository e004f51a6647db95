//! Probes and metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::operator::Health;

/// `/healthz`: the process answers. `/readyz`: the catalog is known, with what is in the way and what is not. `/metrics`:
/// for Prometheus.
pub(crate) fn router(health: Arc<Health>) -> Router {
    Router::new()
        .route("/healthz", get(async || Json(json!({ "status": "ok" }))))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(health)
}

async fn ready(State(health): State<Arc<Health>>) -> Response {
    let report = health.report();
    let status = if report.synced { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "status": if report.synced { "ok" } else { "degraded" },
        "leader": report.leads,
        "watches": report.waiting,
        "index": report.index,
    });
    (status, Json(body)).into_response()
}

async fn metrics(State(health): State<Arc<Health>>) -> Response {
    match health.metrics() {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "metrics could not be encoded");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
