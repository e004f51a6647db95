//! The scratchpad: values that a caller keeps between calls.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::SessionChanges;

/// Whose scratchpad: (catalog, principal, handle).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// Name of the catalog.
    pub catalog: String,
    /// Principal of the caller, or `anonymous`.
    pub principal: String,
    /// Legacy MCP session id, a minted handle, or `default` for an authenticated caller without one.
    pub handle: String,
}

/// The values of one scratchpad, by name.
pub type SessionBag = Map<String, Value>;

/// Why a value could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A bound would be passed; the message names it.
    #[error("{0}")]
    TooLarge(String),
    /// The store doesn't answer.
    #[error("session store unavailable: {0}")]
    Unavailable(String),
}

/// Keeps scratchpads for 24 hours after their last write.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// All values; empty if there are none.
    async fn load(&self, key: &SessionKey) -> Result<SessionBag, SessionError>;
    /// Applies changes: all of them or none. Names not mentioned stay as they are, whoever wrote them meanwhile.
    async fn apply(&self, key: &SessionKey, changes: &SessionChanges) -> Result<(), SessionError>;
    /// Forgets a scratchpad; one that doesn't exist is no error.
    async fn delete(&self, key: &SessionKey) -> Result<(), SessionError>;
}
