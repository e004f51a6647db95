//! What one caller sees of one catalog: computed once, kept until either changes.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use mcc_catalog::model::{Access, Caller, Catalog, CompiledTool};
use moka::sync::Cache;

use super::scope::Scope;

/// Callers whose views are kept.
const MAX_VIEWS: u64 = 10_000;
/// How long the view of a caller who doesn't call is kept.
const MAX_IDLE: Duration = Duration::from_secs(10 * 60);

/// A caller's view of the catalog.
pub(crate) struct View {
    /// The catalog it was computed from.
    pub catalog: Arc<Catalog>,
    /// What the caller may do.
    pub access: Access,
    caller: Caller,
    whoami: OnceLock<String>,
}

impl View {
    fn new(catalog: Arc<Catalog>, caller: &Caller, now: Timestamp) -> Self {
        let access = catalog.access(caller, now);
        Self { catalog, access, caller: caller.clone(), whoami: OnceLock::new() }
    }

    /// The tool of this key, if the caller may run it.
    pub(crate) fn tool(&self, key: &str) -> Option<&Arc<CompiledTool>> {
        self.catalog.get(key, &self.access)
    }

    /// All tools the caller may run, by key.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.catalog.reachable(&self.access)
    }

    /// The text of whoami, at most `most` keys in it.
    pub(crate) fn whoami(&self, most: usize) -> &str {
        self.whoami.get_or_init(|| self.describe(most))
    }

    fn describe(&self, most: usize) -> String {
        let Some(username) = &self.access.username else {
            return "Not authenticated: no user is associated with this session.".to_owned();
        };
        let mut keys = self.tools().map(|tool| tool.key.as_str());
        let mut tools = keys.by_ref().take(most).collect::<Vec<_>>().join(", ");
        let more = keys.count();
        if more > 0 {
            let _ =
                write!(tools, " … and {more} more: find them with search, or list them with describe_tools");
        }
        let or_none = |text: &str| if text.is_empty() { "(none)".to_owned() } else { text.to_owned() };
        format!(
            "username: {}\nemail: {}\ngroups: {}\ntools: {}",
            or_none(username),
            or_none(self.access.email.as_deref().unwrap_or_default()),
            or_none(&self.access.groups.join(", ")),
            or_none(&tools)
        )
    }

    /// Whether it still holds for `caller` in `catalog`.
    fn holds(&self, catalog: &Arc<Catalog>, caller: &Caller, now: Timestamp) -> bool {
        Arc::ptr_eq(&self.catalog, catalog)
            && self.caller == *caller
            && self.access.valid_until.is_none_or(|end| now.as_second() < end)
    }
}

/// The views in use.
pub(crate) struct Views {
    views: Cache<Arc<str>, Arc<View>>,
}

impl Views {
    pub(crate) fn new() -> Self {
        Self { views: Cache::builder().max_capacity(MAX_VIEWS).time_to_idle(MAX_IDLE).build() }
    }

    /// The view of `scope`'s caller, never one of an older catalog or of a grant that ended.
    pub(crate) fn get(&self, catalog: &Arc<Catalog>, scope: &Scope) -> Arc<View> {
        let now = Timestamp::now();
        if let Some(view) = self.views.get(&scope.principal)
            && view.holds(catalog, &scope.caller, now)
        {
            return view;
        }
        let view = Arc::new(View::new(catalog.clone(), &scope.caller, now));
        self.views.insert(scope.principal.clone(), view.clone());
        view
    }

    /// Lets go of the views of older catalogs, which hold their memory.
    pub(crate) fn clear(&self) {
        self.views.invalidate_all();
        self.views.run_pending_tasks();
    }
}
