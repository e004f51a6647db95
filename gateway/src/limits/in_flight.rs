//! Runs at the same time: a bound for all, and one a caller. A call beyond them is refused at once, never queued, so
//! that a caller can't hold connections for work that hasn't begun.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The bounds and who runs what.
pub(crate) struct InFlight {
    total: usize,
    per_caller: usize,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    total: usize,
    by_caller: HashMap<String, usize>,
}

/// Why a call can't start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Busy {
    /// All places are taken.
    #[error("too many calls are running ({0}): try again when some have finished")]
    Everywhere(usize),
    /// All places of this caller are taken.
    #[error("you have {0} calls running, which is the most allowed: wait for one to finish, then call again")]
    Caller(usize),
}

/// A place, given back when dropped.
pub(crate) struct Place {
    owner: Arc<InFlight>,
    caller: String,
}

impl InFlight {
    pub(crate) fn new(total: usize, per_caller: usize) -> Arc<Self> {
        Arc::new(Self { total, per_caller, running: Mutex::default() })
    }

    /// Takes a place for a run of `caller`.
    pub(crate) fn enter(self: &Arc<Self>, caller: &str) -> Result<Place, Busy> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.total >= self.total {
            return Err(Busy::Everywhere(self.total));
        }
        let own = running.by_caller.entry(caller.to_owned()).or_default();
        if *own >= self.per_caller {
            return Err(Busy::Caller(self.per_caller));
        }
        *own += 1;
        running.total += 1;
        Ok(Place { owner: self.clone(), caller: caller.to_owned() })
    }

    /// Runs at this moment.
    pub(crate) fn total(&self) -> usize {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).total
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = self.owner.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.total -= 1;
        if let Some(own) = running.by_caller.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                running.by_caller.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let limits = InFlight::new(3, 2);
        let first = limits.enter("alice").ok().unwrap();
        let _second = limits.enter("alice").ok().unwrap();
        assert_eq!(limits.enter("alice").err(), Some(Busy::Caller(2)));
        let _third = limits.enter("bob").ok().unwrap();
        assert_eq!(limits.enter("carol").err(), Some(Busy::Everywhere(3)));
        drop(first);
        assert!(limits.enter("alice").is_ok());
        assert_eq!(limits.total(), 2);
    }

    #[test]
    fn callers_without_a_run_leave_no_trace() {
        let limits = InFlight::new(3, 2);
        drop(limits.enter("alice"));
        assert!(limits.running.lock().unwrap().by_caller.is_empty());
    }
}
