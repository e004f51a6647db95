//! `curl:` entries: a plain request becomes an `http` tool, everything else a script.

use std::collections::BTreeMap;

use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value, json};

use super::environment::Variable;
use super::json_body;
use super::report::{Action, Notes};
use super::source::Param;
use super::template::{Expression, Segment, is_template, segments};
use super::words::{self, Piece, Word};

/// curl as imported scripts call it: no configuration file, quiet but for errors, no globbing in URLs, HTTP errors are
/// failures.
const CURL: &str = "curl -q -sSL --globoff --fail-with-body";

/// A plain request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Method, if it was given.
    pub method: Option<String>,
    /// URL.
    pub url: String,
    /// Headers.
    pub headers: BTreeMap<String, String>,
    /// Body.
    pub body: Option<String>,
    /// `--max-time`.
    pub timeout: Option<i64>,
    /// Environment variables that it uses.
    pub variables: Vec<Variable>,
}

impl Request {
    /// The `http` section of a Tool.
    pub fn section(&self) -> Map<String, Value> {
        let mut section = Map::new();
        if let Some(method) = &self.method {
            section.insert("method".to_owned(), json!(method));
        }
        section.insert("url".to_owned(), json!(self.url));
        if !self.headers.is_empty() {
            section.insert("headers".to_owned(), json!(self.headers));
        }
        if let Some(body) = &self.body {
            section.insert("body".to_owned(), json!(body));
        }
        section
    }
}

/// Whether a `curl:` value is nothing but a URL, which the original puts into single quotes. It does so with anything
/// that begins like one, but flags after the URL can only have been meant as flags.
pub fn is_bare_url(value: &str) -> bool {
    let value = value.trim();
    let has_space = |segment| matches!(segment, Segment::Text(text) if text.contains(char::is_whitespace));
    (value.starts_with("http://") || value.starts_with("https://"))
        && !segments(value).into_iter().any(has_space)
}

/// The request that `value` makes; none if it needs curl itself.
pub fn request(value: &str, stdin: bool, params: &[Param], notes: &mut Notes) -> Option<Request> {
    let mut builder = Builder { params, ..Builder::default() };
    if is_bare_url(value) {
        builder.url = Some(words::quoted(value.trim()));
    } else {
        builder.read(words::split(value)?)?;
    }
    if stdin {
        if !builder.data.is_empty() {
            return None;
        }
        builder.data.push(vec![Piece::Text(all_params(params))]);
        builder.json = true;
        notes.add("stdin", Action::Changed, "the body is built from the parameters");
    }
    builder.finish(notes)
}

/// All parameters as one JSON object, the way the original writes them to standard input.
fn all_params(params: &[Param]) -> String {
    let fields: Vec<String> = params
        .iter()
        .map(|param| {
            let name = &param.name;
            let optional = !param.required && param.default.is_none() && param.fixed.is_none();
            if optional {
                format!("\"{name}\": {name} if {name} is defined else none")
            } else {
                format!("\"{name}\": {name}")
            }
        })
        .collect();
    format!("{{{{ {{{}}} | tojson }}}}", fields.join(", "))
}

#[derive(Default)]
struct Builder<'a> {
    params: &'a [Param],
    method: Option<String>,
    url: Option<Word>,
    headers: Vec<Word>,
    data: Vec<Word>,
    json: bool,
    get: bool,
    timeout: Option<i64>,
}

