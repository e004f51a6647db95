//! The kind `UserGrant`: which tools a user, a group of users or a service account may run.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{pattern, schema};

/// Lets a subject see and run the tools of some groups, and single tools by key.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "mcc.dev",
    version = "v1alpha1",
    kind = "UserGrant",
    plural = "usergrants",
    shortname = "ug",
    namespaced,
    derive = "PartialEq",
    status = "UserGrantStatus",
    category = "mcc",
    cel,
    selectable = ".spec.subject.kind",
    selectable = ".spec.subject.name",
    printcolumn(name = "Kind", type_ = "string", json_path = ".spec.subject.kind"),
    printcolumn(name = "Subject", type_ = "string", json_path = ".spec.subject.name"),
    printcolumn(name = "Groups", type_ = "string", json_path = ".spec.groups"),
    printcolumn(name = "Tools", type_ = "integer", json_path = ".status.tools"),
    printcolumn(name = "Expires", type_ = "string", json_path = ".spec.expiresAt", priority = 1),
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
    doc = "A UserGrant lets a subject see and run tools."
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
pub struct UserGrantSpec {
    /// Who the grant is for.
    pub subject: Subject,
    /// Address shown by whoami. It is never used to find out who a caller is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 320), regex(pattern = pattern::EMAIL))]
    pub email: Option<String>,
    /// Groups whose tools are granted. admin grants every tool; osint.gov.* grants tools whose groups begin osint, gov.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 256),
        inner(length(min = 1, max = 512), regex(pattern = pattern::GRANTED_GROUP)),
        extend("x-kubernetes-list-type" = "set")
    )]
    #[x_kube(validation = Rule::new("self.all(g, !g.startsWith('public.') && !g.startsWith('admin.'))")
        .message("public and admin can't begin a wildcard; grant single tools by key or other groups"))]
    pub groups: Vec<String>,
    /// Keys of single tools that are granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 1024),
        inner(length(min = 1, max = 576), regex(pattern = pattern::TOOL_KEY)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub tools: Vec<String>,
    /// Time at which the grant ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// Who a grant is for.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
// namespace is a reserved word of CEL, which Kubernetes escapes so.
#[x_kube(validation = Rule::new("has(self.__namespace__) == (self.kind == 'ServiceAccount')")
    .message("a namespace goes with kind: ServiceAccount and with nothing else; set both or neither"))]
pub struct Subject {
    /// A user, a group of the identity provider, or a service account.
    #[serde(default)]
    pub kind: SubjectKind,
    /// Name of the user, the group or the service account.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Namespace of the service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = pattern::NAMESPACE))]
    pub namespace: Option<String>,
}

/// Kind of a subject.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum SubjectKind {
    /// A user.
    #[default]
    User,
    /// A group that the identity provider says the user is in.
    Group,
    /// A Kubernetes service account.
    ServiceAccount,
}

/// What the operator found out about a UserGrant.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::tidy)]
pub struct UserGrantStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Number of tools that the grant reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<i64>,
    /// Accepted, ResolvedRefs and Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
