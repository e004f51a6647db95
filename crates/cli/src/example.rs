//! Example calls: `name(a="x", b=[1, 2])`, literal keyword arguments as Python writes them.

use serde_json::{Map, Value};

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub name: String,
    /// Keyword arguments, in order.
    pub arguments: Map<String, Value>,
}

/// Why a text is not an example call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("example, character {at}: {expected}")]
pub struct ExampleError {
    /// Character, from 1.
    pub at: usize,
    /// What should stand there.
    pub expected: String,
}

/// Reads an example call.
pub fn parse(text: &str) -> Result<Call, ExampleError> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let name = reader.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).to_owned();
    if name.is_empty() {
        return Err(reader.error("the name of the tool is expected"));
    }
    reader.expect('(', "( is expected after the name")?;
    let mut arguments = Map::new();
    loop {
        reader.space();
        if reader.eat(')') {
            break;
        }
        let argument = reader.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).to_owned();
        if argument.is_empty() {
            return Err(reader.error("an argument has to be given by name, as in limit=10"));
        }
        reader.expect('=', "= is expected after the name of an argument")?;
        let value = reader.value()?;
        arguments.insert(argument, value);
        reader.space();
        if !reader.eat(',') && !reader.rest().starts_with(')') {
            return Err(reader.error(", or ) is expected"));
        }
    }
    reader.space();
    if reader.rest().is_empty() {
        Ok(Call { name, arguments })
    } else {
        Err(reader.error("nothing is expected after the call"))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, expected: &str) -> ExampleError {
        ExampleError { at: self.text[..self.at].chars().count() + 1, expected: expected.to_owned() }
    }

    fn space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take_while(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !matches(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn expect(&mut self, c: char, message: &str) -> Result<(), ExampleError> {
        self.space();
        if self.eat(c) { Ok(()) } else { Err(self.error(message)) }
    }

    fn value(&mut self) -> Result<Value, ExampleError> {
        self.space();
        match self.rest().chars().next() {
            Some('"' | '\'') => self.strings(),
            Some('[') => self.items('[', ']'),
            Some('(') => self.items('(', ')'),
            Some('{') => self.dict(),
            Some('r' | 'R' | 'b' | 'B' | 'f' | 'F') if self.rest()[1..].starts_with(['"', '\'']) => {
                let raw = self.rest().starts_with(['r', 'R']);
                self.at += 1;
                if raw { self.raw_string() } else { self.strings() }
            }
            Some(_) => self.word(),
            None => Err(self.error("a value is expected")),
        }
    }

    fn word(&mut self) -> Result<Value, ExampleError> {
        let start = self.at;
        let word = self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-'));
        let value = match word {
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            "None" | "null" => Some(Value::Null),
            _ => {
                let digits = word.replace('_', "");
                let number = digits.parse::<i64>().map(Value::from);
                number.ok().or_else(|| {
                    digits.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
                })
            }
        };
        value.ok_or_else(|| {
            self.at = start;
            self.error("a literal value is expected: a string in quotes, a number, True, False, None, a list or a dict")
        })
    }

    /// One or more strings next to each other, as Python joins them.
    fn strings(&mut self) -> Result<Value, ExampleError> {
        let mut text = String::new();
        while self.rest().starts_with(['"', '\'']) {
            text.push_str(&self.string()?);
            self.space();
        }
        Ok(Value::String(text))
    }

    fn quote(&mut self) -> &'static str {
        let rest = self.rest();
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote)).unwrap_or("\"");
        self.at += quote.len();
        quote
    }

    fn raw_string(&mut self) -> Result<Value, ExampleError> {
        let quote = self.quote();
        let Some(end) = self.rest().find(quote) else { return Err(self.error("the string is not closed")) };
        let text = self.rest()[..end].to_owned();
        self.at += end + quote.len();
        Ok(Value::String(text))
    }

    fn string(&mut self) -> Result<String, ExampleError> {
        let quote = self.quote();
        let mut text = String::new();
        loop {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                return Ok(text);
            }
            let Some(c) = self.rest().chars().next() else {
                return Err(self.error("the string is not closed"));
            };
            self.at += c.len_utf8();
            if c == '\\' {
                self.escape(&mut text)?;
            } else {
                text.push(c);
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), ExampleError> {
        let Some(c) = self.rest().chars().next() else { return Err(self.error("the string is not closed")) };
        self.at += c.len_utf8();
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '0' => text.push('\0'),
            '\n' => {}
            '\\' | '\'' | '"' => text.push(c),
            'x' | 'u' | 'U' => {
                let length = match c {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let digits = self.rest().get(..length).unwrap_or_default();
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let Some(code) = code else { return Err(self.error("a character code is expected")) };
                text.push(code);
                self.at += length;
            }
            // Python keeps the backslash of what it doesn't know.
            c => {
                text.push('\\');
                text.push(c);
            }
        }
        Ok(())
    }

    fn items(&mut self, open: char, close: char) -> Result<Value, ExampleError> {
        self.expect(open, "a list is expected")?;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.eat(close) {
                return Ok(Value::Array(items));
            }
            items.push(self.value()?);
            self.space();
            if !self.eat(',') && !self.rest().starts_with(close) {
                return Err(self.error("a comma or the end of the list is expected"));
            }
        }
    }

    fn dict(&mut self) -> Result<Value, ExampleError> {
        self.expect('{', "a dict is expected")?;
        let mut map = Map::new();
        loop {
            self.space();
            if self.eat('}') {
                return Ok(Value::Object(map));
            }
            let key = match self.value()? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            self.expect(':', ": is expected after a key")?;
            let value = self.value()?;
            map.insert(key, value);
            self.space();
            if !self.eat(',') && !self.rest().starts_with('}') {
                return Err(self.error("a comma or } is expected"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls() {
        let call = parse(r#"a.b-c(s="x\n\"y\"", t='it''s', n=-1_000, f=1.5, l=["a", 1], d={"k": True}, z=None,)"#).unwrap();
        assert_eq!(call.name, "a.b-c");
        assert_eq!(
            Value::Object(call.arguments),
            json!({"s": "x\n\"y\"", "t": "its", "n": -1000, "f": 1.5, "l": ["a", 1], "d": {"k": true}, "z": null})
        );
        assert_eq!(parse("f()").unwrap().arguments.len(), 0);
        assert_eq!(parse(r#"re(p="\\d+\.", r=r"\d")"#).unwrap().arguments["p"], "\\d+\\.");
    }

    #[test]
    fn refusals() {
        assert_eq!(parse("f(1)").unwrap_err().to_string(), "example, character 4: = is expected after the name of an argument");
        assert_eq!(parse("f(a=b)").unwrap_err().at, 5);
        assert_eq!(parse("f(a='x").unwrap_err().expected, "the string is not closed");
        assert!(parse("just words").is_err() && parse("").is_err() && parse("f(a=1) x").is_err());
    }
}
