//! The template engine: expressions are minijinja's, output comes in pieces.
//!
//! A value never becomes text here. The formatter writes it in a form of its own ([`Shown::encode`]), the engine reports
//! which bytes of its output an expression wrote, and [`render`] reads the values back from exactly those bytes. So no
//! value can look like the template's own text or like another value, whatever is in it.

use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::machinery::ast::Stmt;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, ValueKind};
use minijinja::{
    Environment, Error, ErrorKind, Output, OutputSpanKind, State, UndefinedBehavior, Value, machinery,
};
use serde_json::{Map, Value as Json};

use super::problem::{Position, RenderError};
use super::quote;

/// Instructions, and units of 64 bytes, that one rendering may use: some tens of milliseconds, 64 MB.
const FUEL: u64 = 1_000_000;

/// Why a template that prints a parameter without a value can't be rendered.
pub(crate) const NO_VALUE: &str = "is used by the tool but has no value";

/// Longest template in bytes. The engine counts lines and columns in 16 bits.
pub(crate) const MAX_SOURCE: usize = 60_000;

static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    engine.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    engine.set_debug(false);
    engine.set_fuel(Some(FUEL));
    engine.set_formatter(format_value);
    engine.remove_global("debug");
    engine.add_filter("quote", |state: &State, value: Value| required(state, &value).map(|()| value));
    engine.add_filter("words", |state: &State, value: Value| words(state, &value));
    engine.add_filter("urlencode", |state: &State, value: Value| {
        urlencode(state, &value).map(Value::from_safe_string)
    });
    engine.add_filter("tojson", tojson);
    engine
});

/// How a comment begins: with a space, because `${#name}` and `${#}` are a shell's own.
const COMMENT: &str = "{# ";

/// White space as the original system's Jinja2: block lines vanish, the last newline stays.
pub(crate) fn syntax() -> Result<SyntaxConfig, Error> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    syntax.comment_delimiters(COMMENT, "#}").build()
}

/// Where something stands that looks like a comment and is none.
pub(crate) fn almost_a_comment(source: &str) -> Option<usize> {
    let mut openings = source.match_indices("{#").map(|(at, _)| at);
    openings.find(|&at| {
        let rest = &source[at..];
        !source[..at].ends_with('$') && !rest.starts_with(COMMENT) && rest[2..].contains("#}")
    })
}

/// Parses `source`.
pub(crate) fn parse(source: &str) -> Result<Stmt<'_>, Error> {
    machinery::parse(source, "template", syntax()?)
}

/// A value as the template prints it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    /// A string.
    Text(String),
    /// What the filter `urlencode` made.
    Encoded(String),
    /// A number, a boolean or an object, as JSON.
    Json(Json),
    /// A list; elements that aren't strings as JSON.
    List(Vec<String>),
    /// What the filter `words` made: a list whose elements may be options.
    Words(Vec<String>),
}

impl Shown {
    fn of(value: &Value) -> Result<Self, Error> {
        if let Some(words) = value.downcast_object_ref::<Words>() {
            return Ok(Self::Words(words.0.clone()));
        }
        // Nothing but `urlencode` makes safe strings here; filters after it may keep the mark on something else.
        let encoded = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-~/%+&=".contains(&byte))
        };
        Ok(match to_json(value)? {
            Json::String(text) if value.is_safe() && encoded(&text) => Self::Encoded(text),
            Json::String(text) => Self::Text(text),
            Json::Array(items) => Self::List(items.iter().map(json_text).collect()),
            other => Self::Json(other),
        })
    }

    fn encode(&self) -> String {
        match self {
            Self::Text(text) => format!("t{text}"),
            Self::Encoded(text) => format!("e{text}"),
            Self::Json(json) => format!("j{json}"),
            Self::List(items) => format!("l{}", Json::from(items.clone())),
            Self::Words(items) => format!("w{}", Json::from(items.clone())),
        }
    }

    fn decode(encoded: &str) -> Option<Self> {
        let rest = encoded.get(1..)?;
        Some(match encoded.as_bytes()[0] {
            b't' => Self::Text(rest.to_owned()),
            b'e' => Self::Encoded(rest.to_owned()),
            b'j' => Self::Json(serde_json::from_str(rest).ok()?),
            b'l' => Self::List(serde_json::from_str(rest).ok()?),
            b'w' => Self::Words(serde_json::from_str(rest).ok()?),
            _ => return None,
        })
    }

    /// The value as one text: elements joined by a space, an object as JSON.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Encoded(text) => text.clone(),
            Self::Json(json) => json.to_string(),
            Self::List(items) | Self::Words(items) => items.join(" "),
        }
    }
}

