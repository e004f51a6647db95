//! Output of a tool, bounded while it is read, and the marker that ends it.
//!
//! A stream is `tool's bytes, MARKER section, …, MARKER end`: see [`super::conversation`]. [`Stream`] takes the
//! bytes as they come, in pieces cut anywhere, and never holds more than its bounds.

use std::collections::VecDeque;

use mcc_catalog::seam::Capture;

/// Keeps the first and the last bytes of a stream.
#[derive(Debug)]
pub struct Bounded {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    total: u64,
}

impl Bounded {
    /// Keeps at most `limit` bytes: everything if there are no more, else half from either end.
    pub fn new(limit: usize) -> Self {
        let tail_limit = limit / 2;
        Self { head: Vec::new(), head_limit: limit - tail_limit, tail: VecDeque::new(), tail_limit, total: 0 }
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// What was kept.
    pub fn finish(mut self) -> Capture {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let tail = Vec::from(self.tail);
        if kept == self.total {
            self.head.extend_from_slice(&tail);
            return Capture { head: self.head, tail: Vec::new(), total: self.total };
        }
        Capture { head: self.head, tail, total: self.total }
    }
}

/// A section that follows the tool's own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The tool's own bytes.
    Tool,
    /// The line after a marker, which names the section.
    Label,
    /// Session values: lines, or the changes as JSON.
    Session(SessionForm),
    /// The returned value.
    Result,
    /// After the end: whatever a stray process still writes.
    Ended,
}

/// In which form a tool hands session values back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionForm {
    /// Lines `name=<JSON>`; nothing after the `=` deletes.
    Lines,
    /// `{"set": {…}, "deleted": […]}`.
    Json,
}

/// Longest line after a marker.
const LABEL_LIMIT: usize = 32;

/// Longest session section that is kept: twice the bound of a bag, so that what is beyond is seen as too large.
const SESSION_LIMIT: usize = 1 << 20;

/// One output stream, taken apart while it arrives.
#[derive(Debug)]
pub struct Stream {
    marker: Vec<u8>,
    /// Bytes not yet judged: they may be the beginning of a marker. Shorter than the marker.
    carry: Vec<u8>,
    place: Place,
    label: Vec<u8>,
    output: Bounded,
    result: Option<Bounded>,
    limit: usize,
    session: Option<(SessionForm, Vec<u8>)>,
    code: Option<i32>,
}

/// What a stream contained.
#[derive(Debug)]
pub struct StreamParts {
    /// The tool's own bytes.
    pub output: Capture,
    /// The returned value.
    pub result: Option<Capture>,
    /// Session values to keep.
    pub session: Option<(SessionForm, Vec<u8>)>,
    /// Exit code, of the stream that carries it.
    pub code: Option<i32>,
}

impl Stream {
    /// A stream that ends with `marker` and of which at most `limit` bytes are kept.
    pub fn new(marker: &str, limit: usize) -> Self {
        Self {
            marker: marker.as_bytes().to_vec(),
            carry: Vec::new(),
            place: Place::Tool,
            label: Vec::new(),
            output: Bounded::new(limit),
            result: None,
            limit,
            session: None,
            code: None,
        }
    }

    /// Whether the end marker was seen.
    pub fn ended(&self) -> bool {
        self.place == Place::Ended
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let mut rest = if self.carry.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.carry).as_slice(), bytes].concat();
            &joined
        };
        while !rest.is_empty() {
            rest = match self.place {
                Place::Ended => return,
                Place::Label => self.take_label(rest),
                _ => {
                    let Some(at) = memchr::memmem::find(rest, &self.marker) else {
                        let certain = rest.len() - self.marker_begun(rest);
                        self.keep(&rest[..certain]);
                        self.carry = rest[certain..].to_vec();
                        return;
                    };
                    self.keep(&rest[..at]);
                    self.place = Place::Label;
                    &rest[at + self.marker.len()..]
                }
            };
        }
    }

    /// The length of the longest end of `bytes` with which a marker may begin.
    fn marker_begun(&self, bytes: &[u8]) -> usize {
        let longest = bytes.len().min(self.marker.len() - 1);
        (1..=longest).rev().find(|&n| bytes.ends_with(&self.marker[..n])).unwrap_or(0)
    }

    /// What the stream contained. Bytes that only looked like the beginning of a marker are the tool's own.
    pub fn finish(mut self) -> StreamParts {
        let carry = std::mem::take(&mut self.carry);
        self.keep(&carry);
        StreamParts {
            output: self.output.finish(),
            result: self.result.map(Bounded::finish),
            session: self.session,
            code: self.code,
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        match self.place {
            Place::Tool => self.output.push(bytes),
            Place::Result => {
                if let Some(result) = &mut self.result {
                    result.push(bytes);
                }
            }
            Place::Session(_) => {
                if let Some((_, session)) = &mut self.session {
                    let room = (SESSION_LIMIT + 1).saturating_sub(session.len());
                    session.extend_from_slice(&bytes[..bytes.len().min(room)]);
                }
            }
            Place::Label | Place::Ended => {}
        }
    }

    /// Reads the line after a marker; returns what follows it.
    fn take_label<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes);
        let line = &bytes[..end.unwrap_or(bytes.len())];
        let room = LABEL_LIMIT.saturating_sub(self.label.len());
        self.label.extend_from_slice(&line[..line.len().min(room)]);
        let Some(end) = end else { return &[] };
        let label = std::mem::take(&mut self.label);
        self.place = match label.split_first() {
            Some((b'r', _)) => {
                self.result = Some(Bounded::new(self.limit));
                Place::Result
            }
            Some((b's', _)) => self.begin_session(SessionForm::Lines),
            Some((b'j', _)) => self.begin_session(SessionForm::Json),
            Some((b'x', code)) => {
                self.code = std::str::from_utf8(code).ok().and_then(|code| code.trim().parse().ok());
                Place::Ended
            }
            _ => Place::Ended,
        };
        &bytes[end + 1..]
    }

    fn begin_session(&mut self, form: SessionForm) -> Place {
        self.session = Some((form, Vec::new()));
        Place::Session(form)
    }
}

