//! The arguments of our own tools: read forgivingly where the meaning is certain, refused with the right call where it
//! isn't. All problems are reported at once.

use serde_json::{Map, Value};

use super::answer::{Refusal, refused};

/// Arguments being read.
pub(crate) struct Arguments<'a> {
    given: Map<String, Value>,
    tool: &'a str,
    usage: &'a str,
    problems: Vec<String>,
}

impl<'a> Arguments<'a> {
    /// Takes the arguments of `tool`, of which `known` are the names. Hyphens stand for underscores.
    pub(crate) fn new(
        tool: &'a str,
        usage: &'a str,
        known: &[&str],
        given: Option<Map<String, Value>>,
    ) -> Self {
        let mut arguments = Self::open(tool, usage, known, given);
        for name in arguments.given.keys().filter(|name| !known.contains(&name.as_str())) {
            let name = shown(name);
            let known = known.iter().map(|known| format!("'{known}'")).collect::<Vec<_>>().join(", ");
            arguments.problems.push(if known.is_empty() {
                format!("{name} is no argument: it takes none")
            } else {
                format!("{name} is no argument: it takes {known}")
            });
        }
        arguments
    }

    /// As [`Arguments::new`], with names that aren't known left for [`Arguments::rest`].
    pub(crate) fn open(
        tool: &'a str,
        usage: &'a str,
        known: &[&str],
        given: Option<Map<String, Value>>,
    ) -> Self {
        let mut read = Map::new();
        for (name, value) in given.unwrap_or_default() {
            let plain = name.replace('-', "_");
            let meant = known.contains(&plain.as_str()) && !read.contains_key(&plain);
            read.insert(if meant { plain } else { name }, value);
        }
        Self { given: read, tool, usage, problems: Vec::new() }
    }

    /// A value as it is; `null` counts.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.given.shift_remove(name)
    }

    /// Arguments nobody took.
    pub(crate) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.given)
    }

    /// A text; a number or boolean is taken as its text.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.present(name)? {
            Value::String(text) => Some(text),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            other => self.wrong(name, "a string", &other),
        }
    }

    /// A text that has to be there.
    pub(crate) fn required_text(&mut self, name: &str) -> String {
        let before = self.problems.len();
        let text = self.text(name);
        if text.is_none() && self.problems.len() == before {
            self.problems.push(format!("'{name}' is missing"));
        }
        text.unwrap_or_default()
    }

    /// A number, or its text.
    pub(crate) fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.present(name)?;
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite()).or_else(|| self.wrong(name, "a number", &value))
    }

    /// A whole number of at least `least`, or its text.
    pub(crate) fn integer(&mut self, name: &str, least: i64) -> Option<i64> {
        let value = self.present(name)?;
        #[expect(clippy::cast_possible_truncation, reason = "the number is whole and small")]
        let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
        let number = match &value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| *number >= least);
        number.or_else(|| self.wrong(name, &format!("a whole number of at least {least}"), &value))
    }

    /// Texts: a list, its JSON text, or one text with commas.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        let Some(value) = self.present(name) else { return Vec::new() };
        let elements = match &value {
            Value::Array(elements) => Some(elements.clone()),
            Value::String(text) if text.trim_start().starts_with('[') => serde_json::from_str(text).ok(),
            Value::String(text) => Some(text.split(',').map(|part| Value::from(part.trim())).collect()),
            _ => None,
        };
        let texts: Option<Vec<String>> = elements.and_then(|elements| {
            elements.iter().map(|element| element.as_str().map(str::to_owned)).collect()
        });
        match texts {
            Some(texts) => texts.into_iter().filter(|text| !text.is_empty()).collect(),
            None => self.wrong(name, "a list of strings", &value).unwrap_or_default(),
        }
    }

    /// Reports one more problem.
    pub(crate) fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// The refusal, if anything was wrong.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(refused(format!(
            "Invalid arguments for {}: {}.\nCall it as {}",
            self.tool,
            self.problems.join("; "),
            self.usage
        )))
    }

    fn present(&mut self, name: &str) -> Option<Value> {
        self.value(name).filter(|value| !value.is_null())
    }

    fn wrong<T>(&mut self, name: &str, expected: &str, got: &Value) -> Option<T> {
        self.problems.push(format!("'{name}' must be {expected}, not {}", shown(&got.to_string())));
        None
    }
}

/// A caller's text in a message: short, on one line.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("'{short}'")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(given: Value) -> Arguments<'static> {
        let Value::Object(given) = given else { panic!("an object") };
        Arguments::new("search", "search(query=\"…\")", &["query", "min_score", "limit"], Some(given))
    }

    fn message(arguments: Arguments<'_>) -> String {
        arguments.finish().unwrap_err().0
    }

    #[test]
    fn numbers_as_text_and_hyphens_are_read() {
        let mut given = arguments(json!({"query": 7, "min-score": " 3.5 ", "limit": 5.0}));
        assert_eq!(given.required_text("query"), "7");
        assert_eq!(given.number("min_score"), Some(3.5));
        assert_eq!(given.integer("limit", 1), Some(5));
        assert!(given.finish().is_ok());
    }

    #[test]
    fn null_is_absent() {
        let mut given = arguments(json!({"query": "x", "limit": null}));
        given.required_text("query");
        assert_eq!(given.integer("limit", 1), None);
        assert!(given.finish().is_ok());
    }

    #[test]
    fn every_problem_is_named_with_the_right_call() {
        let mut given = arguments(json!({"q": "x", "limit": 0, "min_score": "high"}));
        given.required_text("query");
        given.number("min_score");
        given.integer("limit", 1);
        insta::assert_snapshot!(message(given), @r#"
        Invalid arguments for search: 'q' is no argument: it takes 'query', 'min_score', 'limit'; 'query' is missing; 'min_score' must be a number, not '"high"'; 'limit' must be a whole number of at least 1, not '0'.
        Call it as search(query="…")
        "#);
    }

    #[test]
    fn lists_are_read_in_three_forms() {
        for form in [json!(["a", "b"]), json!("[\"a\", \"b\"]"), json!("a, b")] {
            let mut given = arguments(json!({"query": form}));
            assert_eq!(given.texts("query"), ["a", "b"]);
        }
        let mut given = arguments(json!({"query": [1]}));
        given.texts("query");
        assert!(given.finish().is_err());
    }
}
