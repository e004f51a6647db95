//! Conditions: what the operator says about an object, and when it last changed its mind.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use mcc_catalog::model::{Problem, Reason, Severity, Verdict};

/// The object is part of the catalog.
pub const ACCEPTED: &str = "Accepted";
/// The Tool can be found with `search`.
pub const INDEXED: &str = "Indexed";
/// Every group and every key that a UserGrant names is there.
pub const RESOLVED_REFS: &str = "ResolvedRefs";
/// The object does what it is meant to do.
pub const READY: &str = "Ready";

/// Reasons that aren't problems of an object ([`mcc_catalog::model::Reason`] has those).
pub mod reason {
    /// Accepted=True: the object is part of the catalog.
    pub const ACCEPTED: &str = "Accepted";
    /// Indexed=True: the search index holds the Tool.
    pub const INDEXED: &str = "Indexed";
    /// ResolvedRefs=True: everything that the grant names is there.
    pub const RESOLVED_REFS: &str = "ResolvedRefs";
    /// Ready=True.
    pub const READY: &str = "Ready";
    /// Indexed=False, ResolvedRefs=False: only accepted objects are looked at.
    pub const NOT_ACCEPTED: &str = "NotAccepted";
    /// Indexed=Unknown: the search index takes longer than two seconds.
    pub const INDEX_PENDING: &str = "IndexPending";
    /// Indexed=False: the search index doesn't answer.
    pub const INDEX_UNAVAILABLE: &str = "IndexUnavailable";
    /// Indexed=False: the search index refuses the Tool.
    pub const INDEX_REFUSED: &str = "IndexRefused";
    /// Indexed=False: the Tool's text could not be embedded.
    pub const EMBEDDING_FAILED: &str = "EmbeddingFailed";
}

/// Longest message of a condition, in bytes (the API server takes 32 768).
const LONGEST: usize = 4096;

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    True,
    False,
    Unknown,
}

impl Holds {
    fn text(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// What is to be said about an object, before it has a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub kind: &'static str,
    pub holds: Holds,
    pub reason: String,
    pub message: String,
}

impl Draft {
    pub fn new(
        kind: &'static str,
        holds: Holds,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, holds, reason: reason.into(), message: message.into() }
    }

    /// The same under another type: Ready repeats what is in its way.
    pub fn under(&self, kind: &'static str) -> Self {
        Self { kind, ..self.clone() }
    }
}

/// `Accepted` of a verdict: the first error is the reason of False, warnings go into the message of True.
pub(crate) fn accepted(verdict: &Verdict, what: &str) -> Draft {
    if verdict.accepted {
        let warnings: Vec<&Problem> = verdict.problems.iter().collect();
        let mut message = format!("the {what} is part of the catalog");
        if !warnings.is_empty() {
            message.push_str("; ");
            message.push_str(&listed(&warnings));
        }
        return Draft::new(ACCEPTED, Holds::True, reason::ACCEPTED, message);
    }
    let errors: Vec<&Problem> =
        verdict.problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    // An object outside the catalog has nothing but a warning.
    let counted = if errors.is_empty() { verdict.problems.iter().collect() } else { errors };
    let reason = counted.first().map_or(Reason::InvalidField, |problem| problem.reason);
    Draft::new(ACCEPTED, Holds::False, reason.to_string(), listed(&counted))
}

/// Problems in one text: path, what is wrong, how to mend it.
pub(crate) fn listed(problems: &[&Problem]) -> String {
    let texts = problems.iter().map(|problem| {
        let mut text = String::new();
        if !problem.path.is_empty() {
            text.push_str(&problem.path);
            text.push_str(": ");
        }
        text.push_str(&problem.message);
        if !problem.fix.is_empty() {
            text.push_str("; ");
            text.push_str(&problem.fix);
        }
        text
    });
    texts.collect::<Vec<_>>().join(". ")
}

/// The conditions of `drafts`: each keeps its time unless its status differs from that of `current`.
pub(crate) fn dated(
    drafts: Vec<Draft>,
    current: &[Condition],
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let dated = drafts.into_iter().map(|draft| {
        let known = current.iter().find(|known| known.type_ == draft.kind);
        let since = known.filter(|known| known.status == draft.holds.text());
        Condition {
            type_: draft.kind.to_owned(),
            status: draft.holds.text().to_owned(),
            reason: draft.reason,
            message: cut(draft.message, LONGEST),
            observed_generation: Some(generation),
            last_transition_time: since.map_or(Time(now), |known| known.last_transition_time.clone()),
        }
    });
    dated.collect()
}

/// A text of at most `bytes`, cut between characters.
pub(crate) fn cut(mut text: String, bytes: usize) -> String {
    const MARK: &str = "…";
    if text.len() > bytes {
        let border = (0..=bytes - MARK.len()).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(border.unwrap_or(0));
        text.push_str(MARK);
    }
    text
}

#[cfg(test)]
#[path = "conditions_tests.rs"]
mod tests;
