//! The rules of names.

/// Whether `name` is a DNS label without dots: lower-case letters, digits and inner hyphens, at most 63.
pub(super) fn is_label(name: &str) -> bool {
    let bytes = name.as_bytes();
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
        && bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
}

/// Whether `name` may name a tool: letters, digits, `_` and `-`, at most 64.
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Whether `name` may name a parameter: `[A-Za-z_][A-Za-z0-9_]{0,63}`.
pub(super) fn is_param_name(name: &str) -> bool {
    name.len() <= 64 && is_variable(name)
}

/// Whether a shell can have a variable of this name.
pub(super) fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The text as a DNS label, to propose it.
pub(super) fn as_label(name: &str) -> String {
    let mapped: String = name
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(63)
        .collect();
    mapped.trim_matches('-').to_owned()
}