impl Builder<'_> {
    fn read(&mut self, words: Vec<Word>) -> Option<()> {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let Some(flag) = flag(&word) else {
                if self.url.replace(word).is_some() {
                    return None;
                }
                continue;
            };
            let (flag, attached) = split_flag(&flag);
            if let "-s"
            | "-S"
            | "-sS"
            | "-L"
            | "-sL"
            | "-sSL"
            | "-f"
            | "-g"
            | "-i0"
            | "--silent"
            | "--show-error"
            | "--location"
            | "--fail"
            | "--fail-with-body"
            | "--globoff"
            | "--no-progress-meter" = flag
            {
                continue;
            }
            if let "-G" | "--get" = flag {
                self.get = true;
                continue;
            }
            let mut value =
                attached.map_or_else(|| words.next(), |text| Some(vec![Piece::Text(text.to_owned())]))?;
            match flag {
                "-X" | "--request" => self.method = Some(literal(&value)?),
                "-H" | "--header" => self.headers.push(value),
                "-A" | "--user-agent" => self.headers.push(named("User-Agent", value)),
                "-e" | "--referer" => self.headers.push(named("Referer", value)),
                "-d" | "--data" | "--data-ascii" | "--data-binary" | "--data-raw" => {
                    let raw = flag == "--data-raw";
                    if !raw && starts_with(&value, '@') {
                        return None;
                    }
                    self.data.push(value);
                }
                "--json" => {
                    if starts_with(&value, '@') {
                        return None;
                    }
                    self.json = true;
                    self.data.push(value);
                }
                "--data-urlencode" => self.data.push(url_encoded(&mut value)?),
                "-m" | "--max-time" => {
                    self.timeout = Some(whole_seconds(&literal(&value)?)?);
                }
                "--url" if self.url.is_none() => self.url = Some(value),
                "-o" | "--output" if literal(&value)? == "-" => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn finish(self, notes: &mut Notes) -> Option<Request> {
        let mut request = Request { method: self.method, timeout: self.timeout, ..Request::default() };
        request.url = text(&self.url?, &mut request.variables);
        for header in &self.headers {
            let header = text(header, &mut request.variables);
            let (name, value) = header.split_once(':')?;
            if is_template(name) || request.headers.keys().any(|other| other.eq_ignore_ascii_case(name)) {
                return None;
            }
            request.headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        if self.data.is_empty() {
            return (!self.get || request.method.is_none()).then_some(request);
        }
        let data: Vec<String> = self.data.iter().map(|word| text(word, &mut request.variables)).collect();
        let data = if self.json { data.concat() } else { data.join("&") };
        if self.get {
            let joint = if request.url.contains('?') { '&' } else { '?' };
            request.url = format!("{}{joint}{data}", request.url);
            return Some(request);
        }
        let mut default = |name: &str, value: &str| {
            if !request.headers.keys().any(|other| other.eq_ignore_ascii_case(name)) {
                request.headers.insert(name.to_owned(), value.to_owned());
            }
        };
        if self.json {
            default("Content-Type", "application/json");
            default("Accept", "application/json");
        } else {
            default("Content-Type", "application/x-www-form-urlencoded");
        }
        request.body = Some(json_body::rewrite(&data, self.params, "curl", notes).unwrap_or(data));
        request.method.get_or_insert_with(|| "POST".to_owned());
        Some(request)
    }
}

/// The word as a flag, if it is one.
fn flag(word: &Word) -> Option<String> {
    match word.as_slice() {
        [Piece::Text(text)] if text.starts_with('-') && text.len() > 1 => Some(text.clone()),
        _ => None,
    }
}

/// `-XPOST` is `-X POST`.
fn split_flag(flag: &str) -> (&str, Option<&str>) {
    match flag.get(..2) {
        Some(short @ ("-X" | "-H" | "-d" | "-m" | "-A" | "-e")) if flag.len() > 2 => {
            (short, Some(&flag[2..]))
        }
        _ => (flag, None),
    }
}

fn literal(word: &Word) -> Option<String> {
    match word.as_slice() {
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Seconds, rounded up.
fn whole_seconds(text: &str) -> Option<i64> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds))?;
    #[expect(clippy::cast_possible_truncation, reason = "bounded above")]
    Some(seconds.ceil() as i64)
}

fn starts_with(word: &Word, c: char) -> bool {
    matches!(word.first(), Some(Piece::Text(text)) if text.starts_with(c))
}

fn named(name: &str, mut value: Word) -> Word {
    value.insert(0, Piece::Text(format!("{name}: ")));
    value
}

/// `name=content` with the content URL-encoded.
fn url_encoded(word: &mut Word) -> Option<Word> {
    let Some(Piece::Text(first)) = word.first().cloned() else { return None };
    let (name, content) = first.split_once('=')?;
    if name.contains('@') {
        return None;
    }
    let prefix = if name.is_empty() { String::new() } else { format!("{name}=") };
    let mut encoded = vec![Piece::Text(prefix + &percent_encode(content))];
    for piece in &word[1..] {
        encoded.push(match piece {
            Piece::Text(text) => Piece::Text(percent_encode(text)),
            Piece::Value(inner) if Expression::parse(inner).has("urlencode") => Piece::Value(inner.clone()),
            Piece::Value(inner) => Piece::Value(format!("{inner} | urlencode")),
            Piece::Control(_) | Piece::Variable(_) => return None,
        });
    }
    Some(encoded)
}

fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
        out
    })
}

