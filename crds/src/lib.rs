//! The Kubernetes API types of mcc, group `mcc.dev`.
//!
//! Three kinds, all namespaced, category `mcc`: [`Tool`](v1alpha1::Tool), [`ToolGroup`](v1alpha1::ToolGroup) and
//! [`UserGrant`](v1alpha1::UserGrant). `crds/manifests/*.yaml` is generated from them by `cargo xtask generate`.

pub mod pattern;
mod schema;
pub mod v1alpha1;

pub use k8s_openapi;
pub use kube;
