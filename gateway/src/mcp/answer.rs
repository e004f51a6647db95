//! Answers: text, bounded.

use rmcp::model::{CallToolResult, ContentBlock};

/// A text as a result.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Why a call was not done, and what to do about it: an answer for the model, marked as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub String);

/// Longest refusal, in bytes: what a caller sent wrong may be repeated in it.
const MAX_REFUSAL_BYTES: usize = 16 * 1024;

/// A call that was not done.
pub(crate) fn refused(text: impl AsRef<str>) -> Refusal {
    Refusal(cut(text.as_ref(), MAX_REFUSAL_BYTES))
}

impl From<Refusal> for CallToolResult {
    fn from(refusal: Refusal) -> Self {
        Self::error(vec![ContentBlock::text(refusal.0)])
    }
}

/// Blocks with one blank line between them, as many as fit in `bytes`; `rest` says what to do about the others.
/// The first is always there, cut if it must be. None: there was no block.
pub(crate) fn blocks<S: AsRef<str>>(
    blocks: impl IntoIterator<Item = S>,
    bytes: usize,
    rest: impl FnOnce(usize) -> String,
) -> Option<String> {
    let mut blocks = blocks.into_iter();
    let mut text = cut(blocks.next()?.as_ref(), bytes);
    while let Some(block) = blocks.next() {
        let block = block.as_ref();
        if text.len() + 2 + block.len() > bytes {
            text.push_str("\n\n");
            text.push_str(&rest(1 + blocks.count()));
            break;
        }
        text.push_str("\n\n");
        text.push_str(block);
    }
    Some(text)
}

/// At most `bytes` bytes of `text`, whole characters.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}\n[… {} more bytes left out …]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_separated_by_one_blank_line_and_bounded() {
        let rest = |n| format!("({n} more)");
        assert_eq!(blocks::<&str>([], 10, rest), None);
        assert_eq!(blocks(["a", "b"], 10, rest).as_deref(), Some("a\n\nb"));
        assert_eq!(blocks(["aaaa", "bbbb", "cccc"], 10, rest).as_deref(), Some("aaaa\n\nbbbb\n\n(1 more)"));
        assert_eq!(blocks(["aaaa", "bbbbbbb", "c"], 10, rest).as_deref(), Some("aaaa\n\n(2 more)"));
    }

    #[test]
    fn a_cut_keeps_characters_whole() {
        assert_eq!(cut("añb", 2), "a\n[… 3 more bytes left out …]");
        assert_eq!(cut("añb", 4), "añb");
    }
}
