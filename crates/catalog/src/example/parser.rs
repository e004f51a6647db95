//! A recursive-descent parser of calls with literal arguments.

use serde_json::{Map, Number, Value};

use super::{Example, ExampleError};

/// Nesting beyond which a literal is refused.
const MAX_DEPTH: usize = 64;

pub(super) struct Parser {
    chars: Vec<char>,
    at: usize,
}

type Parsed<T> = Result<T, ExampleError>;

impl Parser {
    pub fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0 }
    }

    /// `name(arguments)` and nothing else.
    pub fn call(mut self) -> Parsed<Example> {
        self.space();
        let name = self.name_of_call()?;
        self.expect('(')?;
        let mut example = Example { name, arguments: Map::new(), positional: Vec::new() };
        loop {
            self.space();
            if self.take(')') {
                break;
            }
            self.argument(&mut example)?;
            self.space();
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        self.space();
        match self.peek() {
            None => Ok(example),
            Some(c) => Err(self.fail(format!("{c:?} after the call"))),
        }
    }

    /// Dotted, with hyphens: keys and names of tools.
    fn name_of_call(&mut self) -> Parsed<String> {
        let name = self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if name.is_empty() { Err(self.fail("expected name(argument=value, …)")) } else { Ok(name) }
    }

    fn argument(&mut self, example: &mut Example) -> Parsed<()> {
        let start = self.at;
        let name = self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        self.space();
        if !name.is_empty() && self.peek() == Some('=') {
            self.at += 1;
            let value = self.value(0)?;
            if example.arguments.insert(name.clone(), value).is_some() {
                return Err(self.fail(format!("{name} is given twice")));
            }
            return Ok(());
        }
        self.at = start;
        if !example.arguments.is_empty() {
            return Err(self.fail("an argument without a name after one with a name"));
        }
        let value = self.value(0)?;
        example.positional.push(value);
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Parsed<Value> {
        if depth > MAX_DEPTH {
            return Err(self.fail(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.space();
        match self.peek() {
            Some('[') => self.sequence(']', depth),
            Some('(') => self.parenthesis(depth),
            Some('{') => self.braces(depth),
            Some('"' | '\'') => self.strings().map(Value::from),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            Some(c) => Err(self.fail(format!("{c:?} begins no value"))),
            None => Err(self.fail("the call ends early")),
        }
    }

    fn sequence(&mut self, close: char, depth: usize) -> Parsed<Value> {
        self.elements(close, depth).map(|(elements, _)| Value::Array(elements))
    }

    /// A tuple, or one value in parentheses.
    fn parenthesis(&mut self, depth: usize) -> Parsed<Value> {
        let (mut elements, comma) = self.elements(')', depth)?;
        match elements.pop() {
            Some(only) if elements.is_empty() && !comma => Ok(only),
            last => {
                elements.extend(last);
                Ok(Value::Array(elements))
            }
        }
    }

    /// Elements up to `close`, and whether a comma came last.
    fn elements(&mut self, close: char, depth: usize) -> Parsed<(Vec<Value>, bool)> {
        self.at += 1;
        let mut elements = Vec::new();
        let mut comma = false;
        loop {
            self.space();
            if self.take(close) {
                return Ok((elements, comma));
            }
            elements.push(self.value(depth + 1)?);
            self.space();
            comma = self.take(',');
            if !comma {
                self.expect(close)?;
                return Ok((elements, comma));
            }
        }
    }

    /// A dict, or a set (as a list).
    fn braces(&mut self, depth: usize) -> Parsed<Value> {
        self.at += 1;
        let mut fields = Map::new();
        let mut elements = Vec::new();
        loop {
            self.space();
            if self.take('}') {
                break;
            }
            let start = self.at;
            let first = self.value(depth + 1)?;
            self.space();
            if elements.is_empty() && self.take(':') {
                let Value::String(name) = first else {
                    self.at = start;
                    return Err(self.fail("keys of an object are texts"));
                };
                let value = self.value(depth + 1)?;
                fields.insert(name, value);
            } else if fields.is_empty() {
                elements.push(first);
            } else {
                return Err(self.fail("expected ':' and a value"));
            }
            self.space();
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(if elements.is_empty() { Value::Object(fields) } else { Value::Array(elements) })
    }

    fn word(&mut self) -> Parsed<Value> {
        let start = self.at;
        let word = self.run(|c| c.is_alphanumeric() || c == '_');
        if matches!(self.peek(), Some('"' | '\'')) {
            self.at = start;
            return self.strings().map(Value::from);
        }
        match word.as_str() {
            "True" | "true" => Ok(Value::Bool(true)),
            "False" | "false" => Ok(Value::Bool(false)),
            "None" | "null" => Ok(Value::Null),
            _ => {
                self.at = start;
                Err(self.fail(format!("{word} is no literal value; put texts in quotes")))
            }
        }
    }

    fn number(&mut self) -> Parsed<Value> {
        let start = self.at;
        let negative = match self.peek() {
            Some('-') => self.skip(true),
            Some('+') => self.skip(false),
            _ => false,
        };
        let text = self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
        let mut text = text.replace('_', "");
        // The sign of an exponent isn't part of the run.
        if text.ends_with(['e', 'E']) && !text.starts_with("0x") && matches!(self.peek(), Some('+' | '-')) {
            text.push(self.chars[self.at]);
            self.at += 1;
            text.push_str(&self.run(|c| c.is_ascii_digit()));
        }
        let radix = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter().find_map(|(prefix, radix)| {
            text.to_ascii_lowercase().strip_prefix(prefix).map(|digits| i64::from_str_radix(digits, radix))
        });
        let sign = |number: i64| if negative { -number } else { number };
        let number = match radix {
            Some(integer) => integer.ok().map(|integer| Number::from(sign(integer))),
            None => match text.parse::<i64>() {
                Ok(integer) => Some(Number::from(sign(integer))),
                Err(_) => text
                    .parse::<f64>()
                    .ok()
                    .filter(|_| !text.starts_with(char::is_alphabetic))
                    .and_then(|float| Number::from_f64(if negative { -float } else { float })),
            },
        };
        number.map(Value::Number).ok_or_else(|| {
            self.at = start;
            self.fail(format!("{text:?} is no number"))
        })
    }

    /// One or more string literals in a row, which are one text.
    fn strings(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            let start = self.at;
            let prefix = self.run(char::is_alphabetic).to_ascii_lowercase();
            if !matches!(self.peek(), Some('"' | '\'')) {
                self.at = start;
                return Ok(text);
            }
            if !matches!(prefix.as_str(), "" | "r" | "u") {
                self.at = start;
                return Err(self.fail(format!("strings with the prefix {prefix} are no literals")));
            }
            self.string(prefix == "r", &mut text)?;
            self.space();
        }
    }

    fn string(&mut self, raw: bool, text: &mut String) -> Parsed<()> {
        let quote = self.chars[self.at];
        let triple = self.chars[self.at..].starts_with(&[quote; 3]);
        let end: Vec<char> = if triple { vec![quote; 3] } else { vec![quote] };
        self.at += end.len();
        loop {
            if self.chars[self.at..].starts_with(&end) {
                self.at += end.len();
                return Ok(());
            }
            let Some(c) = self.next() else { return Err(self.fail("the string isn't closed")) };
            match c {
                '\\' if raw => {
                    text.push('\\');
                    text.extend(self.next());
                }
                '\\' => self.escape(text)?,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Parsed<()> {
        let Some(c) = self.next() else { return Err(self.fail("the string isn't closed")) };
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '/' => c,
            '\n' => return Ok(()),
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            '0'..='7' => {
                self.at -= 1;
                let digits: String =
                    self.chars[self.at..].iter().take(3).take_while(|c| c.is_digit(8)).collect();
                self.at += digits.len();
                u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            // As Python: a backslash before anything else is a backslash.
            other => {
                text.push('\\');
                other
            }
        };
        text.push(plain);
        Ok(())
    }

    fn code(&mut self, digits: usize) -> Parsed<char> {
        let hex: String = self.chars[self.at..].iter().take(digits).collect();
        let code = u32::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == digits);
        let Some(code) = code else { return Err(self.fail(format!("expected {digits} hex digits"))) };
        self.at += digits;
        // JSON writes characters beyond the first plane as two halves.
        if (0xd800..0xdc00).contains(&code) && self.chars[self.at..].starts_with(&['\\', 'u']) {
            let low: String = self.chars[self.at + 2..].iter().take(4).collect();
            if let Some(low) = u32::from_str_radix(&low, 16).ok().filter(|low| (0xdc00..0xe000).contains(low))
            {
                self.at += 6;
                let joined = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(joined).ok_or_else(|| self.fail("no such character"));
            }
        }
        char::from_u32(code).ok_or_else(|| self.fail("no such character"))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Parsed<()> {
        self.space();
        if self.take(wanted) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(c) => self.fail(format!("expected {wanted:?}, not {c:?}")),
            None => self.fail(format!("expected {wanted:?}, not the end")),
        })
    }

    fn skip(&mut self, result: bool) -> bool {
        self.at += 1;
        result
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    /// White space and comments.
    fn space(&mut self) {
        loop {
            self.run(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.run(|c| c != '\n');
        }
    }

    fn fail(&self, message: impl Into<String>) -> ExampleError {
        ExampleError { at: self.at + 1, message: message.into() }
    }
}
