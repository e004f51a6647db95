//! One walk of a document along its schema: a JSON value, the place of every field, and what is wrong.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::model::{FieldPlacesBuilder, Reason};

use super::scalar::{self, Plain};
use super::schema::{Kind, Schema, Unique};
use super::suggest;
use super::tree::{Content, Fault, Field, Mark, Node};

/// Checks documents; what it found is in its fields.
#[derive(Default)]
pub(super) struct Check {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What works but is probably not meant.
    pub warnings: Vec<Fault>,
    /// Where the fields are.
    pub places: FieldPlacesBuilder,
    path: String,
}

impl Check {
    /// The document as JSON. Values that don't fit are left out (and reported).
    pub fn document(&mut self, node: &Node<'_>, schema: &Schema) -> Value {
        self.value(node, schema).unwrap_or_default()
    }

    fn value(&mut self, node: &Node<'_>, schema: &Schema) -> Option<Value> {
        if !self.path.is_empty() {
            self.places.add(&self.path, node.mark.line, node.mark.column);
        }
        match (&node.content, schema.kind) {
            (_, Kind::Any) => self.any(node),
            (Content::Map(fields), Kind::Object) => Some(self.object(node, fields, schema)),
            (Content::Map(fields), Kind::Map) => Some(self.map(node, fields, schema)),
            (Content::List(elements), Kind::List) => Some(self.list(node, elements, schema)),
            (Content::Scalar { text, plain }, kind)
                if !matches!(kind, Kind::Object | Kind::Map | Kind::List) =>
            {
                self.scalar(node, text, *plain, schema)
            }
            _ => {
                self.mismatch(node, schema);
                None
            }
        }
    }

    fn any(&mut self, node: &Node<'_>) -> Option<Value> {
        match &node.content {
            Content::List(elements) => {
                let mut list = Vec::with_capacity(elements.len());
                for (at, element) in elements.iter().enumerate() {
                    list.extend(self.below_index(at, |check| check.any(element)));
                }
                Some(Value::Array(list))
            }
            Content::Map(fields) => {
                let mut map = Map::with_capacity(fields.len());
                for field in fields {
                    if let Some(value) = self.below_key(&field.key, |check| check.any(&field.value)) {
                        map.insert(field.key.to_string(), value);
                    }
                }
                Some(Value::Object(map))
            }
            Content::Scalar { text, plain: false } => Some(Value::String(text.to_string())),
            Content::Scalar { text, plain: true } => {
                let reading = scalar::read(text);
                let Some(value) = reading.value.to_json(text) else {
                    let message = format!("{text} is a number that JSON doesn't have");
                    self.fault(node.mark, Reason::InvalidField, message, format!("quote it: \"{text}\""));
                    return None;
                };
                if reading.surprising {
                    let fix = match reading.canonical() {
                        Some(value) => format!("write {value}, or quote it: \"{text}\""),
                        None => format!("quote it: \"{text}\""),
                    };
                    let message = format!("kubectl reads {text} as {}", reading.describe());
                    self.fault(node.mark, Reason::AmbiguousScalar, message, fix);
                }
                self.warn_sexagesimal(node.mark, text);
                Some(value)
            }
        }
    }

