//! Version `v1alpha1` of the API.

#![expect(clippy::duplicated_attributes, reason = "the columns of kubectl get share types and priorities")]

mod param;
mod program;
mod run;
mod session;
mod tool;
mod toolgroup;
mod usergrant;

pub use param::*;
pub use program::*;
pub use run::*;
pub use session::*;
pub use tool::*;
pub use toolgroup::*;
pub use usergrant::*;

/// The API group of all kinds.
pub const GROUP: &str = "mcc.dev";
/// The API version of this module's kinds.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` as manifests spell it.
pub const API_VERSION: &str = "mcc.dev/v1alpha1";
