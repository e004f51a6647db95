//! How a tool runs: bounds, cache, rate, pods.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LocalObjectReference, Toleration};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{pattern, schema};

/// Bounds of one run.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Wall-clock seconds until the run is killed, at most 86400. Defaults to 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: Option<i64>,
    /// Bytes of output kept for each of standard output and standard error, at most 8388608. Defaults to 262144.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8_388_608))]
    pub output_bytes: Option<i64>,
    /// CPU limit, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = pattern::QUANTITY))]
    pub cpu: Option<String>,
    /// Memory limit, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = pattern::QUANTITY))]
    pub memory: Option<String>,
    /// Limit of temporary files, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = pattern::QUANTITY))]
    pub ephemeral_storage: Option<String>,
    /// Seconds of CPU time (ulimit -t).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub cpu_seconds: Option<i64>,
    /// Bytes of the largest file the tool may write (ulimit -f).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_099_511_627_776_i64))]
    pub file_bytes: Option<i64>,
    /// Number of open files (ulimit -n).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8, max = 1_048_576))]
    pub open_files: Option<i64>,
    /// Number of processes (ulimit -u).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub processes: Option<i64>,
}

/// Keeps successful results.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cache {
    /// Seconds for which a result is kept, at most 2592000 (30 days).
    #[schemars(range(min = 1, max = 2_592_000))]
    pub seconds: i64,
    /// Who shares a kept result.
    #[serde(default)]
    pub scope: CacheScope,
}

/// Who shares a kept result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CacheScope {
    /// One caller sees only what the same caller's runs returned.
    #[default]
    Caller,
    /// All callers that may run the tool.
    Shared,
}

/// How often one caller may run a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Runs a minute for each caller.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_minute: i64,
}

/// Pods started ahead of need, each used once.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warm {
    /// Number of pods kept waiting.
    #[schemars(range(min = 0, max = 100))]
    pub size: i64,
}

/// Settings of the pods that run a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSettings {
    /// ServiceAccount of the pod. Its token is never mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = pattern::OBJECT_NAME))]
    pub service_account_name: Option<String>,
    /// Labels a node must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::label_values)]
    pub node_selector: BTreeMap<String, String>,
    /// Taints the pod tolerates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Runtime class of the pod, for example a sandboxed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = pattern::OBJECT_NAME))]
    pub runtime_class_name: Option<String>,
    /// Secrets with which images are pulled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Further labels of the pod. Keys under mcc.dev/ and kubernetes.io/ are refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = Rule::new(
        "self.all(k, !k.startsWith('mcc.dev/') && !k.startsWith('kubernetes.io/'))"
    )
    .message("keys under mcc.dev/ and kubernetes.io/ are reserved; choose another prefix"))]
    #[schemars(transform = schema::label_values)]
    pub labels: BTreeMap<String, String>,
    /// Further annotations of the pod. Keys under mcc.dev/ and kubernetes.io/ are refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = Rule::new(
        "self.all(k, !k.startsWith('mcc.dev/') && !k.startsWith('kubernetes.io/'))"
    )
    .message("keys under mcc.dev/ and kubernetes.io/ are reserved; choose another prefix"))]
    #[schemars(transform = schema::long_values)]
    pub annotations: BTreeMap<String, String>,
}
