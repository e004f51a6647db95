//! Step 2: the verdict of the one pure function becomes conditions. No client required.

use mcc_catalog::model::{Problem, Reason, Verdict};
use mcc_cluster::{Observed, Status};

use super::dereference::Dereferenced;
use crate::conditions::{Draft, Holds, RESOLVED_REFS, accepted, listed, reason};
use crate::dereference::Judged;

/// A UserGrant that is accepted or not, ended or not.
pub(super) struct Validated {
    pub observed: Observed,
    pub current: Option<Status>,
    pub accepted: Draft,
    pub resolved: Draft,
    /// What an ended grant says.
    pub ended: Option<Problem>,
    pub tools: i64,
}

pub(super) fn validate(dereferenced: Dereferenced) -> Validated {
    let Dereferenced { judged: Judged { observed, current, verdict, view: _ }, tools } = dereferenced;
    let resolved = resolved(&verdict);
    let ended = verdict.problems.iter().find(|problem| problem.reason == Reason::GrantExpired).cloned();
    // Each problem is said under one condition.
    let own =
        |problem: &Problem| !matches!(problem.reason, Reason::GrantTargetNotFound | Reason::GrantExpired);
    let rest = Verdict { problems: verdict.problems.into_iter().filter(own).collect(), ..verdict };
    Validated { observed, current, accepted: accepted(&rest, "UserGrant"), resolved, ended, tools }
}

fn resolved(verdict: &Verdict) -> Draft {
    if !verdict.accepted {
        let message = "only accepted UserGrants are looked at";
        return Draft::new(RESOLVED_REFS, Holds::False, reason::NOT_ACCEPTED, message);
    }
    let missing: Vec<&Problem> =
        verdict.problems.iter().filter(|problem| problem.reason == Reason::GrantTargetNotFound).collect();
    if missing.is_empty() {
        let message = "every group and every key is there";
        return Draft::new(RESOLVED_REFS, Holds::True, reason::RESOLVED_REFS, message);
    }
    Draft::new(RESOLVED_REFS, Holds::False, Reason::GrantTargetNotFound.to_string(), listed(&missing))
}
