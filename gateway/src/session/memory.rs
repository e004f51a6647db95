//! Scratchpads in memory, for one gateway.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcc_catalog::seam::{SessionBag, SessionChanges, SessionError, SessionKey, SessionStore};
use mcc_catalog::session::applied;
use moka::ops::compute::Op;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

/// Principal of callers without an identity.
const ANONYMOUS: &str = "anonymous";

/// Scratchpads in memory. Those of anonymous callers have a room of their own, so that nobody without an identity can
/// push out what an identified caller keeps; in each room the longest unused goes first when it is full.
pub struct MemorySessions {
    identified: Room,
    anonymous: Room,
}

type Room = Cache<SessionKey, Arc<SessionBag>>;

impl MemorySessions {
    /// Keeps scratchpads for `ttl` after their last write, in at most `bytes` bytes.
    pub fn new(ttl: Duration, bytes: u64) -> Self {
        let room = |bytes| {
            Cache::builder()
                .max_capacity(bytes)
                .eviction_policy(EvictionPolicy::lru())
                .time_to_live(ttl)
                .weigher(|key: &SessionKey, bag: &Arc<SessionBag>| weight(key, bag))
                .build()
        };
        Self { identified: room(bytes / 4 * 3), anonymous: room(bytes / 4) }
    }

    fn room(&self, key: &SessionKey) -> &Room {
        if key.principal == ANONYMOUS { &self.anonymous } else { &self.identified }
    }
}

impl Default for MemorySessions {
    /// 24 hours, 256 MiB.
    fn default() -> Self {
        Self::new(Duration::from_secs(24 * 3600), 256 << 20)
    }
}

/// About the memory of one scratchpad, in bytes.
fn weight(key: &SessionKey, bag: &SessionBag) -> u32 {
    let own = 256 + key.catalog.len() + key.principal.len() + key.handle.len();
    let values: usize = bag.iter().map(|(name, value)| 64 + name.len() + value.to_string().len()).sum();
    u32::try_from(own + values).unwrap_or(u32::MAX)
}

#[async_trait]
impl SessionStore for MemorySessions {
    async fn load(&self, key: &SessionKey) -> Result<SessionBag, SessionError> {
        Ok(self.room(key).get(key).map(|bag| (*bag).clone()).unwrap_or_default())
    }

    async fn apply(&self, key: &SessionKey, changes: &SessionChanges) -> Result<(), SessionError> {
        // The entry is locked meanwhile: two writers of different names both win.
        self.room(key)
            .entry_by_ref(key)
            .and_try_compute_with(|entry| {
                let bag = entry.map(moka::Entry::into_value).unwrap_or_default();
                applied(&bag, changes).map(|after| Op::Put(Arc::new(after)))
            })
            .map(|_| ())
            .map_err(|error| SessionError::TooLarge(error.to_string()))
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), SessionError> {
        self.room(key).invalidate(key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::contract;
    use super::super::contract::{key, set};
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_contract_holds() {
        contract::holds(Arc::new(MemorySessions::default())).await;
    }

    #[tokio::test]
    async fn anonymous_callers_cannot_push_out_the_others() {
        let store = MemorySessions::new(Duration::from_secs(3600), 400_000);
        store.apply(&key("alice", "1"), &set("kept", json!(1))).await.unwrap();
        for n in 0..100 {
            let handle = n.to_string();
            store.apply(&key(ANONYMOUS, &handle), &set("x", json!("x".repeat(10_000)))).await.unwrap();
        }
        store.anonymous.run_pending_tasks();
        assert!(store.anonymous.entry_count() < 100);
        assert_eq!(store.load(&key("alice", "1")).await.unwrap()["kept"], json!(1));
    }

    #[tokio::test]
    async fn values_end_some_time_after_the_last_write() {
        let store = MemorySessions::new(Duration::from_millis(30), 400_000);
        store.apply(&key("alice", "1"), &set("x", json!(1))).await.unwrap();
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert!(store.load(&key("alice", "1")).await.unwrap().is_empty());
    }
}
