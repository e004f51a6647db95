//! Which of several operators writes: the one that holds a Lease.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client};
use kube_lease_manager::LeaseManagerBuilder;
use mcc_cluster::explain;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Time for which a Lease holds without being renewed, in seconds: a standby takes over so long after a leader died.
const HOLDS_SECONDS: u64 = 12;
/// Time before its end at which the leader renews it, in seconds.
const GRACE_SECONDS: u64 = 7;
/// Time between two looks at whether the Lease is still ours.
const LOOK: Duration = Duration::from_secs(2);
/// Time for a look.
const ANSWER: Duration = Duration::from_secs(2);
/// Wait after the Lease could not even be made.
const RETRY: Duration = Duration::from_secs(2);

/// The Lease, and who asks for it.
#[derive(Clone, Debug)]
pub struct LeaseOptions {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Tells this operator from others.
    pub identity: String,
}

/// Competes for the Lease and tells whether it is held, until `stop`; then lets go of it.
///
/// The manager of the Lease renews it, but goes on believing in it when the API server can't be reached. So what it says
/// is checked: whoever hasn't seen the Lease in its own name within its term doesn't lead.
pub(crate) async fn compete(
    client: Client,
    options: LeaseOptions,
    leads: watch::Sender<bool>,
    stop: CancellationToken,
) {
    let api: Api<Lease> = Api::namespaced(client.clone(), &options.namespace);
    let (mut held, manager) = loop {
        let manager = LeaseManagerBuilder::new(client.clone(), &options.name)
            .with_namespace(&options.namespace)
            .with_identity(&options.identity)
            .with_duration(HOLDS_SECONDS)
            .with_grace(GRACE_SECONDS)
            .build();
        match manager.await {
            Ok(manager) => break manager.watch().await,
            Err(error) => {
                tracing::warn!(%error, lease = options.name, namespace = options.namespace, "no Lease; it is tried again");
                tokio::select! {
                    () = sleep(RETRY) => {}
                    () = stop.cancelled() => return,
                }
            }
        }
    };
    let mut seen: Option<Instant> = None;
    loop {
        let ours = if *held.borrow_and_update() { is_ours(&api, &options).await } else { Some(false) };
        seen = match ours {
            Some(true) => Some(Instant::now()),
            Some(false) => None,
            // Nobody answers: the term runs.
            None => seen,
        };
        let lead = seen.is_some_and(|seen| seen.elapsed() < Duration::from_secs(HOLDS_SECONDS - 2));
        leads.send_if_modified(|leads| std::mem::replace(leads, lead) != lead);
        tokio::select! {
            () = sleep(LOOK) => {}
            changed = held.changed() => if changed.is_err() { break },
            () = stop.cancelled() => break,
        }
    }
    // Closing its channel has the manager release the Lease.
    drop(held);
    match timeout(Duration::from_secs(HOLDS_SECONDS), manager).await {
        Ok(Ok(Ok(_))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "the Lease could not be released; it ends by itself"),
        Ok(Err(error)) => tracing::warn!(%error, "the Lease's manager failed; the Lease ends by itself"),
        Err(_) => tracing::warn!("the Lease could not be released in time; it ends by itself"),
    }
}

/// Whether the API server says that the Lease is ours and runs; none if it says nothing.
async fn is_ours(api: &Api<Lease>, options: &LeaseOptions) -> Option<bool> {
    let lease = match timeout(ANSWER, api.get(&options.name)).await {
        Ok(Ok(lease)) => lease,
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => return Some(false),
        Ok(Err(error)) => {
            tracing::debug!(error = explain(&error), "the Lease can't be read");
            return None;
        }
        Err(_) => return None,
    };
    let spec = lease.spec?;
    let renewed = spec.renew_time.map(|time| time.0)?;
    let holds = i64::from(spec.lease_duration_seconds.unwrap_or_default());
    let runs = Timestamp::now().as_second() <= renewed.as_second() + holds;
    Some(runs && spec.holder_identity.as_deref() == Some(&options.identity))
}
