//! Texts of manifests as they are shown.

/// Without white space at the ends of lines and of the text, and without control characters but line ends and tabs:
/// descriptions go to terminals and models as they are.
pub(super) fn clean(text: &str) -> String {
    let text = crate::output::strip_ansi(text).replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}
