//! From a checked call to a run.
//!
//! ```text
//! idempotency key known? ─▶ rate ─▶ session ─▶ cached? ─▶ place ─▶ prepare ─▶ run, in a task of its own ─▶ write-back
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcc_catalog::invoke::{PrepareError, prepare};
use mcc_catalog::model::CompiledTool;
use mcc_catalog::output;
use mcc_catalog::seam::{Ending, Invocation, Outcome, SessionKey};
use mcc_catalog::session::{check_write_back, visible};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::finished::Finished;
use super::run::{Driver, Fingerprint, Interest, NewRun, Started};
use crate::limits::cache::{self, ResultKey, canonical};
use crate::limits::in_flight::Place;
use crate::limits::rate;
use crate::mcp::scope::Scope;
use crate::mcp::set_session::{failure, handle_line};
use crate::mcp::view::View;
use crate::session::handle::hex;
use crate::state::Shared;

/// A call that may be made: the tool is the caller's to run, the arguments are valid.
pub(crate) struct Call {
    pub tool: Arc<CompiledTool>,
    pub view: Arc<View>,
    pub arguments: Map<String, Value>,
    /// None: an anonymous caller without a session.
    pub scratchpad: Option<SessionKey>,
    /// As the client gave it.
    pub idempotency_key: Option<String>,
}

/// What became of a call.
pub(crate) enum Outset {
    /// It runs.
    Run(Interest),
    /// There is a cached result.
    Cached(Finished),
    /// It wasn't started; what the caller is told.
    Refused(String),
}

/// Starts a call, or finds what it would answer.
pub(crate) async fn start(shared: &Arc<Shared>, scope: &Scope, call: Call) -> Outset {
    let key = call.tool.key.clone();
    let id = execution_id(&shared.config.catalog, scope, call.idempotency_key.as_deref());
    let fingerprint = fingerprint(&call);
    if call.idempotency_key.is_some()
        && let Some(known) = shared.calls.join(&id, &scope.owner(), &fingerprint)
    {
        return joined(known);
    }
    if let Some(per_minute) = call.tool.rate_per_minute
        && let Err(wait) = shared.rates.take(&scope.bucket(), &key, per_minute)
    {
        shared.metrics.call(&key, "rate_limited");
        return Outset::Refused(format!(
            "Rate limit exceeded for {key} — retry in {}s.",
            rate::seconds(wait)
        ));
    }
    match begin(shared, scope, call, id, fingerprint).await {
        Ok(outset) => outset,
        Err((outcome, reason)) => {
            shared.metrics.call(&key, outcome);
            Outset::Refused(reason)
        }
    }
}

async fn begin(
    shared: &Arc<Shared>,
    scope: &Scope,
    call: Call,
    id: String,
    fingerprint: Fingerprint,
) -> Result<Outset, (&'static str, String)> {
    let Call { tool, view, arguments, scratchpad, idempotency_key } = call;
    let bag = match &scratchpad {
        Some(key) => shared.sessions.load(key).await.map_err(|error| ("unavailable", failure(&error)))?,
        None => Map::new(),
    };
    let session = visible(&tool, &bag, &view.access);
    let cached = cache::key(&tool, &scope.principal, &arguments, &session);
    if let Some((key, _)) = &cached
        && let Some(result) = shared.results.get(key)
    {
        shared.metrics.call(&tool.key, "cached");
        return Ok(Outset::Cached(result));
    }
    let place =
        shared.in_flight.enter(&scope.bucket()).map_err(|busy| ("busy", format!("Not started: {busy}.")))?;
    let invocation = prepare(id.clone(), tool.clone(), view.catalog.clone(), arguments, session)
        .map_err(|error| ("invalid", unprepared(&tool.key, &error)))?;
    let keep = idempotency_key.is_some();
    let run = NewRun { id, owner: scope.owner(), fingerprint, keep, limit: tool.limits.timeout };
    Ok(match shared.calls.start(run) {
        Started::New(interest, driver) => {
            let job = Job { shared: shared.clone(), scope: scope.clone(), tool, scratchpad, cached, place };
            tokio::spawn(job.run(driver, invocation));
            Outset::Run(interest)
        }
        known => joined(known),
    })
}

fn joined(known: Started) -> Outset {
    match known {
        Started::New(interest, _) | Started::Joined(interest) => Outset::Run(interest),
        Started::Conflict => Outset::Refused(
            "Not started: this idempotency key was used for another tool or other arguments. Use a new key for a new \
             call."
                .to_owned(),
        ),
    }
}

