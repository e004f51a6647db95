//! Permission: what a caller may see and run. One function decides, everywhere.

use std::collections::BTreeSet;

/// The group every caller has.
pub const PUBLIC: &str = "public";
/// The group whose members reach every tool.
pub const ADMIN: &str = "admin";

/// What permission looks at in a tool. Indexes store it with each document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Key of the tool.
    pub key: String,
    /// Groups of the tool.
    pub groups: Vec<String>,
    /// Every beginning of the declared groups, joined by dots: `osint`, `osint.gov` for `[osint, gov]`.
    pub prefixes: Vec<String>,
}

impl Facets {
    /// The facets of a tool with `key` and these groups in declared order.
    pub fn new(key: impl Into<String>, declared: &[String]) -> Self {
        let prefixes = (1..=declared.len()).map(|n| declared[..n].join(".")).collect();
        Self { key: key.into(), groups: declared.to_vec(), prefixes }
    }
}

/// Which tools a caller may see and run: the permission function, as data that an index can filter by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Visibility {
    /// Every tool (an admin).
    pub all: bool,
    /// Tools with one of these groups; holds `public` always.
    pub groups: BTreeSet<String>,
    /// Tools whose declared groups begin so (wildcard grants without their `.*`).
    pub prefixes: BTreeSet<String>,
    /// Tools with one of these keys.
    pub keys: BTreeSet<String>,
}

impl Visibility {
    /// Public tools only: what an anonymous caller sees.
    pub fn public() -> Self {
        Self { groups: BTreeSet::from([PUBLIC.to_owned()]), ..Self::default() }
    }

    /// Every tool.
    pub fn everything() -> Self {
        Self { all: true, ..Self::public() }
    }

    /// Whether a tool with these facets may be seen and run. This is the only place where that is decided.
    pub fn admits(&self, tool: &Facets) -> bool {
        self.all
            || tool.groups.iter().any(|group| self.groups.contains(group))
            || tool.prefixes.iter().any(|prefix| self.prefixes.contains(prefix))
            || self.keys.contains(&tool.key)
    }
}

/// A caller's grants, united: what whoami shows and what decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Name of the caller; none for an anonymous one.
    pub username: Option<String>,
    /// Verified address, else that of the oldest grant that has one.
    pub email: Option<String>,
    /// Granted groups (wildcards as written), sorted, without duplicates.
    pub groups: Vec<String>,
    /// Keys granted one by one, sorted, without duplicates.
    pub tools: Vec<String>,
    /// The decision.
    pub visibility: Visibility,
    /// Seconds since the Unix epoch at which the next of these grants ends, if one does: nothing may be cached longer.
    pub valid_until: Option<i64>,
}
