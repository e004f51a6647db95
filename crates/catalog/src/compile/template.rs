//! What runs: exactly one of shell, python, http and container, its templates compiled.

use mcc_crds::v1alpha1::{ContainerTool, HttpTool, PythonTool, ShellTool, ToolSpec};

use super::finding::{Finding, Findings};
use crate::model::{HttpProgram, Implementation, Parameter, PythonCode, Reason, Severity};
use crate::script::{
    HttpField, HttpSource, HttpTemplate, Position, ScriptTemplate, TemplateParam, TemplateProblem,
    TextTemplate, Warning,
};

/// The implementation of a Tool and the image it names; none if it can't run.
pub(super) fn compile(
    spec: &ToolSpec,
    params: &[Parameter],
    findings: &mut Findings,
) -> Option<Implementation> {
    match (&spec.shell, &spec.python, &spec.http, &spec.container) {
        (Some(shell), None, None, None) => shell_tool(shell, params, findings),
        (None, Some(python), None, None) => python_tool(python, findings),
        (None, None, Some(http), None) => http_tool(http, params, findings),
        (None, None, None, Some(container)) => container_tool(container, params, findings),
        (None, None, None, None) => {
            findings.error(
                Reason::InvalidField,
                "spec",
                "the Tool says nothing about what runs",
                "give one of shell, python, http and container",
            );
            None
        }
        _ => {
            findings.error(
                Reason::InvalidField,
                "spec",
                "the Tool has more than one of shell, python, http and container",
                "keep one of them",
            );
            None
        }
    }
}

/// The image that the Tool itself names, with its path.
pub(super) fn own_image(spec: &ToolSpec) -> Option<(&'static str, &String)> {
    let shell =
        spec.shell.as_ref().and_then(|shell| shell.image.as_ref()).map(|image| ("spec.shell.image", image));
    let python = spec.python.as_ref().and_then(|python| python.image.as_ref());
    let http = spec.http.as_ref().and_then(|http| http.image.as_ref());
    let container = spec.container.as_ref().and_then(|container| container.image.as_ref());
    shell
        .or(python.map(|image| ("spec.python.image", image)))
        .or(http.map(|image| ("spec.http.image", image)))
        .or(container.map(|image| ("spec.container.image", image)))
}

/// The parameters as templates see them.
fn template_params(params: &[Parameter]) -> Vec<TemplateParam<'_>> {
    params
        .iter()
        .map(|param| TemplateParam {
            name: &param.name,
            kind: param.kind,
            allow_leading_dash: param.allow_leading_dash,
            required_or_default: param.required
                || param.fixed.is_some()
                || param.default.as_ref().is_some_and(|default| !default.is_null()),
        })
        .collect()
}

/// Reports what a template's compiler found in the field at `path`; the template, if it can be used.
fn taken<T>(
    compiled: Result<(T, Vec<Warning>), Vec<TemplateProblem>>,
    path: &str,
    source: &str,
    findings: &mut Findings,
) -> Option<T> {
    let mut add = |severity, reason, position: Position, message: &str, fix: String| {
        let block = source.trim_end().contains('\n');
        let line = if block { u32::try_from(position.line).unwrap_or(0) } else { 0 };
        let place = if block { position.to_string() } else { format!("column {}", position.column) };
        let message = format!("{place}: {message}");
        findings.add(Finding { severity, reason, path: path.to_owned(), line, message, fix });
    };
    match compiled {
        Ok((template, warnings)) => {
            for warning in warnings {
                add(Severity::Warning, Reason::Suspicious, warning.position, &warning.reason, warning.fix);
            }
            Some(template)
        }
        Err(problems) => {
            for problem in problems {
                add(Severity::Error, Reason::InvalidTemplate, problem.position, &problem.reason, problem.fix);
            }
            None
        }
    }
}

fn shell_tool(shell: &ShellTool, params: &[Parameter], findings: &mut Findings) -> Option<Implementation> {
    if shell.script.trim().is_empty() {
        findings.error(Reason::InvalidField, "spec.shell.script", "the script is empty", "write one");
        return None;
    }
    let compiled = ScriptTemplate::compile(&shell.script, &template_params(params));
    let script = taken(compiled, "spec.shell.script", &shell.script, findings)?;
    Some(Implementation::Shell { script, stdin: shell.stdin })
}

