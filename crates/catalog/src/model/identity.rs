//! Who calls.

use std::sync::Arc;

use mcc_crds::v1alpha1::SubjectKind;

/// An authenticated caller (DECISIONS 1: a principal is issuer and subject).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Who vouches for the subject: an OIDC issuer, the cluster, the API keys of this install, `dev`.
    pub issuer: String,
    /// User or ServiceAccount; never Group.
    pub kind: SubjectKind,
    /// Name as UserGrants spell it, the issuer's prefix included. For a ServiceAccount: its name.
    pub name: String,
    /// Namespace of a ServiceAccount.
    pub namespace: Option<String>,
    /// Verified address, if the credential has one.
    pub email: Option<String>,
    /// Groups the identity provider says the subject is in, prefixed. They are matched against subjects of kind
    /// Group only; a claim never is a catalog group.
    pub provider_groups: Vec<String>,
    /// Catalog groups that come with the identity itself: `admin` for the dev user, nothing for everybody else.
    pub builtin_groups: Vec<String>,
}

impl Identity {
    /// Stable text for the pair (issuer, subject), for session keys, caches and idempotency keys.
    pub fn principal(&self) -> String {
        format!("{}\u{1f}{}", self.issuer, self.username())
    }

    /// The name shown by whoami and given to tools: `system:serviceaccount:NS:NAME` for a ServiceAccount.
    pub fn username(&self) -> String {
        match (&self.kind, &self.namespace) {
            (SubjectKind::ServiceAccount, Some(ns)) => format!("system:serviceaccount:{ns}:{}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// The caller of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// Nobody in particular: sees public tools.
    #[default]
    Anonymous,
    /// An authenticated caller.
    Authenticated(Arc<Identity>),
}

impl Caller {
    /// The principal, or `anonymous`, which no principal can be equal to.
    pub fn principal(&self) -> String {
        match self {
            Self::Anonymous => "anonymous".to_owned(),
            Self::Authenticated(identity) => identity.principal(),
        }
    }

    /// The identity, if there is one.
    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Anonymous => None,
            Self::Authenticated(identity) => Some(identity),
        }
    }
}
