//! Who is calling?

use async_trait::async_trait;

use crate::model::Caller;

/// What a request brought to prove who its caller is.
#[derive(Clone, Default)]
pub struct Credentials {
    /// Token of `Authorization: Bearer`.
    pub bearer: Option<String>,
    /// `X-API-Key`.
    pub api_key: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("bearer", &self.bearer.is_some())
            .field("api_key", &self.api_key.is_some())
            .finish()
    }
}

/// Why a credential was refused.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The credential is wrong, expired or revoked: 401.
    #[error("invalid credential: {0}")]
    Invalid(String),
    /// Whoever could tell doesn't answer: 503.
    #[error("authentication is unavailable: {0}")]
    Unavailable(String),
}

/// Finds out who a caller is.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// `Ok(None)`: these credentials are not of this authenticator's kind, ask the next one.
    /// `Ok(Some(caller))`: this is the caller. An error ends the chain: never a fall to anonymous.
    async fn authenticate(&self, credentials: &Credentials) -> Result<Option<Caller>, AuthError>;
}
