//! JSON text to a located tree.

use std::borrow::Cow;

use crate::model::Reason;

use super::tree::{Content, Document, Fault, Field, Keys, Mark, Node};
use super::yaml::{MAX_DEPTH, duplicate_key};

/// Reads all JSON values of a file, one after the other.
pub(super) fn read(text: &str) -> Vec<Document<'_>> {
    let mut reader = Reader { text, at: 0, mark: Mark::START, path: Vec::new(), faults: Vec::new() };
    let mut documents = Vec::new();
    loop {
        reader.skip_space();
        if reader.peek().is_none() {
            return documents;
        }
        match reader.value() {
            Ok(node) => {
                documents.push(Document { node: Some(node), faults: std::mem::take(&mut reader.faults) });
            }
            Err(fault) => {
                reader.faults.push(fault);
                documents.push(Document { node: None, faults: reader.faults });
                return documents;
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    mark: Mark,
    path: Vec<String>,
    faults: Vec<Fault>,
}

type Result<T> = std::result::Result<T, Fault>;

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.mark = Mark { line: self.mark.line + 1, column: 1 };
        } else {
            self.mark.column += 1;
        }
        Some(c)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.next();
        }
    }

    fn fault(&self, mark: Mark, message: String, fix: &str) -> Fault {
        Fault {
            mark,
            reason: Reason::InvalidSyntax,
            path: self.path.concat().trim_start_matches('.').to_owned(),
            message,
            fix: fix.to_owned(),
        }
    }

    fn found(&self) -> String {
        self.peek().map_or_else(|| "the end of the file".to_owned(), |c| format!("{c:?}"))
    }

    fn value(&mut self) -> Result<Node<'t>> {
        self.skip_space();
        let mark = self.mark;
        if self.path.len() > MAX_DEPTH {
            let message = format!("values are nested more than {MAX_DEPTH} deep");
            return Err(self.fault(mark, message, "flatten the value"));
        }
        let content = match self.peek() {
            Some('{') => Content::Map(self.map()?),
            Some('[') => Content::List(self.list()?),
            Some('"') => Content::Scalar { text: self.string()?, plain: false },
            _ => Content::Scalar { text: self.word()?, plain: true },
        };
        Ok(Node { mark, content })
    }

    fn map(&mut self) -> Result<Vec<Field<'t>>> {
        self.next();
        let mut fields: Vec<Field<'t>> = Vec::new();
        let mut keys = Keys::default();
        loop {
            self.skip_space();
            if self.peek() == Some('}') && fields.is_empty() {
                break;
            }
            let mark = self.mark;
            if self.peek() != Some('"') {
                let message = format!("expected a key in double quotes, found {}", self.found());
                return Err(self.fault(mark, message, "quote the key, and remove a comma before }"));
            }
            let key = self.string()?;
            self.skip_space();
            self.expect(':', "write a colon between key and value")?;
            self.path.push(format!(".{key}"));
            let value = self.value()?;
            if let Some(first) = keys.first(&fields, &key) {
                let path = self.path.concat().trim_start_matches('.').to_owned();
                self.faults.push(duplicate_key(mark, first, &key, path));
            } else {
                fields.push(Field { key, mark, value });
            }
            self.path.pop();
            self.skip_space();
            match self.peek() {
                Some(',') => self.next(),
                _ => break,
            };
        }
        self.expect('}', "separate fields by commas and close the object with }")?;
        Ok(fields)
    }

    fn list(&mut self) -> Result<Vec<Node<'t>>> {
        self.next();
        let mut elements = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(']') && elements.is_empty() {
                break;
            }
            self.path.push(format!("[{}]", elements.len()));
            elements.push(self.value()?);
            self.path.pop();
            self.skip_space();
            match self.peek() {
                Some(',') => self.next(),
                _ => break,
            };
        }
        self.expect(']', "separate elements by commas and close the list with ]")?;
        Ok(elements)
    }

    fn expect(&mut self, wanted: char, fix: &str) -> Result<()> {
        if self.peek() == Some(wanted) {
            self.next();
            return Ok(());
        }
        let message = format!("expected {wanted}, found {}", self.found());
        Err(self.fault(self.mark, message, fix))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Cow<'t, str>> {
        let (start, mark) = (self.at, self.mark);
        while matches!(self.peek(), Some(c) if c.is_alphanumeric() || "+-._".contains(c)) {
            self.next();
        }
        let word = &self.text[start..self.at];
        let fits = matches!(word, "true" | "false" | "null")
            || serde_json::from_str::<serde_json::Number>(word).is_ok();
        if fits {
            return Ok(Cow::Borrowed(word));
        }
        let found = if word.is_empty() { self.found() } else { format!("{word:?}") };
        let message = format!("expected a JSON value, found {found}");
        Err(self.fault(mark, message, "put text in double quotes, and remove a comma before ] or }"))
    }

    fn string(&mut self) -> Result<Cow<'t, str>> {
        let (start, mark) = (self.at, self.mark);
        self.next();
        let mut escaped = false;
        loop {
            let here = self.mark;
            match self.next() {
                None | Some('\n') => {
                    return Err(self.fault(
                        mark,
                        "the text isn't closed".into(),
                        "close it with a double quote",
                    ));
                }
                Some('"') => break,
                Some('\t') => {
                    return Err(self.fault(here, "a tab stands in the text".into(), "write it as \\t"));
                }
                Some('\\') => {
                    escaped = true;
                    self.next();
                }
                Some(_) => {}
            }
        }
        let raw = &self.text[start..self.at];
        if !escaped {
            return Ok(Cow::Borrowed(&raw[1..raw.len() - 1]));
        }
        if let Ok(text) = serde_json::from_str::<String>(raw) {
            return Ok(Cow::Owned(text));
        }
        let message = "the text has an escape that JSON doesn't know".into();
        Err(self.fault(mark, message, "write \\\\ for a backslash"))
    }
}
