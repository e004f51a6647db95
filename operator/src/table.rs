//! What the API server has of every object, as far as the watches and the operator's own writes tell.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcc_catalog::model::{ObjectKind, ObjectRef};
use mcc_cluster::{Observed, Observer, Status};
use tokio::time::Instant;

use crate::queue::Queues;

/// Time after a write in which older versions, on their way through a watch, count for nothing.
const ECHO: Duration = Duration::from_secs(30);

/// What is known of one object.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub observed: Observed,
    /// The last status that was written, for objects whose own can't be read.
    written: Option<(Status, Instant)>,
    /// Since when the index keeps the Tool waiting.
    pub waiting_since: Option<Instant>,
}

impl Record {
    /// The status that the object has, as far as it is known.
    pub fn status(&self) -> Option<&Status> {
        self.observed.status.as_ref().or(self.written.as_ref().map(|(status, _)| status))
    }
}

/// All objects of the three kinds.
pub(crate) struct Table {
    records: Mutex<HashMap<ObjectRef, Record>>,
    queues: Queues,
}

impl Table {
    pub fn new(queues: Queues) -> Self {
        Self { records: Mutex::default(), queues }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectRef, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of an object; none if it is gone.
    pub fn get(&self, object: &ObjectRef) -> Option<Record> {
        self.lock().get(object).cloned()
    }

    /// All objects of a kind.
    pub fn of_kind(&self, kind: ObjectKind) -> Vec<ObjectRef> {
        self.lock().keys().filter(|object| object.kind == kind).cloned().collect()
    }

    /// Since when the index keeps a Tool waiting: since now, if it hasn't been; `None` ends the wait.
    pub fn waiting(&self, object: &ObjectRef, waits: bool) -> Option<Instant> {
        let mut records = self.lock();
        let record = records.get_mut(object)?;
        record.waiting_since = waits.then(|| record.waiting_since.unwrap_or_else(Instant::now));
        record.waiting_since
    }

    /// Notes a status that was written, and the version that came of it.
    pub fn wrote(&self, object: &ObjectRef, uid: &str, resource_version: String, status: Status) {
        let mut records = self.lock();
        let Some(record) = records.get_mut(object).filter(|record| record.observed.uid == uid) else {
            return;
        };
        if record.observed.status.is_some() && !is_older(&resource_version, &record.observed.resource_version)
        {
            record.observed.status = Some(status.clone());
            record.observed.resource_version = resource_version;
        }
        record.written = Some((status, Instant::now()));
    }
}

impl Observer for Table {
    fn seen(&self, observed: Observed) {
        let mut records = self.lock();
        let object = observed.object.clone();
        let known = records.get(&object).filter(|known| known.observed.uid == observed.uid);
        let (written, waiting_since) = match known {
            Some(known) => {
                let recent = known.written.as_ref().is_some_and(|(_, at)| at.elapsed() < ECHO);
                if recent && is_older(&observed.resource_version, &known.observed.resource_version) {
                    return;
                }
                (known.written.clone(), known.waiting_since)
            }
            None => (None, None),
        };
        let news = known.is_none_or(|known| {
            known.observed.status != observed.status || known.observed.generation != observed.generation
        });
        records.insert(object.clone(), Record { observed, written, waiting_since });
        drop(records);
        if news {
            self.queues.trigger(object);
        }
    }

    fn gone(&self, object: &ObjectRef) {
        self.lock().remove(object);
    }
}

/// Whether version `a` came before `b`. Versions are numbers wherever they are compared at all.
fn is_older(a: &str, b: &str) -> bool {
    matches!((a.parse::<u64>(), b.parse::<u64>()), (Ok(a), Ok(b)) if a < b)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
