//! The scratchpad's rules: names, bounds, identity values, and what of it a tool sees and may change.

use serde_json::Value;

use crate::model::{Access, CompiledTool};
use crate::seam::{SessionBag, SessionChanges};

/// Names that hold the caller's identity: read-only, derived from the request each time.
pub const RESERVED: [&str; 4] = ["user", "email", "groups", "tools"];
/// Longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// Largest value, in bytes of its JSON text.
pub const MAX_VALUE_BYTES: usize = 32 * 1024;
/// Most names in a scratchpad.
pub const MAX_NAMES: usize = 2_000;
/// Largest scratchpad, in bytes of its names and values' JSON text.
pub const MAX_BAG_BYTES: usize = 512 * 1024;
/// Nesting beyond which a value is refused.
const MAX_DEPTH: usize = 64;

/// Why a session value can't be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRuleError {
    /// The name is no slug.
    #[error(
        "Invalid name '{0}': a name is a lower-case letter or _, then lower-case letters, digits and _ (pattern ^[a-z_][a-z0-9_]*$, at most 64)"
    )]
    InvalidName(String),
    /// The name holds identity.
    #[error("Cannot set reserved identity key '{0}'.")]
    Reserved(String),
    /// The value is too large.
    #[error("value of '{name}' is {bytes} bytes as JSON, at most {MAX_VALUE_BYTES} are kept")]
    ValueTooLarge {
        /// Name of the value.
        name: String,
        /// Its size as JSON.
        bytes: usize,
    },
    /// The value has U+0000, which no environment variable can hold.
    #[error("value of '{0}' contains the character U+0000")]
    Nul(String),
    /// The value is nested too deep.
    #[error("value of '{0}' is nested deeper than {MAX_DEPTH} levels")]
    TooDeep(String),
    /// The scratchpad has too many names.
    #[error("the session would hold {0} names, at most {MAX_NAMES} are kept")]
    TooManyNames(usize),
    /// The scratchpad is too large.
    #[error("the session would be {0} bytes, at most {MAX_BAG_BYTES} are kept")]
    BagTooLarge(usize),
    /// The tool may not write this name.
    #[error("the tool may not write the session value '{0}'")]
    NotWritable(String),
}

