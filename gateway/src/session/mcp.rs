//! MCP sessions of the protocol revisions that have them (before 2026-07-28).
//!
//! ```text
//! rmcp ─▶ BoundSessions ─▶ LocalSessionManager
//!            │ who owns a session, when it was last used, what is open in it
//!            ▼
//!          reaper: ends what is idle; a full house ends the longest idle
//! ```
//!
//! rmcp's manager knows neither owners nor an end of idle sessions that still have a client, and its own idle timer
//! ignores calls in flight, so it is switched off and replaced by the one here.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use tokio_util::sync::CancellationToken;

/// rmcp's sessions, each bound to the principal that opened it, and bounded in number and idleness.
pub(crate) struct BoundSessions {
    inner: LocalSessionManager,
    table: Arc<Mutex<HashMap<SessionId, Entry>>>,
    max: usize,
}

struct Entry {
    /// Principal; none until the answer to `initialize` is on its way.
    owner: Option<String>,
    last_used: Instant,
    /// Calls in flight and open streams.
    open: usize,
    /// Cancelled when the session ends.
    end: CancellationToken,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// Whose session an id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// The principal's own.
    Own,
    /// Another principal's.
    Foreign,
    /// There is none, or no more.
    Unknown,
}

/// Something is going on in a session: it isn't idle.
pub(crate) struct Busy {
    end: CancellationToken,
    table: Arc<Mutex<HashMap<SessionId, Entry>>>,
    id: SessionId,
}

impl BoundSessions {
    /// At most `max` sessions.
    pub(crate) fn new(max: usize) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = None;
        Self { inner, table: Arc::default(), max }
    }

    /// Whose session `id` is, seen by `principal`.
    pub(crate) fn ownership(&self, id: &str, principal: &str) -> Ownership {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        match table.get(id) {
            None => Ownership::Unknown,
            Some(entry) if entry.owner.as_deref() == Some(principal) => Ownership::Own,
            Some(_) => Ownership::Foreign,
        }
    }

    /// Binds a session that was just opened to its principal.
    pub(crate) fn bind(&self, id: &str, principal: &str) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = table.get_mut(id) {
            entry.owner.get_or_insert_with(|| principal.to_owned());
        }
    }

    /// Marks a session as busy until the guard is dropped.
    pub(crate) fn busy(&self, id: &str) -> Busy {
        let id = SessionId::from(id);
        change(&self.table, &id, 1);
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that is its own session (stdio) isn't in the table.
        let end = table.get(&id).map(|entry| entry.end.clone()).unwrap_or_default();
        Busy { end, table: self.table.clone(), id }
    }

    /// Open sessions.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Ends the sessions in which nothing happened for `idle`; their ids.
    pub(crate) async fn reap(&self, idle: Duration) -> Vec<SessionId> {
        let ended: Vec<SessionId> = {
            let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            let old = |entry: &Entry| entry.open == 0 && entry.last_used.elapsed() >= idle;
            table.iter().filter(|(_, entry)| old(entry)).map(|(id, _)| id.clone()).collect()
        };
        for id in &ended {
            self.end(id).await;
        }
        ended
    }

    async fn end(&self, id: &SessionId) {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Err(error) = self.inner.close_session(id).await {
            tracing::debug!(%error, "a session could not be closed");
        }
    }

    /// The session to end when one more is opened than there may be: the longest idle, never one in use.
    fn surplus(&self) -> Option<SessionId> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() < self.max {
            return None;
        }
        let idle = table.iter().filter(|(_, entry)| entry.open == 0);
        idle.min_by_key(|(_, entry)| entry.last_used).map(|(id, _)| id.clone())
    }
}

/// Opens (`+1`) or closes (`-1`) something in a session.
fn change(table: &Mutex<HashMap<SessionId, Entry>>, id: &SessionId, by: isize) {
    let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = table.get_mut(id) {
        entry.open = entry.open.saturating_add_signed(by);
        entry.last_used = Instant::now();
    }
}

impl Busy {
    /// Resolves when the session has ended.
    pub(crate) async fn ended(&self) {
        self.end.cancelled().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        change(&self.table, &self.id, -1);
    }
}

impl SessionManager for BoundSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        if let Some(oldest) = self.surplus() {
            tracing::info!("too many MCP sessions: the longest idle one ends");
            self.end(&oldest).await;
        }
        let (id, transport) = self.inner.create_session().await?;
        let entry = Entry { owner: None, last_used: Instant::now(), open: 0, end: CancellationToken::new() };
        self.table.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), entry);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        change(&self.table, id, 0);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        Ok(Guarded { inner: Box::pin(self.inner.create_stream(id, message).await?), _busy: busy })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        Ok(Guarded { inner: Box::pin(self.inner.create_standalone_stream(id).await?), _busy: busy })
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        Ok(Guarded { inner: Box::pin(self.inner.resume(id, last_event_id).await?), _busy: busy })
    }
}

/// A stream that keeps its session from being idle.
struct Guarded<S> {
    inner: Pin<Box<S>>,
    _busy: Busy,
}

impl<S: Stream> Stream for Guarded<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.inner.as_mut().poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_belongs_to_who_opened_it() {
        let sessions = BoundSessions::new(8);
        let (id, _transport) = sessions.create_session().await.unwrap();
        assert_eq!(sessions.ownership(&id, "alice"), Ownership::Foreign, "nobody's until it is bound");
        sessions.bind(&id, "alice");
        sessions.bind(&id, "mallory");
        assert_eq!(sessions.ownership(&id, "alice"), Ownership::Own);
        assert_eq!(sessions.ownership(&id, "mallory"), Ownership::Foreign);
        assert_eq!(sessions.ownership("made-up", "alice"), Ownership::Unknown);
        sessions.close_session(&id).await.unwrap();
        assert_eq!(sessions.ownership(&id, "alice"), Ownership::Unknown);
    }

    #[tokio::test]
    async fn idle_sessions_end_and_busy_ones_do_not() {
        let sessions = BoundSessions::new(8);
        let (idle, _one) = sessions.create_session().await.unwrap();
        let (working, _two) = sessions.create_session().await.unwrap();
        let busy = sessions.busy(&working);
        assert_eq!(sessions.reap(Duration::ZERO).await, vec![idle.clone()]);
        assert!(!sessions.has_session(&idle).await.unwrap());
        drop(busy);
        assert_eq!(sessions.reap(Duration::from_secs(3600)).await, Vec::<SessionId>::new());
        assert_eq!(sessions.reap(Duration::ZERO).await, vec![working]);
        assert_eq!(sessions.len(), 0);
    }

    #[tokio::test]
    async fn one_too_many_ends_the_longest_idle() {
        let sessions = BoundSessions::new(2);
        let (first, _one) = sessions.create_session().await.unwrap();
        let (second, _two) = sessions.create_session().await.unwrap();
        let busy = sessions.busy(&first);
        let (third, _three) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        assert!(!sessions.has_session(&second).await.unwrap());
        assert!(sessions.has_session(&third).await.unwrap());
        drop(busy);
    }
}