/// A piece of a rendered template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece<'s> {
    /// The template's own text.
    Static {
        /// Its bytes.
        text: &'s str,
        /// Where they begin in the source.
        offset: usize,
    },
    /// A printed value.
    Value {
        /// The value.
        value: Shown,
        /// Where its expression begins in the source.
        offset: usize,
    },
}

/// Renders `source` with `values`; nulls count as absent.
pub(crate) fn render<'s>(source: &'s str, values: &Map<String, Json>) -> Result<Vec<Piece<'s>>, RenderError> {
    let given = values.iter().filter(|(_, value)| !value.is_null());
    let context = Value::from_pairs(given.map(|(name, value)| (name.as_str(), from_json(value))));
    let outcome = (|| {
        let mut engine: Environment<'_> = ENGINE.clone();
        engine.set_syntax(syntax()?);
        let (text, spans) = engine.template_from_str(source)?.render_with_spans(context)?;
        let mut pieces = Vec::with_capacity(spans.len());
        let mut done = 0;
        for span in spans {
            let (output, origin) = (span.output_range(), span.source_range());
            // Every byte belongs to exactly one span, or the separation of text and values isn't certain.
            let raw = source.get(origin.clone()).filter(|_| output.start == done);
            done = output.end;
            pieces.push(match (span.kind(), raw) {
                (OutputSpanKind::Raw, Some(raw)) if raw == &text[output.clone()] => {
                    Piece::Static { text: raw, offset: origin.start }
                }
                (OutputSpanKind::Expression, Some(_)) => Piece::Value {
                    value: Shown::decode(&text[output])
                        .ok_or_else(|| internal("a value could not be read back"))?,
                    offset: origin.start,
                },
                _ => return Err(internal("output of unknown origin")),
            });
        }
        if done == text.len() { Ok(pieces) } else { Err(internal("output of unknown origin")) }
    })();
    outcome.map_err(|error| render_error(source, &error))
}

fn internal(detail: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, detail)
}

fn render_error(source: &str, error: &Error) -> RenderError {
    let position = error.range().map(|range| Position::of(source, range.start));
    let (reason, fix) = match error.kind() {
        ErrorKind::OutOfFuel => {
            ("the template takes too long with these values".to_owned(), "give shorter values")
        }
        ErrorKind::UndefinedError => (NO_VALUE.to_owned(), "give it a value"),
        _ => {
            let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            (format!("does not fit the tool's template: {detail}"), "")
        }
    };
    RenderError { param: None, reason, fix: fix.to_owned(), position }
}

fn format_value(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() || value.is_none() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    out.write_str(&Shown::of(value)?.encode()).map_err(Error::from)
}

fn required(_: &State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() || value.is_none() { Err(Error::from(ErrorKind::UndefinedError)) } else { Ok(()) }
}

/// A JSON value for the engine.
pub(crate) fn from_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(()),
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), ..) => Value::from(int),
            (_, Some(int), _) => Value::from(int),
            (.., float) => Value::from(float.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(from_json).collect(),
        Json::Object(entries) => {
            Value::from_pairs(entries.iter().map(|(name, value)| (name.as_str(), from_json(value))))
        }
    }
}

