//! One run and the register of runs.
//!
//! ```text
//! start ─▶ Run (a task of its own) ─▶ Finished ─▶ kept for repeated calls and tasks
//!   ▲          │ watched by
//!   └ Interest ┴ one a caller that waits; the last one gone kills the run
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use mcc_catalog::seam::{Progress, ProgressSink, Stage};
use moka::sync::Cache;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::finished::Finished;

/// What a run is about: the same idempotency key for something else is refused.
pub(crate) type Fingerprint = [u8; 32];

/// How far a run is.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Not finished; the last thing it reported.
    Working(Option<Progress>),
    /// Finished.
    Done(Finished),
}

/// A run that was started.
pub(crate) struct Run {
    /// `mcc-` and 32 hex digits.
    pub id: String,
    /// Who may see it.
    pub owner: String,
    /// When it was started.
    pub created: Timestamp,
    /// The longest it can take.
    pub limit: Duration,
    fingerprint: Fingerprint,
    state: watch::Receiver<State>,
    cancel: CancellationToken,
    interested: AtomicUsize,
    /// Called with an idempotency key.
    keep: bool,
    task: AtomicBool,
    cancelled: AtomicBool,
}

/// A run to start.
pub(crate) struct NewRun {
    /// `mcc-` and 32 hex digits.
    pub id: String,
    /// Who may see it.
    pub owner: String,
    /// What it is about.
    pub fingerprint: Fingerprint,
    /// Whether its outcome may be asked for again: it has an idempotency key.
    pub keep: bool,
    /// The longest it can take.
    pub limit: Duration,
}

/// What a run last said, in a word where it said nothing.
pub(crate) fn said(progress: &Progress) -> String {
    if !progress.message.is_empty() {
        return progress.message.clone();
    }
    let word = match progress.stage {
        Stage::Pending => "waiting",
        Stage::Starting => "starting",
        Stage::Running => "running",
    };
    word.to_owned()
}

/// What drives a run: owned by the task that executes it.
pub(crate) struct Driver {
    run: Arc<Run>,
    state: watch::Sender<State>,
    calls: Arc<Calls>,
}

/// Somebody waits for a run. When the last one goes, the run is killed.
pub(crate) struct Interest {
    run: Arc<Run>,
}

/// All runs going on, and the outcomes of those that somebody may ask for again.
pub(crate) struct Calls {
    running: Mutex<HashMap<String, Arc<Run>>>,
    done: Cache<String, Arc<Run>>,
}

/// What became of a request to run.
pub(crate) enum Started {
    /// It is new: drive it.
    New(Interest, Driver),
    /// The same call is running or was run.
    Joined(Interest),
    /// The idempotency key was used for another call.
    Conflict,
}

impl Calls {
    /// Keeps outcomes for `keep`, in at most `bytes` bytes.
    pub(crate) fn new(bytes: u64, keep: Duration) -> Arc<Self> {
        let done = Cache::builder()
            .max_capacity(bytes)
            .time_to_live(keep)
            .weigher(|_, run: &Arc<Run>| {
                let weight = run.finished().map_or(0, |finished| finished.weight());
                u32::try_from(weight).unwrap_or(u32::MAX)
            })
            .build();
        Arc::new(Self { running: Mutex::default(), done })
    }

    /// Starts a run, or joins the one of this id.
    pub(crate) fn start(self: &Arc<Self>, new: NewRun) -> Started {
        let NewRun { id, owner, fingerprint, keep, limit } = new;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let known = running.get(&id).cloned().or_else(|| self.done.get(&id));
        // What certainly didn't run may be tried again.
        if let Some(known) = known.filter(|run| run.finished().is_none_or(|finished| finished.ran())) {
            if known.fingerprint != fingerprint || known.owner != owner {
                return Started::Conflict;
            }
            return Started::Joined(Interest::new(&known));
        }
        let (sender, receiver) = watch::channel(State::Working(None));
        let run = Arc::new(Run {
            id: id.clone(),
            owner,
            created: Timestamp::now(),
            limit,
            fingerprint,
            state: receiver,
            cancel: CancellationToken::new(),
            interested: AtomicUsize::new(1),
            keep,
            task: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
        });
        running.insert(id, run.clone());
        let driver = Driver { run: run.clone(), state: sender, calls: self.clone() };
        Started::New(Interest { run }, driver)
    }

    /// Kills everything that runs.
    pub(crate) fn cancel_all(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.values().for_each(|run| run.cancel());
    }

    /// Joins the run of this id if it is known; see [`Calls::start`].
    pub(crate) fn join(&self, id: &str, owner: &str, fingerprint: &Fingerprint) -> Option<Started> {
        let run = self.find(id, owner)?;
        if run.finished().is_some_and(|finished| !finished.ran()) {
            return None;
        }
        Some(if run.fingerprint == *fingerprint {
            Started::Joined(Interest::new(&run))
        } else {
            Started::Conflict
        })
    }

    /// The run or kept outcome of this id, for its owner.
    pub(crate) fn find(&self, id: &str, owner: &str) -> Option<Arc<Run>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        running.or_else(|| self.done.get(id)).filter(|run| run.owner == owner)
    }
}

