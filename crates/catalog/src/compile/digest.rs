//! Digests: what an object, a tool, a document and a catalog are recognised by.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::model::CompiledTool;

/// A SHA-256 digest.
pub(super) type Bytes = [u8; 32];

/// Digests a sequence of parts, each with its length, so that no two sequences run together.
#[derive(Default)]
pub(super) struct Digester(Sha256);

impl Digester {
    pub fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }

    pub fn optional(self, text: Option<&str>) -> Self {
        match text {
            None => self.text("-"),
            Some(text) => self.text("+").text(text),
        }
    }

    /// A value by its JSON text. Maps of API types are sorted, so equal values have equal texts.
    pub fn json(self, value: &impl Serialize) -> Self {
        match serde_json::to_string(value) {
            Ok(text) => self.text(&text),
            // API types always serialize; were one not to, it would merely never be reused as equal to another.
            Err(error) => self.text(&error.to_string()),
        }
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    pub fn finish(self) -> Bytes {
        self.0.finalize().into()
    }
}

/// Lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Digest of what an index knows of a tool.
pub(crate) fn document_digest(tool: &CompiledTool, params: &[(String, String)]) -> String {
    let mut digester = Digester::default().text(&tool.key).text(&tool.name).text(&tool.description);
    for list in [&tool.facets.groups, &tool.keywords] {
        digester = digester.bytes(&(list.len() as u64).to_le_bytes());
        for text in list {
            digester = digester.text(text);
        }
    }
    for (name, description) in params {
        digester = digester.text(name).text(description);
    }
    hex(&digester.finish()[..16])
}
