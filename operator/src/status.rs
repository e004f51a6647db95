//! Writes statuses: by server-side apply, and only what differs.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use mcc_catalog::model::{ObjectKind, ObjectRef};
use mcc_cluster::{Observed, Status, explain};
use mcc_crds::v1alpha1::{API_VERSION, Tool, ToolGroup, UserGrant};
use serde::{Deserialize, Serialize};

use crate::conditions::{self, Draft};
use crate::context::Context;

/// Time for one write.
const ANSWER: Duration = Duration::from_secs(15);

/// Why a status could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The API server refused it.
    #[error("the API server refused the status: {0}")]
    Refused(String),
    /// The API server doesn't answer.
    #[error("the API server doesn't answer: {0}")]
    Unavailable(String),
    /// The API server took too long.
    #[error("the API server did not answer within {} s", ANSWER.as_secs())]
    Timeout,
}

impl WriteError {
    /// Label of metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Refused(_) => "Refused",
            Self::Unavailable(_) => "Unavailable",
            Self::Timeout => "Timeout",
        }
    }
}

/// What is to be said about an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desired {
    pub key: Option<String>,
    pub tools: Option<i64>,
    pub drafts: Vec<Draft>,
}

/// Brings the status of an object to `desired`: nothing is written if it says so already.
pub(crate) async fn write(
    context: &Context,
    observed: &Observed,
    current: Option<&Status>,
    desired: Desired,
) -> Result<(), WriteError> {
    let known = current.map(|status| status.conditions.as_slice()).unwrap_or_default();
    let status = Status {
        observed_generation: Some(observed.generation),
        key: desired.key,
        tools: desired.tools,
        conditions: conditions::dated(desired.drafts, known, observed.generation, Timestamp::now()),
    };
    if current.is_some_and(|current| says(current, &status)) {
        return Ok(());
    }
    let object = &observed.object;
    let Some(version) = patch(context, observed, &status).await? else {
        // Gone meanwhile, or another object of the same name: the watch tells.
        return Ok(());
    };
    context.metrics.wrote(object.kind);
    context.events.changed(observed, known, &status.conditions);
    context.table.wrote(object, &observed.uid, version, status);
    Ok(())
}

/// Whether a status says all of `desired`. Conditions of others' making are none of our business.
fn says(current: &Status, desired: &Status) -> bool {
    let Status { observed_generation, key, tools, conditions } = desired;
    let has = |wanted: &Condition| current.conditions.iter().any(|condition| condition == wanted);
    current.observed_generation == *observed_generation
        && current.key == *key
        && current.tools == *tools
        && conditions.iter().all(has)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata<'a>,
    status: StatusBody<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    /// A status of one object is never written to another of the same name.
    uid: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<i64>,
    conditions: &'a [Condition],
}

/// Of the answer only the version counts; the rest of the object isn't read.
#[derive(Deserialize)]
struct Answer {
    metadata: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

/// Applies a status; the version that came of it, or none if the object is gone.
async fn patch(
    context: &Context,
    observed: &Observed,
    status: &Status,
) -> Result<Option<String>, WriteError> {
    let ObjectRef { kind, name } = &observed.object;
    let (kind, manager, path) = match kind {
        ObjectKind::Tool => ("Tool", "mcc-operator/tool", Tool::url_path(&(), Some(&name.namespace))),
        ObjectKind::ToolGroup => {
            ("ToolGroup", "mcc-operator/toolgroup", ToolGroup::url_path(&(), Some(&name.namespace)))
        }
        ObjectKind::UserGrant => {
            ("UserGrant", "mcc-operator/usergrant", UserGrant::url_path(&(), Some(&name.namespace)))
        }
        ObjectKind::Secret | ObjectKind::ConfigMap => return Ok(None),
    };
    let Status { observed_generation, key, tools, conditions } = status;
    let body = Applied {
        api_version: API_VERSION,
        kind,
        metadata: Metadata { name: &name.name, uid: &observed.uid },
        status: StatusBody {
            observed_generation: *observed_generation,
            key: key.as_deref(),
            tools: *tools,
            conditions,
        },
    };
    let params = PatchParams::apply(manager).force();
    let request = Request::new(path)
        .patch_subresource("status", &name.name, &params, &Patch::Apply(&body))
        .map_err(|error| WriteError::Refused(error.to_string()))?;
    let answer = tokio::time::timeout(ANSWER, context.client.request::<Answer>(request));
    match answer.await {
        Err(_) => Err(WriteError::Timeout),
        Ok(Ok(answer)) => Ok(Some(answer.metadata.resource_version)),
        // Not found; or found with another UID.
        Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409) => Ok(None),
        Ok(Err(error @ kube::Error::Api(_))) => Err(WriteError::Refused(explain(&error))),
        Ok(Err(error)) => Err(WriteError::Unavailable(explain(&error))),
    }
}
