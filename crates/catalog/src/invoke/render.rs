//! The templates of a tool with the values of a call.

use serde_json::{Map, Value};

use super::{PrepareError, params_stdin};
use crate::model::{CompiledTool, Implementation};
use crate::params::{ParamErrors, ParamProblem};
use crate::script::{Dollar, RenderError, TextTemplate};
use crate::seam::Program;

/// The program and its standard input.
pub(super) fn program(
    tool: &CompiledTool,
    arguments: Map<String, Value>,
) -> Result<(Program, Option<Vec<u8>>), PrepareError> {
    let failed = |error| render_failed(tool, error);
    match &tool.implementation {
        Implementation::Shell { script, stdin } => {
            let script = script.render(&arguments).map_err(failed)?;
            Ok((Program::Shell { script }, params_stdin(*stdin, &arguments)))
        }
        Implementation::Python { code, path } => {
            let path = path.iter().map(Into::into).collect();
            Ok((Program::Python { code: code.clone(), params: arguments, path }, None))
        }
        Implementation::Http(http) => {
            let call = http.template.render(&arguments, tool.limits.timeout).map_err(failed)?;
            Ok((Program::Shell { script: call.script }, call.stdin))
        }
        Implementation::Container { command, args } => {
            let render = |templates: &[TextTemplate]| -> Result<Vec<String>, RenderError> {
                templates.iter().map(|template| template.render(&arguments, Dollar::Double)).collect()
            };
            let command = render(command).map_err(failed)?;
            let args = render(args).map_err(failed)?;
            Ok((Program::Container { command, args }, None))
        }
    }
}

/// What the caller is told: a validation error where a parameter is at fault.
fn render_failed(tool: &CompiledTool, error: RenderError) -> PrepareError {
    let RenderError { param, reason, fix, .. } = error;
    let suggestion = (!fix.is_empty()).then_some(fix);
    match param {
        Some(param) => PrepareError::Invalid(ParamErrors::new(
            tool,
            vec![ParamProblem { param, message: reason, suggestion }],
        )),
        None => PrepareError::Template(match suggestion {
            Some(suggestion) => format!("{reason}; {suggestion}"),
            None => reason,
        }),
    }
}
