//! Kubernetes Events: what a person should see of a change, beside the object's conditions.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use mcc_cluster::{Observed, explain};
use mcc_crds::v1alpha1::API_VERSION;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::conditions::{ACCEPTED, INDEXED, READY, RESOLVED_REFS, cut, reason};

/// Events that wait to be written; beyond them Events are lost, never statuses.
const WAITING: usize = 1024;
/// Longest note of an Event, in bytes: the bound of the API server.
const LONGEST: usize = 1024;

/// Takes changes of conditions.
#[derive(Clone)]
pub(crate) struct Events {
    sender: Sender<(ObjectReference, Event)>,
}

/// Writes what was taken.
pub(crate) struct EventWriter {
    recorder: Recorder,
    receiver: Receiver<(ObjectReference, Event)>,
}

impl Events {
    /// Both ends. `instance` tells one operator from another.
    pub fn new(client: Client, instance: String) -> (Self, EventWriter) {
        let (sender, receiver) = channel(WAITING);
        let reporter = Reporter { controller: "mcc-operator".to_owned(), instance: Some(instance) };
        (Self { sender }, EventWriter { recorder: Recorder::new(client, reporter), receiver })
    }

    /// Tells people what has changed in an object's conditions, if it is something to see: that it was refused, ended
    /// or misses something, and that it healed. That all is well from the start is no news.
    pub fn changed(&self, observed: &Observed, before: &[Condition], after: &[Condition]) {
        for condition in after {
            let known = before.iter().find(|known| known.type_ == condition.type_);
            let Some(type_) = news(known, condition) else { continue };
            let event = Event {
                type_,
                reason: condition.reason.clone(),
                note: Some(cut(condition.message.clone(), LONGEST)),
                action: "Reconcile".to_owned(),
                secondary: None,
            };
            let name = &observed.object.name;
            let reference = ObjectReference {
                api_version: Some(API_VERSION.to_owned()),
                kind: Some(observed.object.kind.to_string()),
                namespace: Some(name.namespace.clone()),
                name: Some(name.name.clone()),
                uid: Some(observed.uid.clone()),
                ..ObjectReference::default()
            };
            if self.sender.try_send((reference, event)).is_err() {
                tracing::debug!(object = %observed.object, "an Event is left out: too many wait");
            }
        }
    }
}

/// Whether a change of a condition is news, and of which kind.
fn news(before: Option<&Condition>, after: &Condition) -> Option<EventType> {
    let told = match after.type_.as_str() {
        ACCEPTED => true,
        // An index that is away is one fault, not one of each Tool.
        INDEXED => after.reason == reason::INDEX_REFUSED,
        RESOLVED_REFS => after.reason != reason::NOT_ACCEPTED,
        // Everything else that Ready says another condition has said.
        READY => after.reason == mcc_catalog::model::Reason::GrantExpired.to_string(),
        _ => false,
    };
    if !told {
        return None;
    }
    let same = before.is_some_and(|before| before.status == after.status && before.reason == after.reason);
    match (after.status.as_str(), before) {
        ("False", _) if !same => Some(EventType::Warning),
        ("True", Some(before)) if before.status == "False" => Some(EventType::Normal),
        _ => None,
    }
}

impl EventWriter {
    /// Writes one Event after the other. A failure costs the Event.
    pub async fn run(mut self) {
        while let Some((reference, event)) = self.receiver.recv().await {
            if let Err(error) = self.recorder.publish(&event, &reference).await {
                tracing::debug!(error = explain(&error), "an Event could not be written");
            }
        }
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
