//! Example calls: `name(a="x", b=[1], c={"k": None})`, Python literals as keyword arguments.

use serde_json::{Map, Value};

/// An example call.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The name that is called.
    pub name: String,
    /// Its keyword arguments.
    pub arguments: Map<String, Value>,
    /// Arguments without a name: values of the first parameters, in order.
    pub positional: Vec<Value>,
}

/// Why a text is no example call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: {message}")]
pub struct ExampleError {
    /// Where, in characters from 1.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

/// Parses an example call. Literals are those of Python (strings with prefixes, triple quotes and implicit
/// concatenation, numbers, `True`, `False`, `None`, lists, tuples, sets, dicts with text keys) and of JSON (`true`,
/// `false`, `null`).
pub fn parse(text: &str) -> Result<Example, ExampleError> {
    parser::Parser::new(text).call()
}

mod parser;

#[cfg(test)]
#[path = "example_tests.rs"]
mod tests;
