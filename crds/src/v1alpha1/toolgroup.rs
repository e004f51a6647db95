//! The kind `ToolGroup`: a set of tools that is granted as a whole.

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{pattern, schema};

use super::{Limits, PodSettings, RateLimit, SessionAccess};

/// A set of tools that is granted as a whole, with defaults and bounds for its tools.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "mcc.dev",
    version = "v1alpha1",
    kind = "ToolGroup",
    plural = "toolgroups",
    shortname = "tg",
    namespaced,
    derive = "PartialEq",
    status = "ToolGroupStatus",
    category = "mcc",
    cel,
    printcolumn(name = "Tools", type_ = "integer", json_path = ".status.tools"),
    printcolumn(name = "From", type_ = "string", json_path = ".spec.allowedNamespaces.from"),
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
    doc = "A ToolGroup is a set of tools that is granted as a whole.",
    validation = Rule::new("self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')")
        .message("a group's name has no dots and at most 63 characters; rename the ToolGroup"),
    validation = Rule::new(
        "!(self.metadata.name in ['public', 'admin']) || (!has(self.spec.description) && !has(self.spec.defaults) && !has(self.spec.allowed) && !has(self.spec.session))"
    )
    .message("public and admin exist by themselves, and a ToolGroup of that name sets only allowedNamespaces; remove the other fields")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
pub struct ToolGroupSpec {
    /// What the tools of the group have in common.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8192))]
    pub description: String,
    /// Namespaces that may put Tools into the group. Defaults to the namespace of the ToolGroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// Settings of every Tool of the group that doesn't set its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<GroupDefaults>,
    /// What Tools of the group may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<GroupAllowed>,
    /// Narrows the session values that the group's tools may read and write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionAccess>,
}

/// Which namespaces may put Tools into a group.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.selector) == (self.from == 'Selector')")
    .message("a selector goes with from: Selector and with nothing else; set both or neither"))]
pub struct AllowedNamespaces {
    /// The ToolGroup's own namespace, all namespaces, or those the selector matches.
    #[serde(default)]
    pub from: NamespacesFrom,
    /// Labels of the namespaces, with from: Selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// Which namespaces a group accepts Tools from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NamespacesFrom {
    /// The ToolGroup's own namespace.
    #[default]
    Same,
    /// All namespaces that tools are taken from.
    All,
    /// Namespaces whose labels match the selector.
    Selector,
}

/// Settings of every Tool of a group that doesn't set its own.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupDefaults {
    /// Image of tools that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Environment variables, merged by name under the Tool's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(transform = schema::env)]
    #[x_kube(validation = Rule::new("self.all(e, !e.name.startsWith('MCC_'))")
        .message("names that begin with MCC_ are set by mcc; choose another name"))]
    pub env: Vec<EnvVar>,
    /// Sources of environment variables, before the Tool's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::env_from)]
    #[x_kube(validation = Rule::new("self.all(e, !has(e.prefix) || !e.prefix.startsWith('MCC_'))")
        .message("names that begin with MCC_ are set by mcc; choose another prefix"))]
    #[x_kube(validation = Rule::new("self.all(e, has(e.configMapRef) != has(e.secretRef))")
        .message("a source of variables is one object; set exactly one of configMapRef and secretRef"))]
    pub env_from: Vec<EnvFromSource>,
    /// Bounds of one run, merged field by field under the Tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// How often one caller may run each tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Settings of pods, merged field by field under the Tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodSettings>,
}

/// What Tools of a group may ask for. A list that isn't given allows nothing beyond the defaults; a bound that
/// isn't given doesn't bound.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupAllowed {
    /// ServiceAccounts besides the default one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253), regex(pattern = pattern::OBJECT_NAME)))]
    pub service_accounts: Vec<String>,
    /// Runtime classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253), regex(pattern = pattern::OBJECT_NAME)))]
    pub runtime_classes: Vec<String>,
    /// Keys of node selectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 317)))]
    pub node_selector_keys: Vec<String>,
    /// Prefixes of which every image must have one. Empty allows every image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 512)))]
    pub image_prefixes: Vec<String>,
    /// Largest limits a Tool may set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_limits: Option<Limits>,
}

/// What the operator found out about a ToolGroup.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
pub struct ToolGroupStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Number of accepted tools in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<i64>,
    /// Accepted and Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