/// A value of the engine as JSON; integers stay integers.
fn to_json(value: &Value) -> Result<Json, Error> {
    Ok(match value.kind() {
        ValueKind::Bool => Json::from(value.is_true()),
        ValueKind::Number => number(value)?,
        ValueKind::String => Json::from(value.as_str().unwrap_or_default()),
        ValueKind::Map => {
            let mut entries = Map::new();
            for key in value.try_iter()? {
                entries.insert(key.to_string(), to_json(&value.get_item(&key)?)?);
            }
            Json::Object(entries)
        }
        ValueKind::Seq | ValueKind::Iterable => {
            Json::Array(value.try_iter()?.map(|item| to_json(&item)).collect::<Result<_, _>>()?)
        }
        ValueKind::Undefined | ValueKind::None => Json::Null,
        other => {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("a value of kind {other} can't be printed"),
            ));
        }
    })
}

fn number(value: &Value) -> Result<Json, Error> {
    if value.is_integer() {
        if let Ok(int) = i64::try_from(value.clone()) {
            return Ok(Json::from(int));
        }
        if let Ok(int) = u64::try_from(value.clone()) {
            return Ok(Json::from(int));
        }
        return Err(Error::new(ErrorKind::InvalidOperation, "a number is larger than 64 bits"));
    }
    let float = f64::try_from(value.clone())?;
    serde_json::Number::from_f64(float).map(Json::Number).ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, format!("{float} is not a number that JSON has"))
    })
}

/// An element of a list as a word.
fn json_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The result of the filter `words`.
#[derive(Debug)]
struct Words(Vec<String>);

impl Object for Words {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).map(|word| Value::from(word.as_str()))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// The engine's own `tojson`, without the mark that only `urlencode` may set.
fn tojson(value: &Value, indent: Option<Value>, args: Kwargs) -> Result<String, Error> {
    minijinja::filters::tojson(value, indent, args).map(|json| json.as_str().unwrap_or_default().to_owned())
}

/// Splits an option string, or each element of a list, as a shell would.
fn words(state: &State, value: &Value) -> Result<Value, Error> {
    required(state, value)?;
    let texts = match Shown::of(value)? {
        Shown::List(items) | Shown::Words(items) => items,
        single => vec![single.text()],
    };
    let mut words = Vec::new();
    for text in texts {
        state.consume_fuel(text.len() as u64 / 16)?;
        let split = quote::split_words(&text).map_err(|problem| {
            Error::new(ErrorKind::InvalidOperation, format!("the option string {problem}"))
        })?;
        words.extend(split);
    }
    Ok(Value::from_object(Words(words)))
}

/// Percent-encodes as Jinja2 does: letters, digits and `_.-~/` stay; an object, or a list of pairs, becomes a query
/// string with `+` for blanks.
fn urlencode(state: &State, value: &Value) -> Result<String, Error> {
    required(state, value)?;
    let pairs: Vec<(Value, Value)> = match value.kind() {
        ValueKind::Map => value
            .try_iter()?
            .map(|key| Ok((key.clone(), value.get_item(&key)?)))
            .collect::<Result<_, Error>>()?,
        ValueKind::Seq | ValueKind::Iterable if value.downcast_object_ref::<Words>().is_none() => value
            .try_iter()?
            .map(|pair| {
                if pair.len() != Some(2) || pair.as_str().is_some() {
                    return Err(Error::new(
                        ErrorKind::InvalidOperation,
                        "urlencode takes a text, an object or a list of pairs",
                    ));
                }
                Ok((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?))
            })
            .collect::<Result<_, Error>>()?,
        _ => {
            let text = Shown::of(value)?.text();
            state.consume_fuel(text.len() as u64 / 16)?;
            return Ok(percent_encode(&text, b"_.-~/"));
        }
    };
    let mut query = Vec::with_capacity(pairs.len());
    for (name, value) in pairs {
        if value.is_undefined() || value.is_none() {
            continue;
        }
        let (name, value) = (Shown::of(&name)?.text(), Shown::of(&value)?.text());
        state.consume_fuel((name.len() + value.len()) as u64 / 16)?;
        let encode = |text: &str| percent_encode(text, b"_.-~ ").replace(' ', "+");
        query.push(format!("{}={}", encode(&name), encode(&value)));
    }
    Ok(query.join("&"))
}

/// `text` with every byte but ASCII letters, digits and those of `keep` as %XX.
pub(crate) fn percent_encode(text: &str, keep: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len() + 16);
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}
