//! The kind `Tool`: one thing an agent can find with `search` and run with `execute`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, LocalObjectReference, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{pattern, schema};

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

/// One parameter of a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
// CEL doesn't see default, override, example and enum, which have no type of their own: the compiler checks them.
#[x_kube(validation = Rule::new(
    "(!has(self.minimum) && !has(self.maximum)) || self.type in ['int', 'float']"
)
.message("minimum and maximum bound numbers; remove them or set the type to int or float"))]
#[x_kube(validation = Rule::new(
    "(!has(self.minLength) && !has(self.maxLength)) || self.type in ['str', 'list']"
)
.message("minLength and maxLength bound a str or a list; remove them or set the type to str or list"))]
#[x_kube(validation = Rule::new("!has(self.minimum) || !has(self.maximum) || self.minimum <= self.maximum")
    .message("minimum is above maximum; swap them"))]
#[x_kube(validation = Rule::new("!has(self.minLength) || !has(self.maxLength) || self.minLength <= self.maxLength")
    .message("minLength is above maxLength; swap them"))]
#[x_kube(validation = Rule::new("!has(self.pattern) || self.type == 'str'")
    .message("a pattern is for a str; remove it or set the type to str"))]
#[x_kube(validation = Rule::new("!has(self.items) || self.type == 'list'")
    .message("items is for a list; remove it or set the type to list"))]
#[x_kube(validation = Rule::new("!has(self.allowLeadingDash) || self.type in ['str', 'list']")
    .message("allowLeadingDash is for text; remove it or set the type to str or list"))]
pub struct Param {
    /// Name of the parameter.
    #[schemars(length(min = 1, max = 64), regex(pattern = pattern::PARAM_NAME))]
    pub name: String,
    /// Type of the value.
    #[serde(rename = "type", default)]
    pub kind: ParamType,
    /// What the parameter means, written for the model that fills it in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8192))]
    pub description: String,
    /// Whether callers must give the parameter. Defaults to true unless the parameter has a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Value used when callers leave the parameter out. An explicit null is a default, too.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "schema::present")]
    #[schemars(schema_with = "schema::any_value")]
    pub default: Option<Value>,
    /// Fixed value. The parameter is hidden from callers and they can't change it. An explicit null is a value, too.
    #[serde(
        rename = "override",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "schema::present"
    )]
    #[schemars(schema_with = "schema::any_value")]
    pub r#override: Option<Value>,
    /// An example value.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "schema::present")]
    #[schemars(schema_with = "schema::any_value")]
    pub example: Option<Value>,
    /// The only values allowed.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::any_values")]
    pub choices: Vec<Value>,
    /// Smallest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Largest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Fewest characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub min_length: Option<i64>,
    /// Most characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub max_length: Option<i64>,
    /// Regular expression that a str must match somewhere; anchor it with ^ and $ to match all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
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

/// A tool that is a shell script.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellTool {
    /// Image with /bin/sh. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// The script, a Jinja template over the parameters. Values are quoted for the place they stand in.
    #[schemars(length(min = 1, max = 131_071))]
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
// function is a reserved word of CEL, which Kubernetes escapes so.
#[x_kube(validation = Rule::new("has(self.__function__) != has(self.source)")
    .message("a python tool is one function; set exactly one of function and source"))]
pub struct PythonTool {
    /// Image with python3. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Import path of the function, as package.module:callable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 512), regex(pattern = pattern::PYTHON_FUNCTION))]
    pub function: Option<String>,
    /// Source that defines the function main. Parameters are keyword arguments; an argument named context
    /// receives the session values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 524_288))]
    pub source: Option<String>,
    /// Directories put in front of the module search path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 1024)))]
    pub path: Vec<String>,
}

/// A tool that is one HTTP request.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpTool {
    /// Image with /bin/sh and curl. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Method of the request. Defaults to GET, or to POST when there is a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), regex(pattern = pattern::HTTP_METHOD))]
    pub method: Option<String>,
    /// URL of the request, a template over the parameters. $(NAME) stands for an environment variable.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
    /// Headers of the request, templates over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::long_values)]
    pub headers: BTreeMap<String, String>,
    /// Query parameters, templates over the parameters. Values are URL-encoded; an empty value is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::long_values)]
    pub query: BTreeMap<String, String>,
    /// Body of the request, a template over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 131_072))]
    pub body: Option<String>,
}

/// A tool that is a container image with its own entry point.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerTool {
    /// Image to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Entry point, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 32768)))]
    pub command: Vec<String>,
    /// Arguments, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 32768)))]
    pub args: Vec<String>,
}

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

impl<'de> Deserialize<'de> for SessionScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        let wanted = "write All, None or a list of session names";
        match value {
            Value::String(word) if word == "All" => Ok(Self::Keyword(SessionKeyword::All)),
            Value::String(word) if word == "None" => Ok(Self::Keyword(SessionKeyword::None)),
            Value::Array(items) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(name) if is_session_name(&name) => Ok(name),
                    other => Err(D::Error::custom(format!(
                        "{other} is no session name: lower-case letters, digits and _, not beginning with a digit, \
                         at most 64; {wanted}"
                    ))),
                })
                .collect::<Result<_, _>>()
                .map(Self::Names),
            other => Err(D::Error::custom(format!("{other} is no set of session values; {wanted}"))),
        }
    }
}

/// Whether session values can have this name: `[a-z_][a-z0-9_]*`, at most 64 characters.
fn is_session_name(name: &str) -> bool {
    name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
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
