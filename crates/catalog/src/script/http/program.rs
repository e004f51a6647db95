//! The script.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use super::HttpCall;
use super::parts::{Part, Parts};
use crate::script::quote;

/// End of the script's here-documents.
const END: &str = "MCC_END";

/// Writes what is wrong on standard error and ends the script.
const FAIL: &str = r#"mcc_fail() { printf 'mcc: environment variable %s %s\n' "$1" "$2" >&2; exit 2; }
"#;

/// Percent-encodes its argument into `mcc_out`, a character at a time. `od` says the bytes of those that need it.
const ENCODE: &str = r#"mcc_encode() {
mcc_in=$1 mcc_out=
while [ -n "$mcc_in" ]; do
mcc_rest=${mcc_in#?}
mcc_char=${mcc_in%"$mcc_rest"}
case $mcc_char in
[a-zA-Z0-9._~-]) mcc_out=$mcc_out$mcc_char ;;
*) for mcc_byte in $(printf %s "$mcc_char" | od -An -v -tx1); do mcc_out=$mcc_out%$mcc_byte; done ;;
esac
mcc_in=$mcc_rest
done
}
"#;

/// Copies that many lines of the input, the last without its line break. `read` takes no byte more than it needs.
const COPY: &str = r#"mcc_copy() {
mcc_lines=$1
while [ "$mcc_lines" -gt 1 ]; do
IFS= read -r mcc_line
printf '%s\n' "$mcc_line"
mcc_lines=$((mcc_lines - 1))
done
IFS= read -r mcc_line
printf %s "$mcc_line"
}
"#;

/// A request as the parts of a script.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) method: Option<&'a str>,
    pub(super) url: Parts,
    pub(super) headers: Vec<(String, Parts)>,
    pub(super) body: Option<Parts>,
    pub(super) timeout: Duration,
}

impl Program<'_> {
    /// The script and its standard input.
    pub(super) fn write(mut self) -> HttpCall {
        self.add_headers_of_body();
        let mut script = String::new();
        self.write_checks(&mut script);
        let stdin = self.body.take().map(|body| write_body(&mut script, &body));
        self.write_curl(&mut script, stdin.is_some());
        script.push_str(" 3<<");
        script.push_str(END);
        if !self.headers.is_empty() {
            script.push_str(" 4<<");
            script.push_str(END);
        }
        script.push_str("\nurl = \"");
        push_parts(&mut script, &self.url);
        script.push_str("\"\n");
        script.push_str(END);
        script.push('\n');
        if !self.headers.is_empty() {
            for (name, value) in &self.headers {
                script.push_str(name);
                script.push_str(": ");
                push_parts(&mut script, value);
                script.push('\n');
            }
            script.push_str(END);
            script.push('\n');
        }
        HttpCall { script, stdin }
    }

    /// A body that looks like JSON is said to be JSON; curl need not ask before it sends a large one.
    fn add_headers_of_body(&mut self) {
        let Some(body) = &self.body else { return };
        let given = |wanted: &str| self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let json =
            matches!(body.iter().next(), Some(Part::Text(text)) if text.trim_start().starts_with(['{', '[']));
        let (content_type, expect) = (given("content-type"), given("expect"));
        if json && !content_type {
            self.headers.push(("Content-Type".to_owned(), Part::Text("application/json".to_owned()).into()));
        }
        if !expect {
            self.headers.push(("Expect".to_owned(), Parts::default()));
        }
    }

    /// Environment variables have to be there, and to fit where they are written.
    fn write_checks(&self, script: &mut String) {
        let names = |parts: &Parts, encoded: bool| -> Vec<String> {
            let names = parts.iter().filter_map(|part| match part {
                Part::Variable(name) if !encoded => Some(name.clone()),
                Part::Encoded(name) if encoded => Some(name.clone()),
                _ => None,
            });
            names.collect()
        };
        let url: BTreeSet<String> = names(&self.url, false).into_iter().collect();
        let query: BTreeSet<String> = names(&self.url, true).into_iter().collect();
        let headers: BTreeSet<String> =
            self.headers.iter().flat_map(|(_, value)| names(value, false)).collect();
        let body: BTreeSet<String> = self.body.iter().flat_map(|body| names(body, false)).collect();
        let all: BTreeSet<&String> = url.iter().chain(&query).chain(&headers).chain(&body).collect();
        if all.is_empty() {
            return;
        }
        script.push_str(FAIL);
        for name in all {
            let _ = writeln!(script, "[ \"${{{name}+x}}\" ] || mcc_fail {name} 'is not set'");
        }
        for name in url {
            let _ = writeln!(
                script,
                "case ${name} in *[[:space:][:cntrl:]\\\"\\\\]*) mcc_fail {name} 'has characters that a URL can not have' ;; esac"
            );
        }
        for name in headers {
            let _ = writeln!(
                script,
                "case ${name} in *[[:cntrl:]]*) mcc_fail {name} 'has a line break, which a header can not have' ;; esac"
            );
        }
        if !query.is_empty() {
            script.push_str(ENCODE);
        }
        for name in query {
            let _ = writeln!(script, "mcc_encode \"${name}\"\nmcc_encoded_{name}=$mcc_out");
        }
    }

    fn write_curl(&self, script: &mut String, body: bool) {
        script.push_str("curl -q --globoff --proto =http,https --proto-redir =http,https --max-redirs 5 -L --fail-with-body -sS");
        let seconds = self.timeout.as_millis().div_ceil(1000).max(1);
        let _ = write!(script, " --connect-timeout {} --max-time {seconds}", seconds.min(10));
        match (self.method, body) {
            (None | Some("GET"), false) | (None | Some("POST"), true) => {}
            (Some("HEAD"), false) => script.push_str(" --head"),
            (Some(method), _) => {
                let _ = write!(script, " --request {method}");
            }
        }
        if body {
            script.push_str(" --data-binary @-");
        }
        if !self.headers.is_empty() {
            script.push_str(" -H @/dev/fd/4");
        }
        script.push_str(" --config /dev/fd/3");
    }
}

/// Writes parts into a here-document.
fn push_parts(script: &mut String, parts: &Parts) {
    for part in parts.iter() {
        match part {
            Part::Text(text) => quote::push_document(script, text, false, END, false),
            Part::Variable(name) => {
                let _ = write!(script, "${{{name}}}");
            }
            Part::Encoded(name) => {
                let _ = write!(script, "${{mcc_encoded_{name}}}");
            }
        }
    }
}

/// What the script reads. Without variables it is the body itself; with them, the texts between them are copied line by
/// line, and the one after the last by `cat`.
fn write_body(script: &mut String, body: &Parts) -> Vec<u8> {
    let last_variable = body.iter().enumerate().filter(|(_, part)| !matches!(part, Part::Text(_))).last();
    let Some((last_variable, _)) = last_variable else {
        return body
            .iter()
            .flat_map(|part| if let Part::Text(text) = part { text.as_bytes() } else { &[] })
            .copied()
            .collect();
    };
    let mut stdin = Vec::new();
    script.push_str(COPY);
    script.push_str("{\n");
    for (index, part) in body.iter().enumerate() {
        match part {
            Part::Text(text) if index < last_variable => {
                stdin.extend_from_slice(text.as_bytes());
                stdin.push(b'\n');
                let _ = writeln!(script, "mcc_copy {}", text.matches('\n').count() + 1);
            }
            Part::Text(text) => stdin.extend_from_slice(text.as_bytes()),
            Part::Variable(name) | Part::Encoded(name) => {
                let _ = writeln!(script, "printf %s \"${name}\"");
            }
        }
    }
    script.push_str("cat\n} | ");
    stdin
}
