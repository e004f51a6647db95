//! HTTP requests as curl scripts.
//!
//! ```text
//!  url, query ─▶ parts ─┐                      ┌─▶ fd 3: url = "…"        (curl --config)
//!  headers ────▶ parts ─┼─▶ script for sh ─────┼─▶ fd 4: Name: value      (curl -H @file)
//!  body ───────▶ parts ─┘      + stdin         └─▶ standard input         (curl --data-binary @-)
//! ```
//!
//! Neither the URL, nor a header, nor the body is an argument of curl: secrets stay out of process lists, and sizes are
//! those of pipes. `$(NAME)` in the templates' own text is the environment variable NAME when the script runs, as in
//! Kubernetes manifests, and `$$(NAME)` is that text itself; in values neither means anything. In `query` and in the
//! path and query of `url`, values are percent-encoded, `/` included; `urlencode` before that is not encoded again.

mod json;
mod parts;
mod program;
mod url;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::engine::{NO_VALUE, Piece, Shown, percent_encode};
use super::paths::OPTIONAL;
use super::problem::{Position, RenderError, TemplateProblem, Warning};
use super::{TemplateParam, TextTemplate};
use parts::{Part, Parts};
use program::Program;
use url::Url;

/// The templates of a request.
#[derive(Clone, Copy, Debug)]
pub struct HttpSource<'a> {
    /// Method; none: GET, or POST when there is a body.
    pub method: Option<&'a str>,
    /// URL.
    pub url: &'a str,
    /// Headers by name. One whose value is empty is left out.
    pub headers: &'a BTreeMap<String, String>,
    /// Query parameters by name. One whose value is empty, or whose parameter has none, is left out; a list is given once for each element.
    pub query: &'a BTreeMap<String, String>,
    /// Body.
    pub body: Option<&'a str>,
}

/// A part of a request, for a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HttpField {
    /// `method`
    Method,
    /// `url`
    Url,
    /// `headers.NAME`
    Header(String),
    /// `query.NAME`
    Query(String),
    /// `body`
    Body,
}

impl fmt::Display for HttpField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method => f.write_str("method"),
            Self::Url => f.write_str("url"),
            Self::Header(name) => write!(f, "headers.{name}"),
            Self::Query(name) => write!(f, "query.{name}"),
            Self::Body => f.write_str("body"),
        }
    }
}

/// The templates of an HTTP request, compiled.
#[derive(Clone, Debug)]
pub struct HttpTemplate {
    method: Option<String>,
    url: TextTemplate,
    headers: Vec<(String, TextTemplate)>,
    query: Vec<(String, TextTemplate)>,
    body: Option<TextTemplate>,
}

/// A request ready to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// A script for `/bin/sh` and curl 7.76 or later. It prints the answer's body; a status of 400 or more is exit code
    /// 22, with the body.
    pub script: String,
    /// What the script reads from standard input; none: nothing.
    pub stdin: Option<Vec<u8>>,
}

type Found<T> = Vec<(HttpField, T)>;

impl HttpTemplate {
    /// Checks and compiles the templates of a request over `params`.
    ///
    /// # Errors
    /// Everything that is wrong, by field: syntax, unknown variables and filters, a method, a header name or a variable's
    /// name that can't be, a URL that is neither http nor https, line breaks in a header.
    pub fn compile(
        source: &HttpSource<'_>,
        params: &[TemplateParam<'_>],
    ) -> Result<(Self, Found<Warning>), Found<TemplateProblem>> {
        let mut compiler = Compiler { params, problems: Vec::new(), warnings: Vec::new() };
        if let Some(method) = source.method
            && (method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic()))
        {
            compiler.problem(
                HttpField::Method,
                method,
                0,
                format!("{method:?} is not an HTTP method"),
                "write GET, POST, PUT, …",
            );
        }
        let url = compiler.template(&HttpField::Url, source.url);
        compiler.check_url(source.url);
        let headers = compiler.templates(source.headers, HttpField::Header);
        for (name, value) in source.headers {
            compiler.check_header(name, value);
        }
        let query = compiler.templates(source.query, HttpField::Query);
        compiler.warnings.retain(|(field, warning)| {
            !(matches!(field, HttpField::Query(_)) && warning.reason.contains(OPTIONAL))
        });
        if let Some(body) = source.body {
            compiler.check_json(body);
        }
        let body = source.body.map(|body| compiler.template(&HttpField::Body, body));
        let Compiler { problems, warnings, .. } = compiler;
        match (url, body) {
            (Some(url), None) if problems.is_empty() => Ok((
                Self { method: source.method.map(str::to_ascii_uppercase), url, headers, query, body: None },
                warnings,
            )),
            (Some(url), Some(body @ Some(_))) if problems.is_empty() => Ok((
                Self { method: source.method.map(str::to_ascii_uppercase), url, headers, query, body },
                warnings,
            )),
            _ => Err(problems),
        }
    }

