//! The CEL rules of a kind, compiled once.

use std::fmt;

use kube::core::cel::{CompiledSchema, Validator, compile_schema};
use serde_json::Value;

/// The rules of one kind.
pub(super) struct Rules {
    compiled: CompiledSchema,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rules")
    }
}

/// A rule that refuses an object.
pub(super) struct Refusal {
    /// Path of the value that the rule looks at.
    pub path: String,
    pub message: String,
    pub fix: String,
}

thread_local! {
    static VALIDATOR: Validator = Validator::new();
}

impl Rules {
    /// Compiles the rules in the schema of a CRD.
    pub fn compile(schema: &Value) -> Self {
        Self { compiled: compile_schema(schema) }
    }

    /// Every rule that refuses `object`. Messages are written "what is wrong; how to mend it".
    pub fn refusals(&self, object: &Value) -> Vec<Refusal> {
        let result = VALIDATOR.with(|validator| validator.validate_compiled(&self.compiled, object, None));
        let Err(errors) = result else { return Vec::new() };
        let refusal = |error: kube::core::cel::ValidationError| {
            let (message, fix) = match error.message.split_once("; ") {
                Some((message, fix)) => (message.to_owned(), fix.to_owned()),
                None => (error.message, String::new()),
            };
            Refusal { path: error.field_path, message, fix }
        };
        errors.into_iter().map(refusal).collect()
    }
}
