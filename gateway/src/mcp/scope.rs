//! Who asks, by which connection: what sessions, limits and ownership hang on.

use std::net::IpAddr;
use std::sync::Arc;

use mcc_catalog::model::{Caller, Identity};
use mcc_catalog::seam::SessionKey;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

use crate::http::identity::RequestIdentity;
use crate::session::handle::Handles;

/// Scratchpad of an identified caller who names none.
const DEFAULT_HANDLE: &str = "default";
/// Longest name that an identified caller may give a scratchpad of their own.
const MAX_HANDLE: usize = 128;

/// The caller of one request.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// Who.
    pub caller: Caller,
    /// The principal, or `anonymous`.
    pub principal: Arc<str>,
    /// MCP session of a protocol revision that has them, checked to be the principal's own.
    pub mcp_session: Option<Arc<str>>,
    /// Address of the client.
    pub peer: Option<IpAddr>,
}

impl Scope {
    /// The caller of an HTTP request; `fixed` answers where there is none (stdio).
    pub(crate) fn of(context: &RequestContext<RoleServer>, fixed: Option<&Self>) -> Self {
        if let Some(fixed) = fixed {
            // A connection is the session of the revisions that have sessions; later ones have handles alone.
            let stateless =
                context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
            let mcp_session = fixed.mcp_session.clone().filter(|_| !stateless);
            return Self { mcp_session, ..fixed.clone() };
        }
        let parts = context.extensions.get::<http::request::Parts>();
        match parts.and_then(|parts| parts.extensions.get::<RequestIdentity>()) {
            Some(identity) => Self {
                caller: identity.caller.clone(),
                principal: identity.principal.clone(),
                mcp_session: identity.mcp_session.clone(),
                peer: identity.peer,
            },
            // No identity layer ran: nobody.
            None => Self {
                caller: Caller::Anonymous,
                principal: Caller::Anonymous.principal().into(),
                mcp_session: None,
                peer: None,
            },
        }
    }

    /// The caller as logs name them.
    pub(crate) fn name(&self) -> String {
        self.caller.identity().map_or_else(|| "anonymous".to_owned(), Identity::username)
    }

    /// Whether the caller is nobody in particular.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.caller.identity().is_none()
    }

    /// Who may see a run, its task and its output. Anonymous callers share a principal, so where there is an MCP
    /// session it tells them apart; elsewhere the id of a run, 128 random bits, is what protects it.
    pub(crate) fn owner(&self) -> String {
        match &self.mcp_session {
            Some(session) if self.is_anonymous() => format!("{}\u{1f}{session}", self.principal),
            _ => self.principal.to_string(),
        }
    }

    /// Whose limits count: the principal's, or the address of somebody without one, who could open any number of
    /// sessions.
    pub(crate) fn bucket(&self) -> String {
        match (self.is_anonymous(), self.peer, &self.mcp_session) {
            (true, Some(peer), _) => format!("{}\u{1f}{peer}", self.principal),
            (true, None, Some(session)) => format!("{}\u{1f}{session}", self.principal),
            _ => self.principal.to_string(),
        }
    }

    /// The scratchpad for the handle a call names, if any. `None` within: an anonymous caller without one.
    pub(crate) fn scratchpad(
        &self,
        handle: Option<&str>,
        catalog: &str,
        handles: &Handles,
    ) -> Result<Option<SessionKey>, UnknownHandle> {
        let handle = match (handle, &self.mcp_session) {
            (Some(given), _) if self.may_use(given, handles) => given,
            (Some(given), _) => return Err(UnknownHandle(given.chars().take(MAX_HANDLE).collect())),
            (None, Some(session)) => session,
            (None, None) if self.is_anonymous() => return Ok(None),
            (None, None) => DEFAULT_HANDLE,
        };
        Ok(Some(self.key(handle, catalog)))
    }

    /// The key of a scratchpad of this caller.
    pub(crate) fn key(&self, handle: &str, catalog: &str) -> SessionKey {
        SessionKey {
            catalog: catalog.to_owned(),
            principal: self.principal.to_string(),
            handle: handle.to_owned(),
        }
    }

    /// An identified caller names scratchpads as they like, an anonymous one uses what was made for them.
    fn may_use(&self, handle: &str, handles: &Handles) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        handles.check(handle, &self.principal)
            || self.mcp_session.as_deref() == Some(handle)
            || (!self.is_anonymous() && (1..=MAX_HANDLE).contains(&handle.len()) && handle.bytes().all(plain))
    }
}

/// A session handle that isn't this caller's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unknown session {0:?}: pass the handle that set_session answered, or leave session out")]
pub(crate) struct UnknownHandle(String);

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