/// Whether a session section is longer than what is kept of one.
pub fn session_overflows(section: &[u8]) -> bool {
    section.len() > SESSION_LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "0123456789abcdef0123456789abcdef";

    fn parts(pieces: &[&[u8]], limit: usize) -> StreamParts {
        let mut stream = Stream::new(MARKER, limit);
        for piece in pieces {
            stream.push(piece);
        }
        stream.finish()
    }

    #[test]
    fn keeps_head_and_tail() {
        for limit in 0..12 {
            for step in 1..7 {
                let bytes: Vec<u8> = (0..=255).cycle().take(40).collect();
                let mut bounded = Bounded::new(limit);
                bytes.chunks(step).for_each(|piece| bounded.push(piece));
                let capture = bounded.finish();
                assert_eq!(capture.total, 40);
                assert_eq!(capture.head.len() + capture.tail.len(), limit);
                assert_eq!(capture.head, bytes[..limit - limit / 2]);
                assert_eq!(capture.tail, bytes[40 - limit / 2..]);
            }
        }
    }

    #[test]
    fn keeps_all_that_fits_in_one_piece() {
        let mut bounded = Bounded::new(5);
        bounded.push(b"ab");
        bounded.push(b"cde");
        assert_eq!(bounded.finish(), Capture { head: b"abcde".to_vec(), tail: vec![], total: 5 });
    }

    #[test]
    fn finds_markers_wherever_the_pieces_are_cut() {
        // A false start before the marker, sections, and what a stray process writes after the end.
        let text = format!("out {0}{MARKER}s\na=1\n{MARKER}x 3\nstray", &MARKER[..20]);
        for step in 1..text.len() {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(step).collect();
            let parts = parts(&pieces, 1000);
            assert_eq!(parts.output.head, format!("out {}", &MARKER[..20]).into_bytes(), "step {step}");
            assert_eq!(parts.session, Some((SessionForm::Lines, b"a=1\n".to_vec())));
            assert_eq!(parts.code, Some(3));
        }
    }

    #[test]
    fn a_marker_without_its_line_has_not_ended() {
        let mut stream = Stream::new(MARKER, 10);
        stream.push(format!("a{MARKER}x 1").as_bytes());
        assert!(!stream.ended());
        stream.push(b"2\n");
        assert!(stream.ended());
        assert_eq!(stream.finish().code, Some(12));
    }

    #[test]
    fn a_begun_marker_at_the_end_belongs_to_the_tool() {
        let parts = parts(&[b"a", &MARKER.as_bytes()[..31]], 100);
        assert_eq!(parts.output.total, 32);
        assert_eq!(parts.code, None);
    }

    #[test]
    fn a_result_is_bounded_like_output() {
        let text = format!("printed{MARKER}r\n[1,2,3,4,5,6]{MARKER}x\n");
        let parts = parts(&[text.as_bytes()], 8);
        assert_eq!(parts.output.head, b"printed");
        assert_eq!(parts.result, Some(Capture { head: b"[1,2".to_vec(), tail: b"5,6]".to_vec(), total: 13 }));
    }

    #[test]
    fn an_endless_session_section_is_bounded() {
        let mut stream = Stream::new(MARKER, 10);
        stream.push(format!("{MARKER}s\n").as_bytes());
        for _ in 0..40 {
            stream.push(&vec![b'x'; 100_000]);
        }
        let (_, section) = stream.finish().session.unwrap();
        assert_eq!(section.len(), SESSION_LIMIT + 1);
        assert!(session_overflows(&section));
    }
}