    /// The script and its standard input for the given values; `timeout` bounds the whole request.
    ///
    /// # Errors
    /// A value that can't stand where the template puts it: a missing one, a line break in a header, something else than
    /// a host name in the host, `.` or `..` as a part of the path, a NUL.
    pub fn render(&self, values: &Map<String, Value>, timeout: Duration) -> Result<HttpCall, RenderError> {
        let mut url = Url::default();
        let mut last_value = 0;
        for piece in self.url.pieces(values)? {
            match piece {
                Piece::Static { text, .. } => parts::each_static(text, |part| match part {
                    Part::Text(text) => url.push_static(&text),
                    variable => url.push_variable(variable),
                }),
                Piece::Value { value, offset } => {
                    last_value = offset;
                    url.push_value(&value).map_err(|(reason, fix)| self.url.error(offset, reason, fix))?;
                }
            }
        }
        let mut url = url.finish().map_err(|(reason, fix)| self.url.error(last_value, reason, fix))?;
        for (name, template) in &self.query {
            match query_values(template, values) {
                Ok(given) => given.into_iter().for_each(|value| url.push_query(name, value)),
                // A parameter without a value is left out of the query.
                Err(error) if error.reason == NO_VALUE => {}
                Err(error) => return Err(error),
            }
        }
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, template) in &self.headers {
            let value = text_parts(template, values, check_header_value)?;
            if !value.is_empty() {
                headers.push((name.clone(), value));
            }
        }
        let body = self.body.as_ref().map(|body| text_parts(body, values, |_| Ok(()))).transpose()?;
        Ok(Program { method: self.method.as_deref(), url: url.into_parts(), headers, body, timeout }.write())
    }
}

struct Compiler<'a> {
    params: &'a [TemplateParam<'a>],
    problems: Found<TemplateProblem>,
    warnings: Found<Warning>,
}

