//! Which session values a tool may read and write.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Which session values a tool may read and write.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAccess {
    /// Values the tool sees. Defaults to All.
    #[serde(default)]
    pub read: SessionScope,
    /// Values the tool may change. Defaults to All.
    #[serde(default)]
    pub write: SessionScope,
}

/// A set of session values: All, None, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SessionScope {
    /// All or none.
    Keyword(SessionKeyword),
    /// These names only.
    Names(Vec<String>),
}

impl Default for SessionScope {
    fn default() -> Self {
        Self::Keyword(SessionKeyword::All)
    }
}

impl SessionScope {
    /// Whether a value of this name belongs to the set.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::Keyword(SessionKeyword::All) => true,
            Self::Keyword(SessionKeyword::None) => false,
            Self::Names(names) => names.iter().any(|n| n == name),
        }
    }
}

impl<'de> Deserialize<'de> for SessionScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = Value::deserialize(deserializer)?;
        let wanted = "write All, None or a list of session names";
        match value {
            Value::String(word) if word == "All" => Ok(Self::Keyword(SessionKeyword::All)),
            Value::String(word) if word == "None" => Ok(Self::Keyword(SessionKeyword::None)),
            Value::Array(items) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(name) if is_session_name(&name) => Ok(name),
                    other => Err(D::Error::custom(format!(
                        "{other} is no session name: lower-case letters, digits and _, not beginning with a digit, \
                         at most 64; {wanted}"
                    ))),
                })
                .collect::<Result<_, _>>()
                .map(Self::Names),
            other => Err(D::Error::custom(format!("{other} is no set of session values; {wanted}"))),
        }
    }
}

/// Whether session values can have this name: `[a-z_][a-z0-9_]*`, at most 64 characters.
fn is_session_name(name: &str) -> bool {
    name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

impl JsonSchema for SessionScope {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SessionScope".into()
    }

    // A structural schema has no "string or list": the compiler checks what this leaves open.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// The words that stand for all or no session values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SessionKeyword {
    /// Every value.
    All,
    /// No value.
    None,
}
