//! Tests of the whole compilation.

mod catalog_rules;
mod incremental;
mod lint;
mod permission;
mod random;
mod tool_rules;
