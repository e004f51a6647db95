//! The word that is being read, as far as it matters what it says.

/// Characters kept of a word: enough for the path of any program or the name of any option.
const KEPT: usize = 96;

/// A word: its text up to the first thing that only the shell knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with a name")]
pub(super) struct Word {
    /// Text after removal of quotes, up to the first expansion or value.
    pub(super) prefix: String,
    /// `prefix` is not all of it.
    pub(super) more: bool,
    /// Something in it is quoted: it is no reserved word.
    pub(super) quoted: bool,
    /// Whether some of it is certainly there and is no value: the word's first character is the author's.
    pub(super) begun: bool,
    /// Holds a value.
    pub(super) value: bool,
}

impl Word {
    pub(super) fn push(&mut self, c: char) {
        self.begun = true;
        if self.more {
            return;
        }
        if self.prefix.len() >= KEPT {
            self.more = true;
        } else {
            self.prefix.push(c);
        }
    }

    /// An expansion or a glob: what it becomes isn't known.
    pub(super) fn expand(&mut self) {
        self.more = true;
    }

    /// A value; whether it certainly isn't empty.
    pub(super) fn add_value(&mut self, filled: bool) {
        self.more = true;
        self.value = true;
        self.begun |= filled;
    }

    /// The whole text, if it is known.
    pub(super) fn text(&self) -> Option<&str> {
        (!self.more).then_some(self.prefix.as_str())
    }

    /// The whole text, if it is known and nothing of it is quoted.
    pub(super) fn bare_text(&self) -> Option<&str> {
        self.text().filter(|_| !self.quoted)
    }

    /// Name of the variable that the word assigns to, if it is an assignment.
    pub(super) fn assigned(&self) -> Option<&str> {
        let (name, _) = self.prefix.split_once('=')?;
        is_name(name).then_some(name)
    }
}

/// Whether `text` is a variable's name.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}