/// A word as the text of an `http` field.
fn text(word: &Word, variables: &mut Vec<Variable>) -> String {
    word.iter().fold(String::new(), |mut out, piece| {
        match piece {
            Piece::Text(text) => out.push_str(&text.replace("$(", "$$(")),
            Piece::Value(inner) => out.push_str(&format!("{{{{ {inner} }}}}")),
            Piece::Control(tag) => out.push_str(tag),
            Piece::Variable(variable) => {
                out.push_str(&format!("$({})", variable.name));
                variables.push(variable.clone());
            }
        }
        out
    })
}

/// The command line that runs `value` with curl, as a script before its quoting is looked at.
pub fn command(value: &str, stdin: bool, params: &[Param], notes: &mut Notes) -> String {
    let value = value.trim();
    let stdin = if stdin { " --json @-" } else { "" };
    if !is_bare_url(value) {
        return format!("{CURL}{stdin} {value}");
    }
    let mut url = String::new();
    let mut in_query = false;
    for segment in segments(value) {
        match segment {
            Segment::Text(text) => {
                in_query = in_query || text.contains('?');
                // A quote in the URL would end the quoting: the original breaks there.
                url.push_str(&text.replace('\'', "'\\''"));
            }
            Segment::Value(inner) if in_query && is_text(inner, params) => {
                notes.add("curl", Action::Changed, format!("{inner} is URL-encoded"));
                url.push_str(&format!("{{{{ {inner} | urlencode }}}}"));
            }
            Segment::Value(inner) => url.push_str(&format!("{{{{ {inner} }}}}")),
            Segment::Control(tag) => url.push_str(tag),
        }
    }
    format!("{CURL}{stdin} '{url}'")
}

/// Whether an expression is a str parameter as it is.
fn is_text(inner: &str, params: &[Param]) -> bool {
    let name = Expression::parse(inner).plain();
    params.iter().any(|param| Some(param.name.as_str()) == name && param.kind == ParamType::Str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: &str) -> Option<Request> {
        request(value, false, &[], &mut Notes::default())
    }

    #[test]
    fn urls() {
        let request = plain("https://x.org/s?q={{ q | urlencode }}&key=${K}&it's").unwrap();
        assert_eq!(request.url, "https://x.org/s?q={{ q | urlencode }}&key=$(K)&it's");
        assert_eq!(request.variables[0].name, "K");
        assert!(request.headers.is_empty() && request.method.is_none());
    }

    #[test]
    fn flags() {
        let request = plain(
            "-sS -XPUT -H 'A: {{ a }}' -H \"B: $TOKEN\" -d 'x={{ x }}' --data y=1 -m 2.5 https://x.org",
        )
        .unwrap();
        assert_eq!(request.method.as_deref(), Some("PUT"));
        assert_eq!(request.headers["A"], "{{ a }}");
        assert_eq!(request.headers["B"], "$(TOKEN)");
        assert_eq!(request.headers["Content-Type"], "application/x-www-form-urlencoded");
        assert_eq!(request.body.as_deref(), Some("x={{ x }}&y=1"));
        assert_eq!(request.timeout, Some(3));
    }

    #[test]
    fn forms() {
        for value in [
            "https://x.org -G --data-urlencode 'q=a b{{ q }}' -d r=1",
            "-G 'https://x.org' --data-urlencode 'q=a b{{ q }}' -d r=1",
        ] {
            let request = plain(value).unwrap();
            assert_eq!(request.url, "https://x.org?q=a%20b{{ q | urlencode }}&r=1");
        }
        let request = plain("--json '{\"q\": \"{{ q }}\"}' 'https://x.org'").unwrap();
        assert_eq!(request.body.as_deref(), Some("{\"q\": {{ q | tojson }}}"));
        assert_eq!(request.headers["Accept"], "application/json");
    }

    #[test]
    fn scripts() {
        for value in [
            "-u \"$K:\" 'https://x.org'",
            "'https://x.org' | jq .",
            "'https://x.org' -d @file",
            "-k 'https://x.org'",
            "{% if a %}-d 'a b'{% endif %} 'https://x.org'",
            "'https://x.org/$(date)' \"$(date)\"",
        ] {
            assert_eq!(plain(value), None, "{value}");
        }
        assert_eq!(
            command(" https://x.org/a'b{{ c }}", true, &[], &mut Notes::default()),
            "curl -q -sSL --globoff --fail-with-body --json @- 'https://x.org/a'\\''b{{ c }}'"
        );
    }
}
