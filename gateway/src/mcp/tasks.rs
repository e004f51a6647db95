//! The tasks extension (`io.modelcontextprotocol/tasks`): long runs that a client asks about.
//!
//! A task is a run: its id is the run's, and only the run's owner finds it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, GetTaskResult, Task, TaskPayload, TaskStatus};
use serde_json::{Value, json};

use super::scope::Scope;
use crate::calls::run::{Run, State, said};
use crate::state::Shared;

/// How often a client should ask.
const POLL: Duration = Duration::from_secs(1);

/// What a client first sees of a task.
pub(crate) fn task(shared: &Shared, run: &Run) -> Task {
    let lives = run.limit + shared.config.keep_outcomes;
    let task = Task::new(&run.id, TaskStatus::Working, run.created.to_string(), Timestamp::now().to_string())
        .with_ttl_ms(u64::try_from(lives.as_millis()).unwrap_or(u64::MAX))
        .with_poll_interval_ms(u64::try_from(POLL.as_millis()).unwrap_or(u64::MAX));
    match run.state() {
        State::Working(Some(progress)) => task.with_status_message(said(&progress)),
        _ => task,
    }
}

/// `tasks/get`.
pub(crate) fn get(shared: &Shared, scope: &Scope, id: &str) -> Result<GetTaskResult, ErrorData> {
    let run = find(shared, scope, id)?;
    let payload = match run.finished() {
        _ if run.is_cancelled() => TaskPayload::Cancelled,
        Some(finished) => match serde_json::to_value(finished.to_result()) {
            Ok(Value::Object(result)) => TaskPayload::Completed { result },
            _ => return Err(ErrorData::internal_error("the result can't be told", None)),
        },
        None if run.is_lost() => {
            match json!({"code": -32603, "message": "the gateway failed while the tool ran"}) {
                Value::Object(error) => TaskPayload::Failed { error },
                _ => TaskPayload::Working,
            }
        }
        None => TaskPayload::Working,
    };
    Ok(GetTaskResult::new(DetailedTask::new(task(shared, &run), payload)))
}

/// `tasks/cancel`: kills the tool.
pub(crate) fn cancel(shared: &Shared, scope: &Scope, id: &str) -> Result<(), ErrorData> {
    find(shared, scope, id)?.cancel();
    Ok(())
}

/// `tasks/update`: our tasks ask for nothing, so there is nothing to do but to say whether there is such a task.
pub(crate) fn update(shared: &Shared, scope: &Scope, id: &str) -> Result<(), ErrorData> {
    find(shared, scope, id).map(|_| ())
}

fn find(shared: &Shared, scope: &Scope, id: &str) -> Result<Arc<Run>, ErrorData> {
    shared.calls.find(id, &scope.owner()).ok_or_else(|| {
        ErrorData::invalid_params(
            "there is no such task: it was never yours, or its result is no longer kept",
            None,
        )
    })
}
