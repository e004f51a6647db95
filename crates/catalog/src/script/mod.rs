//! Templates of scripts, texts and HTTP requests, and the quoting of their values.
//!
//! ```text
//!  source ─▶ paths: every way through it, with stand-ins ─▶ problems, warnings
//!     │              │
//!     │           lexer ◀──────────────┐
//!     ▼                                │
//!  engine ─▶ own text, value, text … ──┴▶ quoted for its place ─▶ script
//! ```
//!
//! No value of a call can leave the word it stands in, whatever it is and whatever the template's author wrote around
//! it: a value that can't be quoted where it stands is a problem of the template, found before it is ever run.
//!
//! | place | a value becomes |
//! |---|---|
//! | bare | one quoted word; a list: a word for each element, none for an empty list |
//! | inside `"…"`, `'…'` | escaped; a list: its elements, joined by a space |
//! | inside `$(…)` | by the quoting inside it |
//! | here-document | escaped; with a quoted delimiter as it is, refused if a line would end the document |
//! | inside `$((…))` | an integer, in parentheses |
//! | anywhere else | refused |
//!
//! Numbers, `true`, `false` and objects are written as JSON. What follows a program that runs its arguments (`eval`, `sh
//! -c`, `awk`, `jq`, …) is refused too; every parameter is also in the environment as `MCC_PARAM_NAME`.

mod engine;
mod http;
mod lexer;
mod names;
mod paths;
mod problem;
mod quote;
mod shell;
mod text;

use mcc_crds::v1alpha1::ParamType;

pub use http::{HttpCall, HttpField, HttpSource, HttpTemplate};
pub use problem::{Position, RenderError, Rewrite, TemplateProblem, Warning, apply_rewrites};
pub use shell::ScriptTemplate;
pub use text::{Dollar, TextTemplate};

/// A parameter that a template may use.
#[derive(Clone, Copy, Debug)]
pub struct TemplateParam<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub kind: ParamType,
    /// Its value may begin a bare word with a hyphen.
    pub allow_leading_dash: bool,
    /// It has a value in every call: it is required, fixed, or has a default other than null.
    pub required_or_default: bool,
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod refused_tests;
#[cfg(test)]
mod shell_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod toolset_tests;
