//! Identities for one machine: everybody who reaches the gateway is the same caller.

use std::sync::Arc;

use async_trait::async_trait;
use mcc_catalog::model::{ADMIN, Caller, Identity};
use mcc_catalog::seam::{AuthError, Authenticator, Credentials};
use mcc_crds::v1alpha1::SubjectKind;

/// Issuer of the identities that `mcc up` makes.
pub const DEV_ISSUER: &str = "dev";

/// Answers one caller, whatever a request brings.
#[derive(Clone, Debug)]
pub struct DevAuthenticator {
    caller: Caller,
}

impl DevAuthenticator {
    /// User `dev`, who reaches every tool.
    pub fn admin() -> Self {
        Self::identity("dev", Vec::new(), vec![ADMIN.to_owned()])
    }

    /// User `name` with the grants of the manifests; `claims` are what an identity provider would say the user's
    /// groups are, matched against subjects of kind Group only.
    pub fn user(name: &str, claims: Vec<String>) -> Self {
        Self::identity(name, claims, Vec::new())
    }

    /// Nobody: public tools only.
    pub fn anonymous() -> Self {
        Self { caller: Caller::Anonymous }
    }

    /// The caller that every request gets.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    fn identity(name: &str, provider_groups: Vec<String>, builtin_groups: Vec<String>) -> Self {
        let identity = Identity {
            issuer: DEV_ISSUER.to_owned(),
            kind: SubjectKind::User,
            name: name.to_owned(),
            namespace: None,
            email: None,
            provider_groups,
            builtin_groups,
        };
        Self { caller: Caller::Authenticated(Arc::new(identity)) }
    }
}

#[async_trait]
impl Authenticator for DevAuthenticator {
    async fn authenticate(&self, _: &Credentials) -> Result<Option<Caller>, AuthError> {
        Ok(Some(self.caller.clone()))
    }
}
