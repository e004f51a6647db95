//! A template whose text nothing interprets.

use serde_json::{Map, Value};

use super::TemplateParam;
use super::engine::{self, Piece};
use super::paths::{self, Emit, Language};
use super::problem::{Position, RenderError, TemplateProblem, Warning};
use super::shell::blame;

/// What becomes of a `$` that came from a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dollar {
    /// It stays.
    Keep,
    /// It is doubled, so that Kubernetes, which expands `$(NAME)` in commands, arguments and environments, gives it back.
    Double,
}

/// A compiled template whose finished text is an argument, a header, a variable: interpolation is textual.
///
/// Strings are written as they are, other values as JSON, lists with a space between their elements.
#[derive(Clone, Debug)]
pub struct TextTemplate {
    source: Box<str>,
    emits: Box<[Emit]>,
}

impl TextTemplate {
    /// Checks and compiles a template over `params`.
    ///
    /// # Errors
    /// Everything that is wrong with it: syntax, unknown variables, filters and tests.
    pub fn compile(
        source: &str,
        params: &[TemplateParam<'_>],
    ) -> Result<(Self, Vec<Warning>), Vec<TemplateProblem>> {
        let findings = paths::analyse(source, params, Language::Plain);
        if !findings.problems.is_empty() {
            return Err(findings.problems);
        }
        Ok((Self { source: source.into(), emits: findings.emits.into() }, findings.warnings))
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text for the given values; names without a value or with a null are undefined.
    ///
    /// # Errors
    /// A missing value, or one that a filter can't use.
    pub fn render(&self, values: &Map<String, Value>, dollar: Dollar) -> Result<String, RenderError> {
        let mut out = String::with_capacity(self.source.len() * 2);
        for piece in self.pieces(values)? {
            match piece {
                Piece::Static { text, .. } => out.push_str(text),
                Piece::Value { value, .. } => match dollar {
                    Dollar::Keep => out.push_str(&value.text()),
                    Dollar::Double => out.push_str(&value.text().replace('$', "$$")),
                },
            }
        }
        Ok(out)
    }

    pub(super) fn pieces(&self, values: &Map<String, Value>) -> Result<Vec<Piece<'_>>, RenderError> {
        engine::render(&self.source, values).map_err(|error| blame(error, &self.source, &self.emits))
    }

    /// An error of the value that is printed at `offset`.
    pub(super) fn error(&self, offset: usize, reason: &str, fix: &str) -> RenderError {
        RenderError {
            param: self
                .emits
                .iter()
                .find(|emit| emit.offset == offset)
                .and_then(|emit| emit.params.first().cloned()),
            reason: reason.to_owned(),
            fix: fix.to_owned(),
            position: Some(Position::of(&self.source, offset)),
        }
    }
}
