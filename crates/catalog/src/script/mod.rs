//! Templates and the quoting of their values.

/// A compiled template whose finished text is a POSIX shell script.
#[derive(Debug)]
pub struct ScriptTemplate;
/// A template whose finished text is plain text, no shell.
#[derive(Debug)]
pub struct TextTemplate;
/// The templates of an HTTP request.
#[derive(Debug)]
pub struct HttpTemplate;
