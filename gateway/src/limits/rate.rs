//! Runs a minute, a caller and tool: a bucket of `perMinute` runs that fills evenly (GCRA).

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

/// Buckets kept at the same time. The longest unused goes first, and a bucket unused for a minute is full anyway.
const MAX_BUCKETS: u64 = 100_000;

/// One bucket a caller, tool and limit.
pub(crate) struct RateLimits {
    buckets: Cache<(String, String, u32), Arc<DefaultDirectRateLimiter>>,
    clock: DefaultClock,
}

impl RateLimits {
    pub(crate) fn new() -> Self {
        let buckets = Cache::builder()
            .max_capacity(MAX_BUCKETS)
            .eviction_policy(EvictionPolicy::lru())
            .time_to_idle(Duration::from_secs(2 * 60))
            .build();
        Self { buckets, clock: DefaultClock::default() }
    }

    /// Takes one run out of the bucket; the time to wait if it is empty.
    pub(crate) fn take(&self, caller: &str, tool: &str, per_minute: u32) -> Result<(), Duration> {
        let Some(rate) = NonZeroU32::new(per_minute) else { return Ok(()) };
        // The limit is part of the key: a changed Tool starts with a fresh bucket.
        let key = (caller.to_owned(), tool.to_owned(), per_minute);
        let bucket = self.buckets.get_with(key, || Arc::new(RateLimiter::direct(Quota::per_minute(rate))));
        bucket.check().map_err(|full| full.wait_time_from(self.clock.now()))
    }
}

/// Whole seconds to wait, at least one.
pub(crate) fn seconds(wait: Duration) -> u64 {
    let begun = u64::from(wait.subsec_nanos() > 0);
    (wait.as_secs() + begun).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_a_minute_of_runs_and_is_its_callers_own() {
        let limits = RateLimits::new();
        for _ in 0..3 {
            assert_eq!(limits.take("alice", "a.b", 3), Ok(()));
        }
        let wait = limits.take("alice", "a.b", 3).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(20), "{wait:?}");
        assert_eq!(limits.take("bob", "a.b", 3), Ok(()));
        assert_eq!(limits.take("alice", "a.c", 3), Ok(()));
    }

    #[test]
    fn waits_are_rounded_up() {
        assert_eq!(seconds(Duration::from_millis(1)), 1);
        assert_eq!(seconds(Duration::from_millis(1_001)), 2);
    }
}
