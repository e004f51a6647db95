//! A template whose text is a shell script.

use serde_json::{Map, Value};

use super::engine::{self, Piece, Shown};
use super::lexer::{Lexer, Place, Refusal, Shape};
use super::paths::{self, Emit, Language};
use super::problem::{Position, RenderError, TemplateProblem, Warning};
use super::{TemplateParam, quote};

/// A compiled template whose finished text is a POSIX shell script.
///
/// The script may be given to `/bin/sh -c` of dash, busybox or bash. Whatever the values of a call are, they stay inside
/// the word they stand in: compiling checks every way through the template, rendering checks the finished text again.
#[derive(Clone, Debug)]
pub struct ScriptTemplate {
    source: Box<str>,
    emits: Box<[Emit]>,
}

impl ScriptTemplate {
    /// Checks and compiles a template over `params`.
    ///
    /// # Errors
    /// Everything that is wrong with it: syntax, unknown variables, filters and tests, quotes left open, and values in
    /// places where the shell or a program would run them or where they can't be quoted for certain.
    pub fn compile(
        source: &str,
        params: &[TemplateParam<'_>],
    ) -> Result<(Self, Vec<Warning>), Vec<TemplateProblem>> {
        let findings = paths::analyse(source, params, Language::Shell);
        if !findings.problems.is_empty() {
            return Err(findings.problems);
        }
        Ok((Self { source: source.into(), emits: findings.emits.into() }, findings.warnings))
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The script for the given values; names without a value or with a null are undefined.
    ///
    /// # Errors
    /// A value that can't stand where the template puts it: a missing one, a hyphen that would make it an option, a NUL,
    /// something else than an integer in `$((…))`, a line that would end a here-document, an option string with an open
    /// quote.
    pub fn render(&self, values: &Map<String, Value>) -> Result<String, RenderError> {
        let pieces =
            engine::render(&self.source, values).map_err(|error| blame(error, &self.source, &self.emits))?;
        let mut lexer = Lexer::new();
        let mut script = String::with_capacity(self.source.len() * 2);
        let mut last_value = self.source.len();
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Static { text, .. } => {
                    for c in text.chars() {
                        lexer.feed(c).map_err(|refusal| self.refused(&refusal, last_value))?;
                    }
                    script.push_str(text);
                }
                Piece::Value { value, offset } => {
                    last_value = *offset;
                    let ends_word = match pieces.get(index + 1) {
                        None => true,
                        Some(Piece::Static { text, .. }) => {
                            text.starts_with([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')'])
                        }
                        Some(Piece::Value { .. }) => false,
                    };
                    self.write_value(&mut script, &mut lexer, value, *offset, ends_word)?;
                }
            }
        }
        lexer.finish().map_err(|refusal| self.refused(&refusal, last_value))?;
        Ok(script)
    }

    fn write_value(
        &self,
        script: &mut String,
        lexer: &mut Lexer,
        value: &Shown,
        offset: usize,
        ends_word: bool,
    ) -> Result<(), RenderError> {
        let text = value.text();
        if text.contains('\0') {
            return Err(self.error(
                offset,
                "contains a NUL character, which no program can be given",
                "leave it out",
            ));
        }
        let shape = Shape {
            list: matches!(value, Shown::List(_) | Shown::Words(_)),
            words: matches!(value, Shown::Words(_)),
            text: Some(text),
            ends_word: Some(ends_word),
        };
        let delimiter = lexer.document().map(|(delimiter, strip)| (delimiter.to_owned(), strip));
        let place = lexer.value(&shape).map_err(|refusal| self.refused(&refusal, offset))?;
        let text = shape.text.unwrap_or_default();
        match place {
            Place::Bare { may_be_option, whole } => {
                if may_be_option && !self.emit(offset).is_some_and(|emit| emit.allow_leading_dash) {
                    self.check_dash(value, whole, offset)?;
                }
                match value {
                    Shown::List(items) | Shown::Words(items) if whole => {
                        let words: Vec<String> = items.iter().map(|item| quote::word(item)).collect();
                        script.push_str(&words.join(" "));
                    }
                    _ => script.push_str(&quote::word(&text)),
                }
            }
            Place::Double { after_name, .. } => {
                if after_name {
                    script.push_str("\"\"");
                }
                quote::push_double(script, &text);
            }
            Place::Single => quote::push_single(script, &text),
            Place::Arithmetic => match value {
                Shown::Json(Value::Number(number)) if number.as_i64().is_some_and(|int| int > i64::MIN) => {
                    script.push('(');
                    script.push_str(&text);
                    script.push(')');
                }
                _ => {
                    return Err(self.error(
                        offset,
                        "is not a 64-bit integer, which $((…)) needs",
                        "give a whole number",
                    ));
                }
            },
            Place::QuotedDocument => script.push_str(&text),
            Place::Document { guard } => {
                let (delimiter, strip) = delimiter.unwrap_or_default();
                quote::push_document(script, &text, guard, &delimiter, strip);
            }
        }
        Ok(())
    }

    /// A value that begins a bare word must not begin with a hyphen.
    fn check_dash(&self, value: &Shown, whole: bool, offset: usize) -> Result<(), RenderError> {
        let dashed = match value {
            Shown::Text(text) | Shown::Encoded(text) => text.starts_with('-'),
            Shown::List(items) if whole => {
                items.iter().any(|item| item.starts_with('-') && item.parse::<f64>().is_err())
            }
            Shown::List(items) => items.first().is_some_and(|item| item.starts_with('-')),
            Shown::Words(_) | Shown::Json(_) => false,
        };
        if dashed {
            let reason = "begins with a hyphen, which the tool would read as an option";
            return Err(self.error(offset, reason, "begin it with something else"));
        }
        Ok(())
    }

    fn emit(&self, offset: usize) -> Option<&Emit> {
        self.emits.iter().find(|emit| emit.offset == offset)
    }

    fn error(&self, offset: usize, reason: &str, fix: &str) -> RenderError {
        RenderError {
            param: self.emit(offset).and_then(|emit| emit.params.first().cloned()),
            reason: reason.to_owned(),
            fix: fix.to_owned(),
            position: Some(Position::of(&self.source, offset)),
        }
    }

    fn refused(&self, refusal: &Refusal, offset: usize) -> RenderError {
        self.error(offset, &refusal.reason, &refusal.fix)
    }
}

/// Names the parameter of an error of the engine, where the expression at fault has one.
pub(super) fn blame(mut error: RenderError, source: &str, emits: &[Emit]) -> RenderError {
    if error.param.is_none()
        && let Some(position) = error.position
    {
        // The engine names the part of the expression that failed; it lies behind the beginning of the expression.
        error.param = emits
            .iter()
            .filter(|emit| emit.offset <= position.offset)
            .max_by_key(|emit| emit.offset)
            .filter(|emit| !source[emit.offset..position.offset].contains("}}"))
            .and_then(|emit| emit.params.first().cloned());
    }
    error
}
