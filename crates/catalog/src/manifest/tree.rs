//! A document as a tree whose every key and value knows its place.

use std::borrow::Cow;
use std::collections::HashMap;

/// Line and column (in characters) of a node, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub line: u32,
    pub column: u32,
}

impl Mark {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Node<'t> {
    pub mark: Mark,
    pub content: Content<'t>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Content<'t> {
    /// A single value.
    Scalar {
        text: Cow<'t, str>,
        /// Without quotes: its type is read from its text.
        plain: bool,
    },
    List(Vec<Node<'t>>),
    Map(Vec<Field<'t>>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Field<'t> {
    pub key: Cow<'t, str>,
    pub mark: Mark,
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The value of a field; none if this is no map or has no such field.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.fields().iter().find(|field| field.key == key).map(|field| &field.value)
    }

    /// The fields of a map; empty for anything else.
    pub fn fields(&self) -> &[Field<'t>] {
        match &self.content {
            Content::Map(fields) => fields,
            _ => &[],
        }
    }

    /// The elements of a list; empty for anything else.
    pub fn elements(&self) -> &[Node<'t>] {
        match &self.content {
            Content::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a scalar that is no null.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Whether this is an empty value or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true }
            if matches!(&**text, "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// One document of a file.
#[derive(Debug)]
pub(super) struct Document<'t> {
    /// What it holds; none if it couldn't be read.
    pub node: Option<Node<'t>>,
    pub faults: Vec<Fault>,
}

/// A fault in the text itself, before any schema is looked at.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub mark: Mark,
    pub reason: crate::model::Reason,
    /// Path of the field, as far as it is known.
    pub path: String,
    pub message: String,
    pub fix: String,
}

/// The keys of a map that is being read, to find duplicates in maps of any size.
#[derive(Debug, Default)]
pub(super) struct Keys<'t> {
    /// Filled once a map is too large to look through.
    index: HashMap<Cow<'t, str>, Mark>,
}

impl<'t> Keys<'t> {
    const FEW: usize = 16;

    /// Where `key` stands in `fields` already.
    pub fn first(&mut self, fields: &[Field<'t>], key: &str) -> Option<Mark> {
        if fields.len() <= Self::FEW {
            return fields.iter().find(|field| field.key == key).map(|field| field.mark);
        }
        for field in &fields[self.index.len()..] {
            self.index.entry(field.key.clone()).or_insert(field.mark);
        }
        self.index.get(key).copied()
    }
}
