//! Which objects are to be looked at, and when: one queue a kind.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt};
use kube::runtime::scheduler::{ScheduleRequest, scheduler};
use mcc_catalog::model::{ObjectKind, ObjectRef};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// A wish to have an object looked at.
pub(crate) type Request = ScheduleRequest<ObjectRef>;

/// The ends of the queues that wishes go into.
#[derive(Clone)]
pub(crate) struct Queues {
    tools: UnboundedSender<Request>,
    groups: UnboundedSender<Request>,
    grants: UnboundedSender<Request>,
    /// Nobody works for a standby: wishes would only pile up.
    open: Arc<AtomicBool>,
}

/// The ends that are worked from.
pub(crate) struct Inboxes {
    pub tools: UnboundedReceiver<Request>,
    pub groups: UnboundedReceiver<Request>,
    pub grants: UnboundedReceiver<Request>,
}

/// New queues, closed.
pub(crate) fn queues() -> (Queues, Inboxes) {
    let (tools, tools_in) = unbounded_channel();
    let (groups, groups_in) = unbounded_channel();
    let (grants, grants_in) = unbounded_channel();
    let inboxes = Inboxes { tools: tools_in, groups: groups_in, grants: grants_in };
    (Queues { tools, groups, grants, open: Arc::default() }, inboxes)
}

impl Queues {
    /// Whether wishes are taken.
    pub fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::Release);
    }

    /// Has all these objects looked at soon.
    pub fn trigger_all(&self, objects: impl IntoIterator<Item = ObjectRef>) {
        for object in objects {
            self.trigger(object);
        }
    }

    /// Has the object looked at soon.
    pub fn trigger(&self, object: ObjectRef) {
        if !self.open.load(Ordering::Acquire) {
            return;
        }
        let sender = match object.kind {
            ObjectKind::Tool => &self.tools,
            ObjectKind::ToolGroup => &self.groups,
            ObjectKind::UserGrant => &self.grants,
            ObjectKind::Secret | ObjectKind::ConfigMap => return,
        };
        // Without a receiver the program ends.
        let _ = sender.send(ScheduleRequest { message: object, run_at: Instant::now() });
    }
}

/// When an object is to be looked at next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// When something changes.
    OnChange,
    /// After this time, if nothing changes before.
    After(Duration),
}

/// Works off one queue: each object by one worker at a time, at most `concurrency` at once. What is asked for while an
/// object is worked on is done again afterwards. `depth` is told how many objects wait or are worked on. Ends only by
/// being dropped.
pub(crate) async fn work<F>(
    inbox: &mut UnboundedReceiver<Request>,
    concurrency: usize,
    reconcile: impl Fn(ObjectRef) -> F,
    depth: impl Fn(usize),
) where
    F: Future<Output = Next>,
{
    let (again, repeats) = unbounded_channel();
    let waiting: Mutex<HashSet<ObjectRef>> = Mutex::default();
    let waits = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let wishes = futures::stream::select(receive(inbox), receive_owned(repeats)).inspect(|wish: &Request| {
        waits().insert(wish.message.clone());
    });
    let mut schedule = std::pin::pin!(scheduler(wishes));
    let mut running = FuturesUnordered::new();
    let mut active: HashSet<ObjectRef> = HashSet::new();
    loop {
        depth(waits().len() + running.len());
        let mut free = schedule.as_mut().hold_unless(|object: &ObjectRef| !active.contains(object));
        tokio::select! {
            Some((object, next)) = running.next(), if !running.is_empty() => {
                active.remove(&object);
                if let Next::After(delay) = next {
                    let _ = again.send(ScheduleRequest { message: object, run_at: Instant::now() + delay });
                }
            }
            Some(object) = free.next(), if running.len() < concurrency => {
                waits().remove(&object);
                let work = reconcile(object.clone());
                active.insert(object.clone());
                running.push(async move { (object, work.await) });
            }
            else => return,
        }
    }
}

fn receive(inbox: &mut UnboundedReceiver<Request>) -> impl Stream<Item = Request> + '_ {
    futures::stream::poll_fn(|context| inbox.poll_recv(context))
}

fn receive_owned(mut inbox: UnboundedReceiver<Request>) -> impl Stream<Item = Request> {
    futures::stream::poll_fn(move |context| inbox.poll_recv(context))
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