fn python_tool(python: &PythonTool, findings: &mut Findings) -> Option<Implementation> {
    let code = match (&python.function, &python.source) {
        (Some(function), None) if is_function(function) => PythonCode::Function(function.clone()),
        (Some(function), None) => {
            let fix = match function.rsplit_once('.') {
                Some((module, name)) if !function.contains(':') => format!("did you mean {module}:{name}?"),
                _ => "write package.module:callable".to_owned(),
            };
            findings.error(
                Reason::InvalidField,
                "spec.python.function",
                format!("{function:?} is not the import path of a function"),
                fix,
            );
            return None;
        }
        (None, Some(source)) => {
            if !defines_main(source) {
                findings.error(
                    Reason::InvalidField,
                    "spec.python.source",
                    "the source doesn't define main",
                    "define the function that is to be called: def main(…): or async def main(…):",
                );
            }
            PythonCode::Source(source.clone())
        }
        (given, _) => {
            let message =
                if given.is_some() { "both function and source" } else { "neither function nor source" };
            findings.error(
                Reason::InvalidField,
                "spec.python",
                format!("the Tool has {message}"),
                "give one of them",
            );
            return None;
        }
    };
    Some(Implementation::Python { code, path: python.path.clone() })
}

/// Whether `text` is `package.module:attribute.attribute`.
fn is_function(text: &str) -> bool {
    let dotted = |text: &str| text.split('.').all(is_identifier);
    text.split_once(':').is_some_and(|(module, attribute)| dotted(module) && dotted(attribute))
}

/// A Python identifier; letters of every script may stand in one.
fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether the name `main` is bound somewhere: by a function, an assignment or an import.
fn defines_main(source: &str) -> bool {
    source.lines().any(|line| {
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        let bound = matches!(words.as_slice(), ["def" | "class", "main", ..] | ["async", "def", "main", ..]);
        let imported = matches!(words.first(), Some(&("from" | "import"))) && words.contains(&"main");
        let assigned = line
            .trim_start()
            .strip_prefix("main")
            .is_some_and(|rest| rest.trim_start().starts_with(['=', ':']));
        bound || imported || assigned
    })
}

fn http_tool(http: &HttpTool, params: &[Parameter], findings: &mut Findings) -> Option<Implementation> {
    let source = HttpSource {
        method: http.method.as_deref(),
        url: &http.url,
        headers: &http.headers,
        query: &http.query,
        body: http.body.as_deref(),
    };
    // The templates of one request are taken together; each problem goes to its own field.
    let text = |field: &HttpField| match field {
        HttpField::Method => http.method.clone(),
        HttpField::Url => Some(http.url.clone()),
        HttpField::Header(name) => http.headers.get(name).cloned(),
        HttpField::Query(name) => http.query.get(name).cloned(),
        HttpField::Body => http.body.clone(),
    };
    let mut found = |field: HttpField, outcome| {
        taken(outcome, &format!("spec.http.{field}"), &text(&field).unwrap_or_default(), findings)
    };
    match HttpTemplate::compile(&source, &template_params(params)) {
        Ok((template, warnings)) => {
            for (field, warning) in warnings {
                found(field, Ok(((), vec![warning])));
            }
            Some(Implementation::Http(HttpProgram { template }))
        }
        Err(problems) => {
            for (field, problem) in problems {
                found(field, Err(vec![problem]));
            }
            None
        }
    }
}

fn container_tool(
    container: &ContainerTool,
    params: &[Parameter],
    findings: &mut Findings,
) -> Option<Implementation> {
    let params = template_params(params);
    let mut compile = |field: &str, sources: &[String]| -> Vec<Option<TextTemplate>> {
        let templates = sources.iter().enumerate().map(|(index, source)| {
            let path = format!("spec.container.{field}[{index}]");
            taken(TextTemplate::compile(source, &params), &path, source, findings)
        });
        templates.collect()
    };
    let (command, args) = (compile("command", &container.command), compile("args", &container.args));
    Some(Implementation::Container {
        command: command.into_iter().collect::<Option<_>>()?,
        args: args.into_iter().collect::<Option<_>>()?,
    })
}
