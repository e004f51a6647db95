//! The templates of a tool with the values of a call.

use serde_json::{Map, Value};

use super::{PrepareError, params_stdin, python_path};
use crate::model::{CompiledTool, Implementation};
use crate::seam::Program;

/// The program and its standard input.
pub(super) fn program(
    tool: &CompiledTool,
    arguments: &Map<String, Value>,
) -> Result<(Program, Option<Vec<u8>>), PrepareError> {
    match &tool.implementation {
        Implementation::Python { code, .. } => {
            let path = python_path(&tool.implementation);
            Ok((Program::Python { code: code.clone(), params: arguments.clone(), path }, None))
        }
        Implementation::Shell { stdin, .. } => {
            drop(params_stdin(*stdin, arguments));
            Err(PrepareError::Template("templates are not linked in yet".to_owned()))
        }
        Implementation::Http(_) | Implementation::Container { .. } => {
            Err(PrepareError::Template("templates are not linked in yet".to_owned()))
        }
    }
}
