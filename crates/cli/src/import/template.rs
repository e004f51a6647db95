//! The pieces of a Jinja template, as far as an import has to look into them.

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Text between the tags.
    Text(&'a str),
    /// `{{ … }}`: what stands inside, trimmed.
    Value(&'a str),
    /// `{% … %}` or `{# … #}`, whole.
    Control(&'a str),
}

/// The pieces of `text`. A tag that isn't closed is text.
pub fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some(at) = next_tag(rest) {
        let close = match &rest[at..at + 2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let Some(length) = rest[at + 2..].find(close) else { break };
        if at > 0 {
            segments.push(Segment::Text(&rest[..at]));
        }
        let end = at + 2 + length + 2;
        segments.push(if close == "}}" {
            let inner = &rest[at + 2..end - 2];
            let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
            Segment::Value(inner.strip_suffix(['-', '+']).unwrap_or(inner).trim())
        } else {
            Segment::Control(&rest[at..end])
        });
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        segments.push(Segment::Text(rest));
    }
    segments
}

/// Where the next tag begins. `${#` is a shell's own.
fn next_tag(text: &str) -> Option<usize> {
    let comment = text.match_indices("{#").map(|(at, _)| at).find(|&at| !text[..at].ends_with('$'));
    text.find("{{").into_iter().chain(text.find("{%")).chain(comment).min()
}

/// Whether `text` prints the parameter `name` outside of every conditional and loop, without a default for it.
pub fn prints_always(text: &str, name: &str) -> bool {
    let mut depth = 0_usize;
    segments(text).into_iter().any(|segment| match segment {
        Segment::Control(tag) => {
            let word = tag.trim_matches(['{', '}', '%', '#', '-', '+', ' ']).split_whitespace().next();
            match word.unwrap_or_default() {
                "if" | "for" => depth += 1,
                "endif" | "endfor" => depth = depth.saturating_sub(1),
                _ => {}
            }
            false
        }
        Segment::Value(inner) => {
            let expression = Expression::parse(inner);
            depth == 0 && expression.name == Some(name) && !expression.has("default")
        }
        Segment::Text(_) => false,
    })
}

/// `text` with an empty text for the parameter `name` where it has no value.
pub fn empty_if_absent(text: &str, name: &str) -> String {
    segments(text)
        .into_iter()
        .map(|segment| match segment {
            Segment::Value(inner) if Expression::parse(inner).name == Some(name) => {
                let filters = inner[name.len()..].trim();
                let space = if filters.is_empty() { "" } else { " " };
                format!("{{{{ {name} | default(''){space}{filters} }}}}")
            }
            Segment::Value(inner) => format!("{{{{ {inner} }}}}"),
            Segment::Text(text) | Segment::Control(text) => text.to_owned(),
        })
        .collect()
}

/// Whether `text` has any tag.
pub fn is_template(text: &str) -> bool {
    segments(text).iter().any(|segment| !matches!(segment, Segment::Text(_)))
}

/// An expression split at its filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression<'a> {
    /// The parameter, when the expression begins with a plain name.
    pub name: Option<&'a str>,
    /// The filters with their arguments, in order.
    pub filters: Vec<&'a str>,
}

impl<'a> Expression<'a> {
    /// Splits `inner`, the inside of a `{{ … }}`.
    pub fn parse(inner: &'a str) -> Self {
        let mut parts = split_filters(inner).into_iter();
        let base = parts.next().unwrap_or_default();
        Self { name: is_name(base).then_some(base), filters: parts.collect() }
    }

    /// Whether the expression has a filter of this name.
    pub fn has(&self, filter: &str) -> bool {
        self.filters.iter().any(|part| filter_name(part) == filter)
    }

    /// The parameter, if the expression is nothing else.
    pub fn plain(&self) -> Option<&'a str> {
        self.name.filter(|_| self.filters.is_empty())
    }
}

fn filter_name(part: &str) -> &str {
    part.split('(').next().unwrap_or_default().trim()
}

/// Whether `text` is a plain name.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The parts between `|` outside of strings and brackets.
fn split_filters(inner: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, '|') if depth == 0 => {
                parts.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inner[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        assert_eq!(
            segments("a {{- x | quote -}} b{% if y %}c{% endif %}"),
            [
                Segment::Text("a "),
                Segment::Value("x | quote"),
                Segment::Text(" b"),
                Segment::Control("{% if y %}"),
                Segment::Text("c"),
                Segment::Control("{% endif %}"),
            ]
        );
        assert_eq!(segments("{{ open"), [Segment::Text("{{ open")]);
        assert_eq!(segments("${#x} ${y#}"), [Segment::Text("${#x} ${y#}")]);
    }

    #[test]
    fn absent_values() {
        let text = "{{ a }}{% if b %}{{ b }}{% endif %}{{ c | default(1) }}{{ a | quote }}";
        assert!(prints_always(text, "a") && !prints_always(text, "b") && !prints_always(text, "c"));
        let rest = "{% if b %}{{ b }}{% endif %}{{ c | default(1) }}";
        let expected = format!("{{{{ a | default('') }}}}{rest}{{{{ a | default('') | quote }}}}");
        assert_eq!(empty_if_absent(text, "a"), expected);
    }

    #[test]
    fn expressions() {
        let expression = Expression::parse("x | default('a|b') | urlencode");
        assert_eq!(expression.name, Some("x"));
        assert_eq!(expression.filters, ["default('a|b')", "urlencode"]);
        assert!(expression.has("default") && expression.plain().is_none());
        assert_eq!(Expression::parse("x ~ y").name, None);
    }
}