impl Compiler<'_> {
    fn problem(&mut self, field: HttpField, source: &str, offset: usize, reason: String, fix: &str) {
        let position = Position::of(source, offset);
        let problem =
            TemplateProblem { position, reason, fix: fix.to_owned(), params: Vec::new(), rewrite: None };
        self.problems.push((field, problem));
    }

    fn template(&mut self, field: &HttpField, source: &str) -> Option<TextTemplate> {
        for (offset, name) in parts::bad_variables(source) {
            let reason = format!("$({name}) can't be an environment variable of a shell");
            self.problem(
                field.clone(),
                source,
                offset,
                reason,
                "use letters, digits and _; write $$( for the text $(",
            );
        }
        match TextTemplate::compile(source, self.params) {
            Ok((template, warnings)) => {
                self.warnings.extend(warnings.into_iter().map(|warning| (field.clone(), warning)));
                Some(template)
            }
            Err(problems) => {
                self.problems.extend(problems.into_iter().map(|problem| (field.clone(), problem)));
                None
            }
        }
    }

    fn templates(
        &mut self,
        sources: &BTreeMap<String, String>,
        field: fn(String) -> HttpField,
    ) -> Vec<(String, TextTemplate)> {
        let compiled = sources
            .iter()
            .filter_map(|(name, source)| Some((name.clone(), self.template(&field(name.clone()), source)?)));
        compiled.collect()
    }

    fn check_url(&mut self, source: &str) {
        let own = source.split("{{").next().unwrap_or(source);
        let fixed = own.split("{%").next().unwrap_or(own).trim_start();
        let scheme = fixed.split_once("://");
        match scheme {
            Some(("http" | "https", rest)) => {
                let host_ends = rest.contains(['/', '?', '#']) || fixed.len() == source.trim_start().len();
                if !host_ends {
                    self.warn_host(source, fixed.len());
                }
            }
            _ if fixed.starts_with("$(") => {}
            _ if source.contains("{{") => self.warn_host(source, 0),
            _ if fixed.len() < source.trim_start().len() => {}
            _ => {
                let reason = "the URL is neither http:// nor https://".to_owned();
                self.problem(
                    HttpField::Url,
                    source,
                    0,
                    reason,
                    "write the whole URL, as in https://example.com/path",
                );
            }
        }
    }

    fn warn_host(&mut self, source: &str, offset: usize) {
        let warning = Warning {
            position: Position::of(source, offset),
            reason: "a value decides which host is asked: callers can reach every host that the tool can"
                .to_owned(),
            fix: "write the host yourself, or allow certain values with enum".to_owned(),
        };
        self.warnings.push((HttpField::Url, warning));
    }

    /// A value inside a string of a JSON body can end the string.
    fn check_json(&mut self, source: &str) {
        if !source.trim_start().starts_with(['{', '[']) || source.trim_start().starts_with("{{") {
            return;
        }
        for (offset, expression) in json::values_in_strings(source) {
            if !expression.contains("urlencode") {
                let warning = Warning {
                    position: Position::of(source, offset),
                    reason:
                        "a value inside a JSON string isn't escaped: a quote in it changes the JSON around it"
                            .to_owned(),
                    fix: format!(
                        "write {{{{ {} | tojson }}}} without the quotes around it",
                        expression.trim()
                    ),
                };
                self.warnings.push((HttpField::Body, warning));
            }
        }
    }

    fn check_header(&mut self, name: &str, value: &str) {
        let field = || HttpField::Header(name.to_owned());
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            self.problem(
                field(),
                value,
                0,
                format!("{name:?} is not the name of a header"),
                "use letters, digits and -",
            );
        }
        if value.trim_end().contains(['\r', '\n']) && !value.contains("{%") {
            self.problem(field(), value, 0, "the header has a line break".to_owned(), "write it on one line");
        }
    }
}

fn check_header_value(text: &str) -> Result<(), (&'static str, &'static str)> {
    if text.contains(['\r', '\n']) {
        return Err(("contains a line break, which a header can't have", "leave it out"));
    }
    Ok(())
}

/// A rendered header or body; `check` looks at each value.
fn text_parts(
    template: &TextTemplate,
    values: &Map<String, Value>,
    check: fn(&str) -> Result<(), (&'static str, &'static str)>,
) -> Result<Parts, RenderError> {
    let mut parts = Parts::default();
    for piece in template.pieces(values)? {
        match piece {
            Piece::Static { text, .. } => parts::each_static(text, |part| parts.push(part)),
            Piece::Value { value, offset } => {
                let text = value.text();
                check(&text)
                    .and_then(|()| url::check_nul(&text))
                    .map_err(|(reason, fix)| template.error(offset, reason, fix))?;
                parts.push(Part::Text(text));
            }
        }
    }
    Ok(parts)
}

/// The encoded values of a query parameter: none if it is empty, several for a list.
fn query_values(template: &TextTemplate, values: &Map<String, Value>) -> Result<Vec<Parts>, RenderError> {
    let encode = |text: &str| Part::Text(percent_encode(text, b"_.-~"));
    let pieces = template.pieces(values)?;
    if let [Piece::Value { value: Shown::List(items) | Shown::Words(items), .. }] = pieces.as_slice() {
        return Ok(items.iter().map(|item| Parts::from(encode(item))).collect());
    }
    let mut parts = Parts::default();
    for piece in pieces {
        match piece {
            Piece::Static { text, .. } => parts::each_static(text, |part| match part {
                Part::Text(text) => parts.push(encode(&text)),
                Part::Variable(name) | Part::Encoded(name) => parts.push(Part::Encoded(name)),
            }),
            Piece::Value { value: Shown::Encoded(text), .. } => parts.push(Part::Text(text)),
            Piece::Value { value, .. } => parts.push(encode(&value.text())),
        }
    }
    Ok(if parts.is_empty() { Vec::new() } else { vec![parts] })
}

#[cfg(test)]
mod tests;
