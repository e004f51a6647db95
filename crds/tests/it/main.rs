//! What the API server will make of the kinds: structural schemas, bounded rules, and the verdicts of the rules.

mod rules;
mod serde;
mod structure;