impl Run {
    /// How far it is.
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// The answer, if there is one.
    pub(crate) fn finished(&self) -> Option<Finished> {
        match &*self.state.borrow() {
            State::Done(finished) => Some(finished.clone()),
            State::Working(_) => None,
        }
    }

    /// Kills the run.
    pub(crate) fn cancel(&self) {
        if self.finished().is_none() {
            self.cancelled.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }

    /// Whether somebody asked for its end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether it broke without an answer.
    pub(crate) fn is_lost(&self) -> bool {
        self.state.has_changed().is_err() && self.finished().is_none()
    }
}

impl Driver {
    /// The run.
    pub(crate) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Fires when the run has to end.
    pub(crate) fn cancel_token(&self) -> CancellationToken {
        self.run.cancel.clone()
    }

    /// Publishes the answer.
    pub(crate) fn finish(self, finished: Finished) {
        let keep = self.run.task.load(Ordering::Acquire) || (self.run.keep && finished.ran());
        self.state.send_replace(State::Done(finished));
        if keep {
            // Before the register forgets it (on drop), so that no moment is without it.
            self.calls.done.insert(self.run.id.clone(), self.run.clone());
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.calls.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run.id);
    }
}

impl ProgressSink for Driver {
    fn report(&self, progress: Progress) {
        self.state.send_replace(State::Working(Some(progress)));
    }
}

impl Interest {
    /// One more who waits, even for a run that is being killed: it is never run twice.
    fn new(run: &Arc<Run>) -> Self {
        run.interested.fetch_add(1, Ordering::AcqRel);
        Self { run: run.clone() }
    }

    /// The run.
    pub(crate) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Follows the run.
    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.run.state.clone()
    }

    /// Lets the run go on without anybody waiting: it became a task, which only its owner ends.
    pub(crate) fn into_task(self) -> Arc<Run> {
        self.run.task.store(true, Ordering::Release);
        // One that is never given back.
        self.run.interested.fetch_add(1, Ordering::AcqRel);
        self.run.clone()
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        if self.run.interested.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.run.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use mcc_catalog::output::Answer;

    use super::*;

    fn calls() -> Arc<Calls> {
        Calls::new(1 << 20, Duration::from_secs(60))
    }

    fn done(id: &str) -> Finished {
        let answer = Answer { text: "out".into(), structured: None, is_error: false, cut: false };
        Finished::new(id, answer, Vec::new(), true)
    }

    fn start(calls: &Arc<Calls>, fingerprint: u8) -> Started {
        calls.start(NewRun {
            id: "mcc-1".into(),
            owner: "alice".into(),
            fingerprint: [fingerprint; 32],
            keep: true,
            limit: Duration::from_secs(30),
        })
    }

    #[test]
    fn duplicates_join_and_get_the_same_answer() {
        let calls = calls();
        let Started::New(first, driver) = start(&calls, 1) else { panic!("the first is new") };
        let Started::Joined(second) = start(&calls, 1) else { panic!("the second joins") };
        assert!(matches!(start(&calls, 2), Started::Conflict));
        driver.finish(done("mcc-1"));
        assert!(first.run().finished().is_some() && second.run().finished().is_some());
        drop((first, second));
        let Started::Joined(third) = start(&calls, 1) else { panic!("the outcome is kept") };
        assert!(third.run().finished().is_some());
        assert!(matches!(start(&calls, 2), Started::Conflict));
    }

    #[test]
    fn a_run_ends_when_the_last_one_goes() {
        let calls = calls();
        let Started::New(first, driver) = start(&calls, 1) else { panic!("the first is new") };
        let Started::Joined(second) = start(&calls, 1) else { panic!("the second joins") };
        drop(first);
        assert!(!driver.cancel_token().is_cancelled());
        drop(second);
        assert!(driver.cancel_token().is_cancelled());
    }

    #[test]
    fn a_task_runs_on_without_anybody() {
        let calls = calls();
        let Started::New(interest, driver) = start(&calls, 1) else { panic!("the first is new") };
        let run = interest.into_task();
        assert!(!driver.cancel_token().is_cancelled());
        driver.finish(done("mcc-1"));
        assert!(calls.find("mcc-1", "alice").is_some());
        assert!(calls.find("mcc-1", "bob").is_none());
        run.cancel();
    }

    #[test]
    fn what_did_not_run_is_not_kept() {
        let calls = calls();
        let Started::New(_first, driver) = start(&calls, 1) else { panic!("the first is new") };
        let answer = Answer { text: "busy".into(), structured: None, is_error: true, cut: false };
        driver.finish(Finished::new("mcc-1", answer, Vec::new(), false));
        assert!(matches!(start(&calls, 2), Started::New(..)));
    }

    #[test]
    fn a_driver_that_breaks_leaves_nothing() {
        let calls = calls();
        let Started::New(interest, driver) = start(&calls, 1) else { panic!("the first is new") };
        drop(driver);
        assert!(interest.run().is_lost());
        assert!(calls.find("mcc-1", "alice").is_none());
    }
}
