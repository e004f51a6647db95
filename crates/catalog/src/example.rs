//! Example calls: `name(a="x", b=[1], c={"k": None})`, Python literals as keyword arguments.

use serde_json::{Map, Value};

use crate::model::CompiledTool;

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

impl Example {
    /// The arguments by name, those without one given to the visible parameters in declared order.
    pub fn arguments_for(&self, tool: &CompiledTool) -> Result<Map<String, Value>, ExampleError> {
        let mut arguments = Map::new();
        let mut visible = tool.params.iter().filter(|param| param.fixed.is_none());
        for value in &self.positional {
            let Some(param) = visible.next() else {
                let message =
                    format!("{} arguments without a name, but fewer parameters", self.positional.len());
                return Err(ExampleError { at: 1, message });
            };
            arguments.insert(param.name.clone(), value.clone());
        }
        arguments.extend(self.arguments.clone());
        Ok(arguments)
    }
}

/// Parses an example call. Literals are those of Python (strings with prefixes, triple quotes and implicit
/// concatenation, numbers, `True`, `False`, `None`, lists, tuples, sets, dicts with text keys) and of JSON (`true`,
/// `false`, `null`).
pub fn parse(text: &str) -> Result<Example, ExampleError> {
    parser::Parser::new(text).call()
}

/// The arguments of a tool's own example, none for a tool without one that needs none. `Ok(None)` where there is no
/// example and arguments are needed; an error says why the example is no call of this tool.
pub fn arguments(tool: &CompiledTool) -> Result<Option<Map<String, Value>>, String> {
    if tool.example.is_empty() {
        let needed = tool.params.iter().any(|param| param.required && param.fixed.is_none());
        return Ok((!needed).then(Map::new));
    }
    let no_call = |error: ExampleError| format!("the example is no call: {error}");
    let call = parse(&tool.example).map_err(no_call)?;
    if call.name != tool.name && call.name != tool.key {
        return Err(format!("the example calls {}, not {}", call.name, tool.name));
    }
    call.arguments_for(tool).map(Some).map_err(no_call)
}

mod parser;

#[cfg(test)]
#[path = "example_tests.rs"]
mod tests;
