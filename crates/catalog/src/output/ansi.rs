//! Terminal sequences out of a text (ECMA-48).

/// `text` without escape sequences (CSI, OSC, DCS and the other strings, two-character ones; in their 7-bit and 8-bit
/// forms) and without control characters other than `\n`, `\t` and `\r`. A sequence that isn't ended hides nothing but
/// its own introducer, so that no output is lost.
pub fn strip(text: &str) -> String {
    if !text.chars().any(is_control) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\u{1b}' => after_escape(after),
            '\u{9b}' => after_csi(after),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => after_string(after),
            c if is_control(c) => after,
            c => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// C0 and C1 controls and DEL, but for those that lay out text.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

/// What follows a sequence whose ESC was just read.
fn after_escape(text: &str) -> &str {
    let mut chars = text.chars();
    match chars.next() {
        Some('[') => after_csi(chars.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(chars.as_str()),
        // nF sequences: intermediate bytes, then one final byte (`ESC ( B`).
        Some(' '..='/') => {
            let rest = chars.as_str().trim_start_matches(|c| matches!(c, ' '..='/'));
            rest.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(text)
        }
        Some('0'..='~') => chars.as_str(),
        _ => text,
    }
}

/// What follows a control sequence whose introducer was just read: parameters, intermediates, one final byte.
fn after_csi(text: &str) -> &str {
    let rest = text.trim_start_matches(|c| matches!(c, '0'..='?'));
    let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
    rest.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(text)
}

/// What follows a string (OSC, DCS, …) whose introducer was just read: up to BEL or ST, before any other control.
fn after_string(text: &str) -> &str {
    for (at, c) in text.char_indices() {
        match c {
            '\u{7}' | '\u{9c}' => return &text[at + c.len_utf8()..],
            '\u{1b}' => return text[at + 1..].strip_prefix('\\').unwrap_or(&text[at..]),
            // Not ended where a terminal would end it: stop, so that many of them don't each scan the whole text.
            '\n' => break,
            c if is_control(c) => break,
            _ => {}
        }
    }
    text
}
