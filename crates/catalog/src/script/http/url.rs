//! URLs out of a template's own text, values and environment variables.

use super::super::engine::{Shown, percent_encode};
use super::parts::{Part, Parts};

/// What a URL may hold besides letters and digits, `%` included: the rest is percent-encoded.
const LEGAL: &[u8] = b"_.-~:/?#[]@!$&'()*+,;=%";

/// Reason and fix.
type Fault = (&'static str, &'static str);

/// How far a URL has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Before `://`.
    #[default]
    Scheme,
    /// Up to the first `/`, `?` or `#`.
    Host,
    Path,
    Query,
    /// What is never sent.
    Fragment,
}

/// A URL that is being written.
#[derive(Debug, Default)]
pub(super) struct Url {
    parts: Parts,
    stage: Stage,
    /// The text before the stage began, as far as it decides when the next one does.
    recent: String,
    /// The segment of the path so far, and whether a value is in it.
    segment: String,
    segment_value: bool,
}

impl Url {
    /// The template's own text. Line breaks, which a folded template leaves, count for nothing.
    pub(super) fn push_static(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r' | '\t')).collect();
        let text = if self.parts.is_empty() { text.trim_start() } else { &text };
        self.push_text(&percent_encode(text, LEGAL));
    }

    /// Text that may hold the delimiters of a URL.
    fn push_text(&mut self, text: &str) {
        for c in text.chars() {
            match (self.stage, c) {
                (Stage::Scheme, _) => {
                    self.recent.push(c);
                    if self.recent.ends_with("://") {
                        self.stage = Stage::Host;
                    }
                }
                (Stage::Host, '/') => self.stage = Stage::Path,
                (Stage::Host | Stage::Path, '?') => self.stage = Stage::Query,
                (Stage::Host | Stage::Path | Stage::Query, '#') => self.stage = Stage::Fragment,
                _ => {}
            }
            if self.stage == Stage::Fragment {
                return;
            }
            match (self.stage, c) {
                (Stage::Path, '/') if !self.dotted() => {
                    self.segment.clear();
                    self.segment_value = false;
                }
                (Stage::Path, '/') => self.segment.push('/'),
                (Stage::Path, _) => self.segment.push(c),
                _ => {}
            }
            self.parts.push(Part::Text(c.to_string()));
        }
    }

    /// An environment variable: as it is, the beginning of the URL or a part of it.
    pub(super) fn push_variable(&mut self, variable: Part) {
        if matches!(self.stage, Stage::Scheme | Stage::Host) && self.parts.is_empty() {
            self.stage = Stage::Path;
        }
        if self.stage != Stage::Fragment {
            self.segment.push('x');
            self.parts.push(variable);
        }
    }

    /// A value of the call.
    pub(super) fn push_value(&mut self, value: &Shown) -> Result<(), Fault> {
        let text = value.text();
        check_nul(&text)?;
        match self.stage {
            Stage::Scheme if self.parts.is_empty() => self.push_text(&percent_encode(text.trim(), LEGAL)),
            Stage::Scheme | Stage::Host => {
                let host = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte));
                if !host {
                    return Err(("is not a host name", "give letters, digits, . and - only"));
                }
                self.push_text(&text);
            }
            Stage::Path => {
                self.segment_value = true;
                let encoded = encode(value, &text);
                self.segment.push_str(&encoded);
                self.parts.push(Part::Text(encoded));
            }
            Stage::Query => self.parts.push(Part::Text(encode(value, &text))),
            Stage::Fragment => {}
        }
        Ok(())
    }

    /// Whether a value made the segment one that leads elsewhere.
    fn dotted(&self) -> bool {
        self.segment_value && self.segment.split('/').any(|segment| matches!(segment, "." | ".."))
    }

    /// The finished URL.
    ///
    /// # Errors
    /// A value made a part of the path `.` or `..`, or the URL is neither http nor https.
    pub(super) fn finish(self) -> Result<FinishedUrl, Fault> {
        if self.dotted() {
            return Err(("makes a part of the path . or .., which leads elsewhere", "give another value"));
        }
        let http = self.recent.is_empty()
            || ["http://", "https://"].contains(&self.recent.to_ascii_lowercase().as_str());
        if !http || self.parts.is_empty() {
            return Err(("does not make an http:// or https:// URL", "give a whole URL"));
        }
        let has_query = self.stage == Stage::Query || self.in_fragment_of_query();
        Ok(FinishedUrl { parts: self.parts, has_query })
    }

    fn in_fragment_of_query(&self) -> bool {
        self.stage == Stage::Fragment
            && self.parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('?')))
    }
}

/// A URL that takes query parameters.
#[derive(Debug)]
pub(super) struct FinishedUrl {
    parts: Parts,
    has_query: bool,
}

impl FinishedUrl {
    /// Adds a parameter whose value is encoded already.
    pub(super) fn push_query(&mut self, name: &str, value: Parts) {
        let separator = if std::mem::replace(&mut self.has_query, true) { '&' } else { '?' };
        self.parts.push(Part::Text(format!("{separator}{}=", percent_encode(name, b"_.-~"))));
        self.parts.extend(value);
    }

    pub(super) fn into_parts(self) -> Parts {
        self.parts
    }
}

fn encode(value: &Shown, text: &str) -> String {
    match value {
        Shown::Encoded(text) => text.clone(),
        _ => percent_encode(text, b"_.-~"),
    }
}

/// Refuses NUL, which ends strings of C.
pub(super) fn check_nul(text: &str) -> Result<(), Fault> {
    if text.contains('\0') {
        Err(("contains a NUL character, which no program can be given", "leave it out"))
    } else {
        Ok(())
    }
}
