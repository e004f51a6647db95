//! The kind `Tool`: one thing an agent can find with `search` and run with `execute`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, LocalObjectReference, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    doc = "A Tool is one thing an agent can find with search and run with execute."
)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Name of the tool as callers see it. Defaults to metadata.name with hyphens replaced by underscores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Groups of the tool, at most 8. The key is groups and name joined by dots, public and admin first.
    /// A tool without groups can be reached only by admins and by grants of its key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// What the tool does, written for the model that chooses among tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// An example call such as name(query="x", limit=5), shown by mcc info and run by mcc test.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
    /// Further words by which the tool is found. They are searched but not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Parameters in the order in which signatures show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    pub env: Vec<EnvVar>,
    /// Sources of environment variables. Secrets and ConfigMaps named here live in the namespace of the Tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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

/// One parameter of a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Param {
    /// Name of the parameter.
    pub name: String,
    /// Type of the value.
    #[serde(rename = "type", default)]
    pub kind: ParamType,
    /// What the parameter means, written for the model that fills it in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether callers must give the parameter. Defaults to true unless the parameter has a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Value used when callers leave the parameter out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Fixed value. The parameter is hidden from callers and they can't change it.
    #[serde(rename = "override", default, skip_serializing_if = "Option::is_none")]
    pub r#override: Option<Value>,
    /// An example value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The only values allowed.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
    /// Smallest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Largest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Fewest characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<i64>,
    /// Most characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<i64>,
    /// Regular expression that a str must match somewhere; anchor it with ^ and $ to match all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Type of the elements of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemType>,
    /// Lets a str used as a bare word of a script begin with a hyphen, which programs read as an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_leading_dash: Option<bool>,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// Text.
    #[default]
    Str,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A list of values.
    List,
    /// An object.
    Dict,
}

/// Type of the elements of a list parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemType {
    /// Text.
    Str,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A list of values.
    List,
    /// An object.
    Dict,
}

/// What a tool returns.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Returns {
    /// Type shown in the signature. Defaults to str.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the result contains.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// Hints for clients, as the MCP tool annotations of the same names.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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

/// A tool that is a shell script.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellTool {
    /// Image with /bin/sh. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The script, a Jinja template over the parameters. Values are quoted for the place they stand in.
    pub script: String,
    /// What the script reads from standard input: nothing, or all parameters as one JSON object.
    #[serde(default)]
    pub stdin: Stdin,
}

/// What a script reads from standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Stdin {
    /// Nothing.
    #[default]
    None,
    /// All parameters as one JSON object.
    Params,
}

/// A tool that is a Python function.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PythonTool {
    /// Image with python3. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Import path of the function, as package.module:callable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Source that defines the function main. Parameters are keyword arguments; an argument named context
    /// receives the session values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Directories put in front of the module search path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
}

/// A tool that is one HTTP request.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpTool {
    /// Image with /bin/sh and curl. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Method of the request. Defaults to GET, or to POST when there is a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// URL of the request, a template over the parameters. $(NAME) stands for an environment variable.
    pub url: String,
    /// Headers of the request, templates over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Query parameters, templates over the parameters. Values are URL-encoded; an empty value is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Body of the request, a template over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// A tool that is a container image with its own entry point.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerTool {
    /// Image to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Entry point, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Arguments, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

/// Bounds of one run.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Wall-clock seconds until the run is killed. Defaults to 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// Bytes of output kept for each of standard output and standard error. Defaults to 262144.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<i64>,
    /// CPU limit, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Memory limit, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Limit of temporary files, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral_storage: Option<String>,
    /// Seconds of CPU time (ulimit -t).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<i64>,
    /// Bytes of the largest file the tool may write (ulimit -f).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<i64>,
    /// Number of open files (ulimit -n).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<i64>,
    /// Number of processes (ulimit -u).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<i64>,
}

/// Keeps successful results.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cache {
    /// Seconds for which a result is kept.
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

/// Which session values a tool may read and write.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAccess {
    /// Values the tool sees. Defaults to All.
    #[serde(default)]
    pub read: SessionScope,
    /// Values the tool may change. Defaults to All.
    #[serde(default)]
    pub write: SessionScope,
}

/// A set of session values: All, None, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SessionScope {
    /// All or none.
    Keyword(SessionKeyword),
    /// These names only.
    Names(Vec<String>),
}

impl Default for SessionScope {
    fn default() -> Self {
        Self::Keyword(SessionKeyword::All)
    }
}

impl SessionScope {
    /// Whether a value of this name belongs to the set.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::Keyword(SessionKeyword::All) => true,
            Self::Keyword(SessionKeyword::None) => false,
            Self::Names(names) => names.iter().any(|n| n == name),
        }
    }
}

impl JsonSchema for SessionScope {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SessionScope".into()
    }

    // A structural schema has no "string or list": the compiler checks what this leaves open.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// The words that stand for all or no session values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SessionKeyword {
    /// Every value.
    All,
    /// No value.
    None,
}

/// How often one caller may run a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Runs a minute for each caller.
    pub per_minute: i64,
}

/// Pods started ahead of need, each used once.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warm {
    /// Number of pods kept waiting.
    pub size: i64,
}

/// Settings of the pods that run a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSettings {
    /// ServiceAccount of the pod. Its token is never mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Labels a node must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints the pod tolerates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Runtime class of the pod, for example a sandboxed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_class_name: Option<String>,
    /// Secrets with which images are pulled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Further labels of the pod.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Further annotations of the pod.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What the operator found out about a Tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
