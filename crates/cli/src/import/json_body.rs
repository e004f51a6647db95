//! Values inside JSON text: `{"q": "{{ q }}"}` breaks at the first quote in a value; `{"q": {{ q | tojson }}}` doesn't.

use mcc_crds::v1alpha1::ParamType;

use super::report::{Action, Notes};
use super::source::Param;
use super::template::{Expression, Segment, segments};

/// `text` with its values written as JSON, if it is a JSON object or list around them; else none.
///
/// A value alone in a string becomes `{{ value | tojson }}`; one beside other text is joined first. A list or dict
/// outside of strings becomes JSON; a str there is taken for JSON text and stays as it is.
pub fn rewrite(text: &str, params: &[Param], field: &str, notes: &mut Notes) -> Option<String> {
    let pieces = segments(text);
    if !text.trim_start().starts_with(['{', '['])
        || !pieces.iter().any(|piece| matches!(piece, Segment::Value(_)))
    {
        return None;
    }
    let mut state = State::default();
    for piece in &pieces {
        match piece {
            Segment::Text(text) => state.text(text)?,
            Segment::Value(inner) => state.value(inner, params),
            Segment::Control(_) => return None,
        }
    }
    if state.inside.is_some() || serde_json::from_str::<serde_json::Value>(&state.probe).is_err() {
        return None;
    }
    for (action, note) in state.notes {
        notes.add(field, action, note);
    }
    Some(state.out)
}

#[derive(Default)]
struct State {
    out: String,
    /// The same text with something harmless for every value: it has to be JSON.
    probe: String,
    /// The string that is open: its parts so far.
    inside: Option<Vec<Part>>,
    notes: Vec<(Action, String)>,
}

enum Part {
    /// Text as JSON writes it.
    Text(String),
    /// An expression.
    Value(String),
}

impl State {
    fn text(&mut self, text: &str) -> Option<()> {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            self.probe.push(c);
            match (&mut self.inside, c) {
                (None, '"') => self.inside = Some(Vec::new()),
                (None, c) => self.out.push(c),
                (Some(_), '"') => self.close()?,
                (Some(parts), c) => {
                    let mut piece = String::from(c);
                    if c == '\\' {
                        let escaped = chars.next()?;
                        self.probe.push(escaped);
                        piece.push(escaped);
                    }
                    match parts.last_mut() {
                        Some(Part::Text(last)) => last.push_str(&piece),
                        _ => parts.push(Part::Text(piece)),
                    }
                }
            }
        }
        Some(())
    }

    fn value(&mut self, inner: &str, params: &[Param]) {
        if let Some(parts) = &mut self.inside {
            self.probe.push('x');
            parts.push(Part::Value(inner.to_owned()));
            return;
        }
        self.probe.push('0');
        let expression = Expression::parse(inner);
        let kind = expression.plain().and_then(|name| params.iter().find(|param| param.name == name));
        match kind.map(|param| param.kind) {
            Some(ParamType::List | ParamType::Dict) => {
                self.out.push_str(&format!("{{{{ {inner} | tojson }}}}"));
                self.notes.push((Action::Changed, format!("{inner} is written as JSON")));
            }
            Some(ParamType::Str) => {
                self.out.push_str(&format!("{{{{ {inner} }}}}"));
                self.notes.push((
                    Action::Note,
                    format!("{inner} stands in the JSON as it is: callers give JSON text"),
                ));
            }
            _ => self.out.push_str(&format!("{{{{ {inner} }}}}")),
        }
    }

    /// Ends the open string.
    fn close(&mut self) -> Option<()> {
        let parts = self.inside.take()?;
        match parts.as_slice() {
            [Part::Value(inner)] => self.out.push_str(&format!("{{{{ {inner} | tojson }}}}")),
            parts if parts.iter().any(|part| matches!(part, Part::Value(_))) => {
                let joined = parts.iter().map(Part::operand).collect::<Option<Vec<_>>>()?.join(" ~ ");
                self.out.push_str(&format!("{{{{ ({joined}) | tojson }}}}"));
            }
            parts => {
                self.out.push('"');
                for part in parts {
                    if let Part::Text(text) = part {
                        self.out.push_str(text);
                    }
                }
                self.out.push('"');
                return Some(());
            }
        }
        self.notes.push((
            Action::Changed,
            "values inside JSON strings are written with tojson, so that quotes in them can't end the string"
                .to_owned(),
        ));
        Some(())
    }
}

impl Part {
    /// The part as an operand of `~`; none where its text can't be a template's string.
    fn operand(&self) -> Option<String> {
        match self {
            Self::Value(inner) if Expression::parse(inner).plain().is_some() => Some(inner.clone()),
            Self::Value(inner) => Some(format!("({inner})")),
            Self::Text(text) if text.contains(['\\', '\'', '"']) => None,
            Self::Text(text) => Some(format!("\"{text}\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Option<String> {
        let param = |name: &str, kind| Param {
            name: name.to_owned(),
            kind,
            required: true,
            default: None,
            description: String::new(),
            example: None,
            fixed: None,
        };
        let params = [param("s", ParamType::Str), param("l", ParamType::List), param("n", ParamType::Int)];
        rewrite(text, &params, "curl", &mut Notes::default())
    }

    #[test]
    fn bodies() {
        assert_eq!(
            run(r#"{"a":["{{ s }}"],"b":{{ n }}}"#).unwrap(),
            r#"{"a":[{{ s | tojson }}],"b":{{ n }}}"#
        );
        assert_eq!(run(r#"{"a":"x {{ s }}!"}"#).unwrap(), r#"{"a":{{ ("x " ~ s ~ "!") | tojson }}}"#);
        assert_eq!(
            run(r#"{"a\"b":{{ l }},"c":{{ s }}}"#).unwrap(),
            r#"{"a\"b":{{ l | tojson }},"c":{{ s }}}"#
        );
    }

    #[test]
    fn not_json() {
        for text in [
            "q={{ s }}",
            r#"{"a":1}"#,
            "{ {{ s }} x",
            r#"{"a":"{% if s %}x{% endif %}"}"#,
            r#"{"a":"\n{{ s }}"}"#,
        ] {
            assert_eq!(run(text), None, "{text}");
        }
    }
}
