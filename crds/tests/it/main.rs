//! What the API server will make of the kinds: structural schemas, bounded rules, and the verdicts of the rules.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "helpers take json!(…) as it is")]

mod rules;
mod serde;
mod structure;
