//! Results of tools that say how long theirs hold. Only successes, bounded in bytes.

use std::time::{Duration, Instant};

use mcc_catalog::model::CompiledTool;
use mcc_catalog::seam::SessionBag;
use mcc_catalog::session::is_reserved;
use mcc_crds::v1alpha1::CacheScope;
use moka::Expiry;
use moka::sync::Cache;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::calls::finished::Finished;

/// What a cached result depends on.
pub(crate) type ResultKey = [u8; 32];

/// The cached results.
pub(crate) struct ResultCache {
    results: Cache<ResultKey, Entry>,
}

#[derive(Clone)]
struct Entry {
    result: Finished,
    lives: Duration,
}

struct OwnLifetime;

impl Expiry<ResultKey, Entry> for OwnLifetime {
    fn expire_after_create(&self, _: &ResultKey, entry: &Entry, _: Instant) -> Option<Duration> {
        Some(entry.lives)
    }

    fn expire_after_update(
        &self,
        _: &ResultKey,
        entry: &Entry,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(entry.lives)
    }
}

impl ResultCache {
    /// A cache of at most `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let results = Cache::builder()
            .max_capacity(bytes)
            .weigher(|_, entry: &Entry| u32::try_from(entry.result.weight()).unwrap_or(u32::MAX))
            .expire_after(OwnLifetime)
            .build();
        Self { results }
    }

    pub(crate) fn get(&self, key: &ResultKey) -> Option<Finished> {
        self.results.get(key).map(|entry| entry.result)
    }

    pub(crate) fn put(&self, key: ResultKey, result: Finished, lives: Duration) {
        self.results.insert(key, Entry { result, lives });
    }
}

/// What the result of this call depends on: what the tool does, every parameter, the session values it sees, and the
/// caller, unless the Tool says that callers share results. Permission is decided before anybody asks.
pub(crate) fn key(
    tool: &CompiledTool,
    principal: &str,
    arguments: &Map<String, Value>,
    session: &SessionBag,
) -> Option<(ResultKey, Duration)> {
    let cache = tool.cache.as_ref()?;
    let lives = Duration::from_secs(u64::try_from(cache.seconds).ok().filter(|seconds| *seconds > 0)?);
    let shared = cache.scope == CacheScope::Shared;
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    part(tool.digest.as_bytes());
    part(if shared { b"" } else { principal.as_bytes() });
    part(canonical(arguments).to_string().as_bytes());
    let seen: SessionBag = session
        .iter()
        .filter(|(name, _)| !(shared && is_reserved(name)))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    part(canonical(&seen).to_string().as_bytes());
    Some((hash.finalize().into(), lives))
}

/// The same object with the names of every level in order.
pub(crate) fn canonical(object: &Map<String, Value>) -> Value {
    fn value(given: &Value) -> Value {
        match given {
            Value::Object(fields) => canonical(fields),
            Value::Array(elements) => elements.iter().map(value).collect(),
            other => other.clone(),
        }
    }
    let sorted: std::collections::BTreeMap<&String, &Value> = object.iter().collect();
    Value::Object(sorted.into_iter().map(|(name, given)| (name.clone(), value(given))).collect())
}
