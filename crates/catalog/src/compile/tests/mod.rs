//! Tests of the whole compilation.

mod catalog_rules;
mod incremental;
mod permission;
mod random;
mod tool_rules;
