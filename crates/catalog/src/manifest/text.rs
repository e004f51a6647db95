//! Bytes of a file as text: size, encoding, characters that no manifest may hold.

use crate::model::Reason;

use super::tree::{Fault, Mark};

/// Largest manifest file in bytes (8 MiB, about 10 000 tools).
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The text of a file, without a byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(unreadable(Mark::START, "the file is UTF-16", "save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02x} is not UTF-8");
            return Err(unreadable(end_of(good), &message, "save the file as UTF-8"));
        }
    };
    match text.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        None => Ok(text),
        Some(at) => {
            let code = text[at..].chars().next().map_or(0, u32::from);
            let message = format!("control character U+{code:04X}");
            let fix = format!("remove it, or write it as \"\\x{code:02x}\" in double quotes");
            Err(Fault { reason: Reason::InvalidSyntax, ..unreadable(end_of(&text[..at]), &message, &fix) })
        }
    }
}

/// The fault of a file of so many bytes.
pub(super) fn too_large(bytes: u64) -> Fault {
    unreadable(
        Mark::START,
        &format!("the file has {bytes} bytes; at most {MAX_FILE_BYTES} (8 MiB) are read"),
        "split it into several files",
    )
}

fn unreadable(mark: Mark, message: &str, fix: &str) -> Fault {
    Fault {
        mark,
        reason: Reason::UnreadableFile,
        path: String::new(),
        message: message.to_owned(),
        fix: fix.to_owned(),
    }
}

/// The place right after `text`.
fn end_of(text: &str) -> Mark {
    let line = 1 + text.bytes().filter(|&b| b == b'\n').count();
    let column = 1 + text.rsplit('\n').next().unwrap_or_default().chars().count();
    Mark { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
}
