//! One controller: takes objects of one kind from its queue and brings their status up to date.

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::{ObjectKind, ObjectRef};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::context::Context;
use crate::queue::{self, Next, Request};
use crate::status::WriteError;
use crate::{grant, group, tool};

/// Objects of one kind that are worked on at once: as many requests are under way to the API server.
const CONCURRENCY: usize = 32;

/// Works until it is dropped.
pub(crate) async fn run(context: &Arc<Context>, kind: ObjectKind, inbox: &mut UnboundedReceiver<Request>) {
    let depth = |depth| context.metrics.queue(kind, depth);
    queue::work(inbox, CONCURRENCY, |object| reconcile(context.clone(), object), depth).await;
}

async fn reconcile(context: Arc<Context>, object: ObjectRef) -> Next {
    let began = Instant::now();
    let result = match object.kind {
        ObjectKind::Tool => tool::reconcile(&context, &object).await,
        ObjectKind::ToolGroup => group::reconcile(&context, &object).await,
        ObjectKind::UserGrant => grant::reconcile(&context, &object).await,
        ObjectKind::Secret | ObjectKind::ConfigMap => Ok(Next::OnChange),
    };
    context.metrics.reconciled(object.kind, began.elapsed());
    match result {
        Ok(next) => {
            context.backoff.reset(&object);
            next
        }
        Err(error) => failed(&context, &object, &error),
    }
}

/// What becomes of an object whose status could not be written.
fn failed(context: &Context, object: &ObjectRef, error: &WriteError) -> Next {
    context.metrics.failed(object.kind, error.label());
    let wait: Duration = context.backoff.next(object);
    tracing::warn!(%object, %error, retry_ms = wait.as_millis(), "the status could not be written");
    Next::After(wait)
}
