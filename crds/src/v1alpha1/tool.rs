//! The kind `Tool`: one thing an agent can find with `search` and run with `execute`.

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::{pattern, schema};

use super::{
    Cache, ContainerTool, HttpTool, Limits, Param, PodSettings, PythonTool, RateLimit, SessionAccess,
    ShellTool, Warm,
};

/// One tool of the catalog: what it is called, which parameters it takes, and what runs when it is executed.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "mcc.dev",
    version = "v1alpha1",
    kind = "Tool",
    plural = "tools",
    namespaced,
    derive = "PartialEq",
    status = "ToolStatus",
    category = "mcc",
    cel,
    selectable = ".spec.name",
    selectable = ".status.key",
    printcolumn(name = "Key", type_ = "string", json_path = ".status.key"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].message"#,
        priority = 1
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    doc = "A Tool is one thing an agent can find with search and run with execute.",
    validation = Rule::new(
        "has(self.spec.name) || (self.metadata.name.size() <= 64 && !self.metadata.name.contains('.'))"
    )
    .message("the name of the Tool can't be the tool's name: it has a dot or more than 64 characters; set spec.name")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
#[x_kube(validation = Rule::new(
    "(has(self.shell) ? 1 : 0) + (has(self.python) ? 1 : 0) + (has(self.http) ? 1 : 0) + (has(self.container) ? 1 : 0) == 1"
)
.message("a Tool runs exactly one thing; set one of shell, python, http and container"))]
#[x_kube(validation = Rule::new(
    "!has(self.cache) || !has(self.hints) || !has(self.hints.destructive) || !self.hints.destructive"
)
.message("results of a destructive tool can't be cached; remove cache or hints.destructive"))]
pub struct ToolSpec {
    /// Name of the tool as callers see it. Defaults to metadata.name with hyphens replaced by underscores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = pattern::TOOL_NAME))]
    pub name: Option<String>,
    /// Groups of the tool, at most 8. The key is groups and name joined by dots, public and admin first.
    /// A tool without groups can be reached only by admins and by grants of its key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(length(min = 1, max = 63), regex(pattern = pattern::GROUP)))]
    #[x_kube(validation = Rule::new("self.all(x, self.exists_one(y, x == y))")
        .message("a group is named twice; name each group once"))]
    pub groups: Vec<String>,
    /// What the tool does, written for the model that chooses among tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 32768))]
    pub description: String,
    /// An example call such as name(query="x", limit=5), shown by mcc info and run by mcc test.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4096))]
    pub example: String,
    /// Further words by which the tool is found. They are searched but not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 128)))]
    pub keywords: Vec<String>,
    /// Parameters in the order in which signatures show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new(
        "self.all(x, self.exists_one(y, x.name.upperAscii() == y.name.upperAscii()))"
    )
    .message("two parameters have the same name but for capitals; rename one of them"))]
    pub params: Vec<Param>,
    /// What the tool returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Returns>,
    /// Hints for clients about what the tool does to its surroundings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    /// A shell script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellTool>,
    /// A Python function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonTool>,
    /// One HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpTool>,
    /// A container image with its own entry point, for images without a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<ContainerTool>,
    /// Environment variables. Secrets and ConfigMaps named here live in the namespace of the Tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::env)]
    #[x_kube(validation = Rule::new("self.all(e, !e.name.startsWith('MCC_'))")
        .message("names that begin with MCC_ are set by mcc; choose another name"))]
    pub env: Vec<EnvVar>,
    /// Sources of environment variables. Secrets and ConfigMaps named here live in the namespace of the Tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::env_from)]
    #[x_kube(validation = Rule::new("self.all(e, !has(e.prefix) || !e.prefix.startsWith('MCC_'))")
        .message("names that begin with MCC_ are set by mcc; choose another prefix"))]
    #[x_kube(validation = Rule::new("self.all(e, has(e.configMapRef) != has(e.secretRef))")
        .message("a source of variables is one object; set exactly one of configMapRef and secretRef"))]
    pub env_from: Vec<EnvFromSource>,
    /// Bounds of one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Keeps successful results for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Which session values the tool may read and write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionAccess>,
    /// How often one caller may run the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Pods started ahead of need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<Warm>,
    /// Settings of the pods that run the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodSettings>,
}

/// What a tool returns.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Returns {
    /// Type shown in the signature. Defaults to str.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub kind: Option<String>,
    /// What the result contains.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8192))]
    pub description: String,
}

/// Hints for clients, as the MCP tool annotations of the same names.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    "!has(self.readOnly) || !has(self.destructive) || !self.readOnly || !self.destructive"
)
.message("a tool that changes nothing can't destroy anything; remove readOnly or destructive"))]
pub struct Hints {
    /// The tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The tool may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Running the tool twice with the same arguments does no more than running it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// The tool talks to systems outside the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// What the operator found out about a Tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
pub struct ToolStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Key under which the tool is executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Accepted, Indexed and Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