/// Whether `name` is a slug `[a-z_][a-z0-9_]*` of at most [`MAX_NAME_BYTES`].
pub fn is_slug(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= MAX_NAME_BYTES
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether `name` holds identity and can't be set.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Checks a name that is to be set or deleted: first that it is a slug, then that it isn't reserved.
pub fn check_name(name: &str) -> Result<(), SessionRuleError> {
    if !is_slug(name) {
        return Err(SessionRuleError::InvalidName(name.chars().take(MAX_NAME_BYTES).collect()));
    }
    if is_reserved(name) {
        return Err(SessionRuleError::Reserved(name.to_owned()));
    }
    Ok(())
}

/// Checks a name and the value it is to have.
pub fn check_value(name: &str, value: &Value) -> Result<(), SessionRuleError> {
    check_name(name)?;
    match inspect(value, MAX_DEPTH) {
        Inspection::Nul => return Err(SessionRuleError::Nul(name.to_owned())),
        Inspection::TooDeep => return Err(SessionRuleError::TooDeep(name.to_owned())),
        Inspection::Fine => {}
    }
    let bytes = json_bytes(value);
    if bytes > MAX_VALUE_BYTES {
        return Err(SessionRuleError::ValueTooLarge { name: name.to_owned(), bytes });
    }
    Ok(())
}

/// Checks the bounds of a whole scratchpad, as it would be after a change.
pub fn check_bag(bag: &SessionBag) -> Result<(), SessionRuleError> {
    if bag.len() > MAX_NAMES {
        return Err(SessionRuleError::TooManyNames(bag.len()));
    }
    let bytes: usize = bag.iter().map(|(name, value)| name.len() + json_bytes(value)).sum();
    if bytes > MAX_BAG_BYTES {
        return Err(SessionRuleError::BagTooLarge(bytes));
    }
    Ok(())
}

/// `bag` after `changes`, its bounds checked. What a store applies under its lock.
pub fn applied(bag: &SessionBag, changes: &SessionChanges) -> Result<SessionBag, SessionRuleError> {
    let mut after = bag.clone();
    for name in &changes.deleted {
        after.shift_remove(name);
    }
    for (name, value) in &changes.set {
        check_value(name, value)?;
        after.insert(name.clone(), value.clone());
    }
    check_bag(&after)?;
    Ok(after)
}

/// The identity as session values: `user` (`anonymous` for nobody), `email` where there is one, `groups`, and `tools`
/// (those granted one by one). An anonymous caller has `user` only.
pub fn identity_values(access: &Access) -> SessionBag {
    let mut bag = SessionBag::new();
    let Some(username) = &access.username else {
        bag.insert("user".to_owned(), Value::from("anonymous"));
        return bag;
    };
    bag.insert("user".to_owned(), Value::from(username.as_str()));
    if let Some(email) = &access.email {
        bag.insert("email".to_owned(), Value::from(email.as_str()));
    }
    bag.insert("groups".to_owned(), Value::from(access.groups.clone()));
    bag.insert("tools".to_owned(), Value::from(access.tools.clone()));
    bag
}

/// The stored values and the identity, which always wins.
pub fn merged(bag: &SessionBag, access: &Access) -> SessionBag {
    let mut merged: SessionBag = bag
        .iter()
        .filter(|(name, _)| !is_reserved(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    merged.extend(identity_values(access));
    merged
}

/// The session values that `tool` sees: the stored ones that it and its groups let it read, and the identity.
pub fn visible(tool: &CompiledTool, bag: &SessionBag, access: &Access) -> SessionBag {
    let mut seen = merged(bag, access);
    seen.retain(|name, _| is_reserved(name) || tool.session_read.iter().all(|scope| scope.contains(name)));
    seen
}

/// The variables `MCC_CTX_<NAME>` of these values: text and numbers raw, `true` and `false`, everything else (null
/// included) as JSON.
pub fn context_env(bag: &SessionBag) -> Vec<(String, String)> {
    bag.iter()
        .map(|(name, value)| (format!("MCC_CTX_{}", name.to_ascii_uppercase()), env_text(value)))
        .collect()
}

/// A value as an environment variable holds it: text raw, everything else as JSON.
pub fn env_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What a tool wants to change, checked: slugs, bounds of values, and the names it may write. Identity is left out
/// silently (a tool hands back what it was given); anything else that isn't allowed rejects the whole.
pub fn check_write_back(
    tool: &CompiledTool,
    changes: SessionChanges,
) -> Result<SessionChanges, SessionRuleError> {
    let mut accepted = SessionChanges::default();
    let writable = |name: &str| tool.session_write.iter().all(|scope| scope.contains(name));
    for (name, value) in changes.set {
        if is_reserved(&name) {
            continue;
        }
        check_value(&name, &value)?;
        if !writable(&name) {
            return Err(SessionRuleError::NotWritable(name));
        }
        accepted.set.insert(name, value);
    }
    for name in changes.deleted {
        if is_reserved(&name) {
            continue;
        }
        check_name(&name)?;
        if !writable(&name) {
            return Err(SessionRuleError::NotWritable(name));
        }
        accepted.deleted.push(name);
    }
    Ok(accepted)
}

/// The difference of what a tool hands back against what it was given, identity left out.
pub fn difference(given: &SessionBag, returned: &SessionBag) -> SessionChanges {
    let set = returned
        .iter()
        .filter(|(name, value)| !is_reserved(name) && given.get(*name) != Some(*value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let deleted =
        given.keys().filter(|name| !is_reserved(name) && !returned.contains_key(*name)).cloned().collect();
    SessionChanges { set, deleted }
}

/// Bytes of a value's JSON text, without writing it.
fn json_bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither a Value nor this writer fails; were that to change, the value would be refused.
    if serde_json::to_writer(&mut count, value).is_err() { usize::MAX } else { count.0 }
}

enum Inspection {
    Fine,
    Nul,
    TooDeep,
}

/// Looks for U+0000 and for more than `levels` of nesting.
fn inspect(value: &Value, levels: usize) -> Inspection {
    let inner = |value: &Value| match levels.checked_sub(1) {
        Some(levels) => inspect(value, levels),
        None => Inspection::TooDeep,
    };
    let first = |mut all: Box<dyn Iterator<Item = Inspection> + '_>| {
        all.find(|inspection| !matches!(inspection, Inspection::Fine)).unwrap_or(Inspection::Fine)
    };
    match value {
        Value::String(text) if text.contains('\0') => Inspection::Nul,
        Value::Object(fields) if fields.keys().any(|name| name.contains('\0')) => Inspection::Nul,
        Value::Array(elements) => first(Box::new(elements.iter().map(inner))),
        Value::Object(fields) => first(Box::new(fields.values().map(inner))),
        _ => Inspection::Fine,
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