    fn object(&mut self, node: &Node<'_>, fields: &[Field<'_>], schema: &Schema) -> Value {
        let mut map = Map::with_capacity(fields.len());
        for field in fields {
            let Some(below) = schema.fields.get(&*field.key) else {
                self.unknown_field(field, schema);
                continue;
            };
            // A null that a field doesn't allow is pruned: the field counts as absent.
            if field.value.is_null() && !below.nullable {
                self.below_field(&field.key, |check| {
                    check.places.add(&check.path, field.mark.line, field.mark.column);
                });
                continue;
            }
            if let Some(value) = self.below_field(&field.key, |check| check.value(&field.value, below)) {
                map.insert(field.key.to_string(), value);
            }
        }
        for name in &schema.required {
            if !fields.iter().any(|field| field.key == *name && !field.value.is_null()) {
                let (mark, empty) = match fields.iter().find(|field| field.key == *name) {
                    Some(field) => (field.mark, true),
                    None => (node.mark, false),
                };
                let what = if empty { "has no value" } else { "is missing" };
                let fix = suggest::fill_in(name, schema.fields.get(name));
                self.below_field(name, |check| {
                    check.fault(mark, Reason::InvalidField, format!("{name} {what}"), fix);
                });
            }
        }
        Value::Object(map)
    }

    fn map(&mut self, node: &Node<'_>, fields: &[Field<'_>], schema: &Schema) -> Value {
        self.length(node.mark, fields.len(), "entries", schema);
        let mut map = Map::with_capacity(fields.len());
        if let Some(below) = schema.element.as_deref() {
            for field in fields.iter().filter(|field| !field.value.is_null()) {
                if let Some(value) = self.below_key(&field.key, |check| check.value(&field.value, below)) {
                    map.insert(field.key.to_string(), value);
                }
            }
        }
        Value::Object(map)
    }

    fn list(&mut self, node: &Node<'_>, elements: &[Node<'_>], schema: &Schema) -> Value {
        self.length(node.mark, elements.len(), "elements", schema);
        let mut list = Vec::with_capacity(elements.len());
        if let Some(below) = schema.element.as_deref() {
            for (at, element) in elements.iter().enumerate() {
                list.extend(self.below_index(at, |check| check.value(element, below)));
            }
        }
        self.unique(elements, schema);
        Value::Array(list)
    }

    fn unique(&mut self, elements: &[Node<'_>], schema: &Schema) {
        let identity = |node: &Node<'_>| match &schema.unique {
            Unique::No => None,
            Unique::Elements => node.text().map(str::to_owned),
            Unique::Keys(keys) => {
                let values = keys.iter().map(|key| node.get(key).and_then(Node::text).map(str::to_owned));
                values.collect::<Option<Vec<_>>>().map(|values| values.join(" "))
            }
        };
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (at, element) in elements.iter().enumerate() {
            let Some(id) = identity(element) else { continue };
            if let Some(first) = seen.get(&id) {
                let message = format!("{id} stands in the list twice, first as element {first}");
                self.below_index(at, |check| {
                    check.fault(element.mark, Reason::InvalidField, message, "remove one of the two".into());
                });
            } else {
                seen.insert(id, at);
            }
        }
    }

    fn scalar(&mut self, node: &Node<'_>, text: &str, plain: bool, schema: &Schema) -> Option<Value> {
        let reading = if plain {
            scalar::read(text)
        } else {
            scalar::Reading { value: Plain::Text, surprising: false }
        };
        if reading.surprising && schema.kind != Kind::Text {
            let mut fix = match reading.canonical() {
                Some(value) => format!("write {value}"),
                None => "write a plain number".to_owned(),
            };
            if matches!(schema.kind, Kind::Integer | Kind::Number) && text.starts_with('0') {
                let decimal = text.trim_start_matches(['0', 'o']);
                if reading.canonical().as_deref() != Some(decimal) {
                    let _ = write!(fix, ", or {decimal} if that is meant");
                }
            }
            let message = format!("kubectl reads {text} as {}", reading.describe());
            self.fault(node.mark, Reason::AmbiguousScalar, message, fix);
            return None;
        }
        let value = match (schema.kind, &reading.value) {
            (Kind::Text | Kind::Time | Kind::Bytes | Kind::IntOrText, Plain::Text) => {
                return self.text(node, text, plain, schema);
            }
            (Kind::Boolean, Plain::Bool(_)) | (Kind::Integer | Kind::IntOrText, Plain::Int(_)) => {
                reading.value.to_json(text)
            }
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
            (Kind::Integer, Plain::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => {
                Some(Value::from(*value as i64))
            }
            (Kind::Number, Plain::Int(_) | Plain::Large(_) | Plain::Float(_)) => reading.value.to_json(text),
            _ => None,
        };
        let Some(value) = value else {
            self.mismatch(node, schema);
            return None;
        };
        self.range(node.mark, text, &value, schema);
        Some(value)
    }

    fn text(&mut self, node: &Node<'_>, text: &str, plain: bool, schema: &Schema) -> Option<Value> {
        if plain {
            self.warn_sexagesimal(node.mark, text);
        }
        if !schema.choices.is_empty() && !schema.choices.iter().any(|choice| choice == text) {
            let message = format!("{text:?} is none of {}", schema.choices.join(", "));
            let fix = match suggest::nearest(text, schema.choices.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("write one of {}", schema.choices.join(", ")),
            };
            self.fault(node.mark, Reason::InvalidField, message, fix);
            return None;
        }
        self.length(node.mark, text.chars().count(), "characters", schema);
        if let Some(pattern) = &schema.pattern
            && !pattern.regex.is_match(text)
            && !(text.is_empty() && schema.min_length.is_some_and(|min| min > 0))
        {
            let message = format!("{} doesn't fit", suggest::shortened(text));
            self.fault(node.mark, Reason::InvalidField, message, format!("it must be {}", pattern.words));
        }
        if schema.kind == Kind::Time && text.parse::<jiff::Timestamp>().is_err() {
            let message = format!("{} is no time", suggest::shortened(text));
            let fix = "write it as 2027-01-01T00:00:00Z".to_owned();
            self.fault(node.mark, Reason::InvalidField, message, fix);
        }
        Some(Value::String(text.to_owned()))
    }

    fn range(&mut self, mark: Mark, text: &str, value: &Value, schema: &Schema) {
        let Some(number) = value.as_f64() else { return };
        if let Some(minimum) = schema.minimum.filter(|&minimum| number < minimum) {
            let message = format!("{text} is below the minimum of {minimum}");
            self.fault(mark, Reason::InvalidField, message, suggest::range(schema));
        }
        if let Some(maximum) = schema.maximum.filter(|&maximum| number > maximum) {
            let message = format!("{text} is above the maximum of {maximum}");
            self.fault(mark, Reason::InvalidField, message, suggest::range(schema));
        }
    }

    fn length(&mut self, mark: Mark, length: usize, what: &str, schema: &Schema) {
        let length = length as u64;
        if let Some(most) = schema.max_length.filter(|&most| length > most) {
            let message = format!("{length} {what}; at most {most} are allowed");
            self.fault(mark, Reason::InvalidField, message, format!("shorten it to {most} {what}"));
        }
        if let Some(least) = schema.min_length.filter(|&least| length < least) {
            let (message, fix) = match length {
                0 => ("it is empty".to_owned(), "give a value, or remove the field".to_owned()),
                _ => (
                    format!("{length} {what}; at least {least} are needed"),
                    format!("write {least} {what} or more"),
                ),
            };
            self.fault(mark, Reason::InvalidField, message, fix);
        }
    }

    fn mismatch(&mut self, node: &Node<'_>, schema: &Schema) {
        let (reason, message, fix) = suggest::mismatch(node, schema);
        self.fault(node.mark, reason, message, fix);
    }

    fn unknown_field(&mut self, field: &Field<'_>, schema: &Schema) {
        let fix = suggest::instead_of(&field.key, schema, self.path.is_empty());
        let holder = if self.path.is_empty() { "the object" } else { self.path.as_str() };
        let message = format!("{holder} has no field {}", field.key);
        self.below_field(&field.key, |check| {
            check.fault(field.mark, Reason::UnknownField, message, fix);
        });
    }

    fn warn_sexagesimal(&mut self, mark: Mark, text: &str) {
        if scalar::is_sexagesimal(text) {
            self.warnings.push(Fault {
                mark,
                reason: Reason::AmbiguousScalar,
                path: self.path.clone(),
                message: format!(
                    "kubectl reads {text} as text, other YAML 1.1 readers as a number of base 60"
                ),
                fix: format!("quote it: \"{text}\""),
            });
        }
    }

    fn fault(&mut self, mark: Mark, reason: Reason, message: String, fix: String) {
        self.faults.push(Fault { mark, reason, path: self.path.clone(), message, fix });
    }

    fn below_field<T>(&mut self, name: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let result = then(self);
        self.path.truncate(length);
        result
    }

    fn below_key<T>(&mut self, key: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        let _ = write!(self.path, "[{key}]");
        let result = then(self);
        self.path.truncate(length);
        result
    }

    fn below_index<T>(&mut self, index: usize, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        let _ = write!(self.path, "[{index}]");
        let result = then(self);
        self.path.truncate(length);
        result
    }
}
