//! Who may see what, as a filter inside the query.

use std::collections::BTreeSet;

use mcc_catalog::model::Visibility;
use qdrant_client::qdrant::{Condition, Filter};

/// Payload: the tool's key.
pub(super) const KEY: &str = "key";
/// Payload: the tool's groups.
pub(super) const GROUPS: &str = "groups";
/// Payload: every beginning of the tool's declared groups, for wildcard grants.
pub(super) const PREFIXES: &str = "prefixes";
/// Payload: the tool's folded names.
pub(super) const NAMES: &str = "names";

/// What a caller's searches may see.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scope {
    /// Everything.
    All,
    /// What passes this filter.
    Some(Filter),
    /// Nothing: an empty `should` would let everything pass.
    Nothing,
}

impl Scope {
    /// [`Visibility::admits`] as a filter.
    pub(super) fn of(visibility: &Visibility) -> Self {
        if visibility.all {
            return Self::All;
        }
        let any = |field: &str, values: &BTreeSet<String>| {
            let values: Vec<String> = values.iter().cloned().collect();
            (!values.is_empty()).then(|| Condition::matches(field, values))
        };
        let should: Vec<Condition> = [
            any(GROUPS, &visibility.groups),
            any(PREFIXES, &visibility.prefixes),
            any(KEY, &visibility.keys),
        ]
        .into_iter()
        .flatten()
        .collect();
        if should.is_empty() { Self::Nothing } else { Self::Some(Filter::should(should)) }
    }

    /// The filter of a search; nothing when there is nothing to search.
    pub(super) fn filter(&self) -> Option<Filter> {
        match self {
            Self::Some(filter) => Some(filter.clone()),
            Self::All | Self::Nothing => None,
        }
    }

    /// The same for points that have one of these folded names.
    pub(super) fn named(&self, names: &[&str]) -> Filter {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut must = vec![Condition::matches(NAMES, names)];
        must.extend(self.filter().map(Condition::from));
        Filter::must(must)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testsuite::visibility;

    #[test]
    fn an_admin_needs_no_filter() {
        assert_eq!(Scope::of(&Visibility::everything()), Scope::All);
    }

    /// Qdrant ignores an empty `should`: such a filter would show everything.
    #[test]
    fn a_caller_without_any_grant_sees_nothing() {
        assert_eq!(Scope::of(&Visibility::default()), Scope::Nothing);
    }

    #[test]
    fn every_kind_of_grant_is_a_condition() {
        let Scope::Some(filter) = Scope::of(&visibility(&["geo"], &["osint.gov"], &["a.b", "c"])) else {
            panic!("a filter")
        };
        assert_eq!(filter.should.len(), 3);
        assert!(filter.must.is_empty() && filter.must_not.is_empty());
        let Scope::Some(filter) = Scope::of(&Visibility::public()) else { panic!("a filter") };
        assert_eq!(filter.should.len(), 1);
    }

    #[test]
    fn names_are_looked_up_among_the_visible() {
        let public = Scope::of(&Visibility::public());
        assert_eq!(public.named(&["map"]).must.len(), 2);
        assert_eq!(Scope::All.named(&["map"]).must.len(), 1);
    }
}
