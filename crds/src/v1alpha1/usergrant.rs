//! The kind `UserGrant`: which tools a user, a group of users or a service account may run.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    doc = "A UserGrant lets a subject see and run tools."
)]
#[serde(rename_all = "camelCase")]
pub struct UserGrantSpec {
    /// Who the grant is for.
    pub subject: Subject,
    /// Address shown by whoami. It is never used to find out who a caller is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Groups whose tools are granted. admin grants every tool; osint.gov.* grants tools whose groups begin osint, gov.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Keys of single tools that are granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Time at which the grant ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// Who a grant is for.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// A user, a group of the identity provider, or a service account.
    #[serde(default)]
    pub kind: SubjectKind,
    /// Name of the user, the group or the service account.
    pub name: String,
    /// Namespace of the service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
