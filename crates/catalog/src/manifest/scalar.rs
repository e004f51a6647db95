//! What a plain (unquoted) scalar is to kubectl.
//!
//! kubectl reads YAML 1.1 with a few differences (sigs.k8s.io/yaml over a fork of go-yaml 2): `yes` and `y` are
//! booleans, `010` is octal, `_` may stand between digits; dates and `1:30` are text. A manifest has to mean the same
//! here and there, so the reading is kubectl's, and one that surprises is reported.

use serde_json::{Number, Value};

/// The value of a plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    /// Above the range of `Int`.
    Large(u64),
    Float(f64),
    Text,
}

/// How a plain scalar is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    pub value: Plain,
    /// The value isn't what most readers take it for: it must be quoted or written plainly.
    pub surprising: bool,
}

impl Reading {
    /// The value in words: `the boolean true`, `the number 8`.
    pub fn describe(&self) -> String {
        match &self.value {
            Plain::Null => "null".to_owned(),
            Plain::Bool(value) => format!("the boolean {value}"),
            Plain::Text => "text".to_owned(),
            number => format!("the number {}", number.number().unwrap_or_default()),
        }
    }

    /// How to write the value so that it can't be mistaken, for a message: `true`, `8`.
    pub fn canonical(&self) -> Option<String> {
        match &self.value {
            Plain::Bool(value) => Some(value.to_string()),
            other => other.number(),
        }
    }
}

impl Plain {
    fn number(&self) -> Option<String> {
        match self {
            Self::Int(value) => Some(value.to_string()),
            Self::Large(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The value as JSON; `text` is the scalar's text. None for infinities and NaN, which JSON doesn't have.
    pub fn to_json(&self, text: &str) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Number((*value).into()),
            Self::Large(value) => Value::Number((*value).into()),
            Self::Float(value) => Value::Number(Number::from_f64(*value)?),
            Self::Text => Value::String(text.to_owned()),
        })
    }
}

/// Reads a plain scalar as kubectl does.
pub(super) fn read(text: &str) -> Reading {
    let plain = |value| Reading { value, surprising: false };
    let odd = |value| Reading { value, surprising: true };
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return plain(Plain::Null),
        "true" | "True" | "TRUE" => return plain(Plain::Bool(true)),
        "false" | "False" | "FALSE" => return plain(Plain::Bool(false)),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return odd(Plain::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return odd(Plain::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return odd(Plain::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return odd(Plain::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return odd(Plain::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    match text.as_bytes()[0] {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text).unwrap_or_else(|| plain(Plain::Text)),
        _ => plain(Plain::Text),
    }
}

fn number(text: &str) -> Option<Reading> {
    // Underscores may stand anywhere but in a number that begins with a point.
    let digits: String = if text.starts_with('.') { text.to_owned() } else { text.replace('_', "") };
    let underscores = digits.len() != text.len();
    if let Some((value, radix)) = integer(&digits) {
        let octal_or_binary = radix == 8 || radix == 2;
        return Some(Reading { value, surprising: underscores || octal_or_binary });
    }
    if !is_decimal(&digits) {
        return None;
    }
    let value = digits.parse::<f64>().ok()?;
    let body = digits.trim_start_matches(['+', '-']);
    let leading_zero = body.len() > 1 && body.starts_with('0') && body.as_bytes()[1].is_ascii_digit();
    Some(Reading { value: Plain::Float(value), surprising: underscores || leading_zero })
}

/// An integer with its radix: a sign, then decimal digits, or `0x`, `0o`, `0b` or `0` before others.
fn integer(text: &str) -> Option<(Plain, u32)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefix = body.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (radix, body) = match prefix.as_str() {
        "0x" => (16, &body[2..]),
        "0o" => (8, &body[2..]),
        "0b" => (2, &body[2..]),
        _ if body.len() > 1 && body.starts_with('0') => (8, &body[1..]),
        _ => (10, body),
    };
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = u64::from_str_radix(body, radix).ok()?;
    let value = match (negative, i64::try_from(value)) {
        (false, Ok(value)) => Plain::Int(value),
        (true, Ok(value)) => Plain::Int(-value),
        (false, Err(_)) => Plain::Large(value),
        (true, Err(_)) if value == 1 << 63 => Plain::Int(i64::MIN),
        (true, Err(_)) => return None,
    };
    Some((value, radix))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_fits && exponent_fits
}

/// Whether YAML 1.1 readers other than kubectl take the text for a number of base 60, as `1:30` for 90.
pub(super) fn is_sexagesimal(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = body.split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest = 0;
    let all = parts.all(|part| {
        rest += 1;
        let whole = part.split('.').next().unwrap_or_default();
        (1..=2).contains(&whole.len()) && whole.parse::<u8>().is_ok_and(|n| n < 60)
    });
    rest > 0
        && all
        && first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_read_as_kubectl_reads_them() {
        use Plain::{Bool, Float, Int, Large, Null, Text};
        let table = [
            ("", Null, false),
            ("~", Null, false),
            ("True", Bool(true), false),
            ("yes", Bool(true), true),
            ("N", Bool(false), true),
            ("off", Bool(false), true),
            ("0", Int(0), false),
            ("-7", Int(-7), false),
            ("+7", Int(7), false),
            ("010", Int(8), true),
            ("0o10", Int(8), true),
            ("0b11", Int(3), true),
            ("0x1F", Int(31), false),
            ("1_000", Int(1000), true),
            ("09", Float(9.0), true),
            ("1.10", Float(1.1), false),
            ("1e3", Float(1000.0), false),
            (".5", Float(0.5), false),
            ("1.", Float(1.0), false),
            ("9223372036854775808", Large(1 << 63), false),
            ("-9223372036854775808", Int(i64::MIN), false),
            ("36893488147419103232", Float(36_893_488_147_419_103_232.0), false),
            ("1.2.3", Text, false),
            ("1:30", Text, false),
            ("2026-01-01", Text, false),
            ("-", Text, false),
            ("+", Text, false),
            (".", Text, false),
            ("1e", Text, false),
            ("0x", Text, false),
            ("_1", Text, false),
            ("yEs", Text, false),
            ("10m", Text, false),
        ];
        for (text, value, surprising) in table {
            assert_eq!(read(text), Reading { value, surprising }, "{text:?}");
        }
        assert!(read(".nan").value.to_json(".nan").is_none());
    }

    #[test]
    fn base_60_is_recognised() {
        for (text, wanted) in [
            ("1:30", true),
            ("12:30:45", true),
            ("8080:80", false),
            ("a:1", false),
            ("1:", false),
            ("10", false),
        ] {
            assert_eq!(is_sexagesimal(text), wanted, "{text}");
        }
    }
}
