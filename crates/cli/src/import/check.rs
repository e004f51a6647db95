//! The catalog's own look at a converted script or request.

use std::collections::BTreeMap;

use mcc_catalog::script::{HttpSource, HttpTemplate, ScriptTemplate, TemplateParam, apply_rewrites};

use super::curl::Request;
use super::report::{Action, Notes};
use super::source::Param;

/// Rounds of edits; each edit removes a problem, and one may uncover another.
const ROUNDS: usize = 8;

/// `source` with all edits that are certain to keep its meaning; the error also says what is still wrong with it.
pub fn script(source: &str, params: &[Param], notes: &mut Notes) -> Result<String, (String, String)> {
    let params = template_params(params);
    let mut text = source.to_owned();
    for _ in 0..ROUNDS {
        let Err(problems) = ScriptTemplate::compile(&text, &params) else { return Ok(text) };
        let edited = apply_rewrites(&text, &problems);
        if edited == text {
            let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err((text, reasons.join("; ")));
        }
        for problem in problems.iter().filter(|problem| problem.rewrite.is_some()) {
            let names = problem.params.join(", ");
            notes.add(
                "script",
                Action::Changed,
                format!("{names} is read from the environment: {}", problem.reason),
            );
        }
        text = edited;
    }
    Err((text, "it needs more edits than an import makes".to_owned()))
}

/// Whether the catalog takes a request.
pub fn accepts(request: &Request, params: &[Param]) -> bool {
    let source = HttpSource {
        method: request.method.as_deref(),
        url: &request.url,
        headers: &request.headers,
        query: &BTreeMap::new(),
        body: request.body.as_deref(),
    };
    HttpTemplate::compile(&source, &template_params(params)).is_ok()
}

fn template_params(params: &[Param]) -> Vec<TemplateParam<'_>> {
    params.iter().map(template_param).collect()
}

fn template_param(param: &Param) -> TemplateParam<'_> {
    let has_value = |value: &Option<serde_json::Value>| value.as_ref().is_some_and(|value| !value.is_null());
    TemplateParam {
        name: &param.name,
        kind: param.kind,
        allow_leading_dash: false,
        required_or_default: param.required || has_value(&param.default) || has_value(&param.fixed),
    }
}