fn unprepared(key: &str, error: &PrepareError) -> String {
    match error {
        PrepareError::Invalid(errors) => format!("Validation error for tool '{key}': {errors}"),
        PrepareError::Template(_) | PrepareError::TooLarge { .. } => format!("Not started: {error}."),
    }
}

/// `mcc-` and 32 hex digits: of the key within the catalog and the caller's realm, or random (DECISIONS 7).
fn execution_id(catalog: &str, scope: &Scope, idempotency_key: Option<&str>) -> String {
    let Some(key) = idempotency_key else { return format!("mcc-{}", hex(&rand::random::<[u8; 16]>())) };
    // Anonymous callers share a principal: another one's key must not lead to their results.
    let realm = if scope.is_anonymous() {
        format!("{}\u{1f}{}", scope.owner(), scope.bucket())
    } else {
        scope.owner()
    };
    let digest: [u8; 32] = digest(&[catalog.as_bytes(), realm.as_bytes(), key.as_bytes()]);
    format!("mcc-{}", hex(&digest[..16]))
}

fn fingerprint(call: &Call) -> Fingerprint {
    let handle = call.scratchpad.as_ref().map(|key| key.handle.as_str()).unwrap_or_default();
    digest(&[call.tool.key.as_bytes(), canonical(&call.arguments).to_string().as_bytes(), handle.as_bytes()])
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Everything a run needs until its answer is out.
struct Job {
    shared: Arc<Shared>,
    scope: Scope,
    tool: Arc<CompiledTool>,
    scratchpad: Option<SessionKey>,
    cached: Option<(ResultKey, Duration)>,
    place: Place,
}

impl Job {
    async fn run(self, driver: Driver, invocation: Invocation) {
        let started = Instant::now();
        let mut outcome = self.shared.executor.execute(invocation, &driver, driver.cancel_token()).await;
        let notes = self.write_back(&mut outcome).await;
        let id = driver.run().id.clone();
        let answer = output::answer(&outcome, &id, self.tool.limits.output_bytes);
        let label = label(&outcome.ending);
        self.shared.metrics.call(&self.tool.key, label);
        self.shared.metrics.call_seconds.observe(started.elapsed().as_secs_f64());
        tracing::info!(
            caller = %self.scope.name(),
            tool = %self.tool.key,
            execution = %id,
            outcome = label,
            startup_ms = outcome.startup.as_millis(),
            duration_ms = outcome.duration.as_millis(),
            "executed"
        );
        if answer.cut {
            let output = outcome.result.unwrap_or(outcome.stdout);
            self.shared.outputs.keep(&id, &driver.run().owner, output);
        }
        let ran = !matches!(outcome.ending, Ending::Refused(_));
        let finished = Finished::new(&id, answer, notes, ran);
        if let Some((key, lives)) = self.cached
            && finished.succeeded()
        {
            self.shared.results.put(key, finished.clone(), lives);
        }
        // The place first: whoever has the answer may call again at once.
        drop(self.place);
        driver.finish(finished);
    }

    /// Applies what the tool changed in the session, after success; what the caller should know of it.
    async fn write_back(&self, outcome: &mut Outcome) -> Vec<String> {
        let changes = std::mem::take(&mut outcome.session);
        if outcome.ending != Ending::Exited(0) {
            return Vec::new();
        }
        if let Some(problem) = outcome.session_problem.take() {
            return vec![format!("The session is unchanged: {problem}.")];
        }
        if changes.is_empty() {
            return Vec::new();
        }
        let changes = match check_write_back(&self.tool, changes) {
            Ok(changes) if changes.is_empty() => return Vec::new(),
            Ok(changes) => changes,
            Err(error) => return vec![format!("The session is unchanged: {error}.")],
        };
        let (key, minted) = match &self.scratchpad {
            Some(key) => (key.clone(), None),
            None => self.shared.open_scratchpad(&self.scope),
        };
        match self.shared.sessions.apply(&key, &changes).await {
            Ok(()) => minted
                .map(|handle| {
                    format!("The tool kept values in a session. {}", handle_line(&self.shared.names, &handle))
                })
                .into_iter()
                .collect(),
            Err(error) => vec![format!("The session is unchanged. {}", failure(&error))],
        }
    }
}

/// Bounded label of a metric and of the log.
fn label(ending: &Ending) -> &'static str {
    match ending {
        Ending::Exited(0) => "ok",
        Ending::Exited(_) => "failed",
        Ending::Signaled(_) => "signaled",
        Ending::TimedOut(_) => "timed_out",
        Ending::Cancelled => "cancelled",
        Ending::OutOfMemory => "out_of_memory",
        Ending::Refused(_) => "refused",
        Ending::Unknown(_) => "unknown",
    }
}
