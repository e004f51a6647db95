//! Waiting for a run: its progress goes to the client, a cancel to the run, and a long one becomes a task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::RequestContext;
use tokio::time::{Instant as Deadline, sleep_until};

use super::scope::Scope;
use super::{answer, tasks};
use crate::calls::run::{Interest, State, said};
use crate::state::Shared;

/// Further than any timer in use.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Waits for the end of a run, or for what comes before it.
pub(crate) async fn follow(
    shared: &Arc<Shared>,
    scope: &Scope,
    interest: Interest,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    // Its session must not be taken for idle meanwhile.
    let busy = scope.mcp_session.as_deref().map(|id| shared.mcp_sessions.busy(id));
    let ended = async {
        match &busy {
            Some(busy) => busy.ended().await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(ended);
    let takes_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
    let mut reporter = Reporter::new(shared, context);
    let mut state = interest.watch();
    let task_at = Deadline::now() + if takes_tasks { shared.config.task_after } else { NEVER };
    loop {
        let current = state.borrow_and_update().clone();
        if let State::Done(finished) = current {
            return finished.to_result().into();
        }
        reporter.news(&current);
        tokio::select! {
            changed = state.changed() => if changed.is_err() && interest.run().finished().is_none() {
                tracing::error!(execution = %interest.run().id, "a run broke without an answer");
                return refused("The gateway failed while the tool ran; it may have run. Look before you repeat it.");
            },
            () = context.ct.cancelled() => {
                // Dropping the interest kills the run, unless somebody else waits for it.
                return refused("Cancelled.");
            }
            // Its client has ended the session.
            () = &mut ended => return refused("Cancelled."),
            () = sleep_until(task_at) => {
                let run = interest.into_task();
                let task = tasks::task(shared, &run);
                return CreateTaskResult::new(task).into();
            }
            () = sleep_until(reporter.due) => reporter.report(context).await,
        }
    }
}

fn refused(text: &str) -> CallToolResponse {
    CallToolResult::from(answer::refused(text)).into()
}

/// Sends progress notifications to a client that asked for them: none for quick runs, each change of a long one, and
/// one now and then for a quiet one, so that no client's or proxy's timer ends it.
struct Reporter {
    token: Option<ProgressToken>,
    started: Instant,
    interval: Duration,
    due: Deadline,
    message: String,
    first: bool,
}

impl Reporter {
    fn new(shared: &Shared, context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        let first = if token.is_some() { shared.config.progress_after } else { NEVER };
        Self {
            token,
            started: Instant::now(),
            interval: shared.config.progress_interval,
            due: Deadline::now() + first,
            message: String::new(),
            first: true,
        }
    }

    /// Takes what the run last said; if that is new, it is told soon.
    fn news(&mut self, state: &State) {
        let State::Working(Some(progress)) = state else { return };
        let message = said(progress);
        if message != self.message {
            self.message = message;
            if self.token.is_some() && !self.first {
                self.due = Deadline::now();
            }
        }
    }

    async fn report(&mut self, context: &RequestContext<RoleServer>) {
        self.first = false;
        self.due = Deadline::now() + self.interval;
        let Some(token) = self.token.clone() else { return };
        let elapsed = self.started.elapsed().as_secs_f64();
        let message = if self.message.is_empty() { "running" } else { &self.message };
        let params = ProgressNotificationParam::new(token, (elapsed * 10.0).round() / 10.0)
            .with_message(format!("{message}, {elapsed:.0} s"));
        if let Err(error) = context.peer.notify_progress(params).await {
            tracing::debug!(%error, "progress was not delivered");
        }
    }
}
