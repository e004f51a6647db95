//! Outputs that were cut in an answer, kept for their owner to page through.

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::output::clean;
use mcc_catalog::seam::Capture;
use moka::sync::Cache;

/// Cut outputs by execution id, bounded in bytes and time.
pub(crate) struct Outputs {
    kept: Cache<String, Arc<Kept>>,
}

struct Kept {
    owner: String,
    output: Capture,
}

/// One page of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Cleaned text of the page.
    pub text: String,
    /// First byte of the page; later than asked for if what was asked for is lost.
    pub offset: u64,
    /// First byte of the next page; none at the end.
    pub next: Option<u64>,
    /// Bytes the tool wrote.
    pub total: u64,
}

impl Outputs {
    pub(crate) fn new(bytes: u64, keep: Duration) -> Self {
        let kept = Cache::builder()
            .max_capacity(bytes)
            .time_to_live(keep)
            .weigher(|_, kept: &Arc<Kept>| {
                u32::try_from(256 + kept.output.head.len() + kept.output.tail.len()).unwrap_or(u32::MAX)
            })
            .build();
        Self { kept }
    }

    pub(crate) fn keep(&self, execution: &str, owner: &str, output: Capture) {
        self.kept.insert(execution.to_owned(), Arc::new(Kept { owner: owner.to_owned(), output }));
    }

    /// At most `bytes` bytes from `offset`; none if nothing is kept under this id for this owner.
    pub(crate) fn page(&self, execution: &str, owner: &str, offset: u64, bytes: usize) -> Option<Page> {
        let kept = self.kept.get(execution).filter(|kept| kept.owner == owner)?;
        Some(page(&kept.output, offset, bytes))
    }
}

fn page(output: &Capture, offset: u64, bytes: usize) -> Page {
    let Capture { head, tail, total } = output;
    let tail_starts = total.saturating_sub(tail.len() as u64);
    let (part, part_starts) = if offset < head.len() as u64 { (head, 0) } else { (tail, tail_starts) };
    let offset = offset.clamp(part_starts, part_starts + part.len() as u64);
    let begin = usize::try_from(offset - part_starts).unwrap_or(part.len()).min(part.len());
    let end = boundary(part, begin.saturating_add(bytes).min(part.len()), begin);
    let next = part_starts + end as u64;
    Page { text: clean(&part[begin..end]), offset, next: (next < *total).then_some(next), total: *total }
}

/// The last place at or before `end` that doesn't split a character, unless that would make the page empty.
fn boundary(bytes: &[u8], end: usize, begin: usize) -> usize {
    let splits = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (begin + 1..=end).rev().take(4).find(|at| !splits(*at)).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(head: &str, tail: &str, total: u64) -> Capture {
        Capture { head: head.into(), tail: tail.into(), total }
    }

    #[test]
    fn pages_cover_everything_once_and_keep_characters_whole() {
        let output = capture("añb", "", 4);
        let first = page(&output, 0, 2);
        assert_eq!(first, Page { text: "a".into(), offset: 0, next: Some(1), total: 4 });
        let second = page(&output, 1, 2);
        assert_eq!(second, Page { text: "ñ".into(), offset: 1, next: Some(3), total: 4 });
        assert_eq!(page(&output, 3, 2), Page { text: "b".into(), offset: 3, next: None, total: 4 });
    }

    #[test]
    fn a_page_in_the_gap_begins_where_the_tail_does() {
        let output = capture("head", "tail", 100);
        assert_eq!(page(&output, 0, 50), Page { text: "head".into(), offset: 0, next: Some(4), total: 100 });
        assert_eq!(page(&output, 4, 50), Page { text: "tail".into(), offset: 96, next: None, total: 100 });
        assert_eq!(
            page(&output, 1_000, 50),
            Page { text: String::new(), offset: 100, next: None, total: 100 }
        );
    }

    #[test]
    fn an_output_is_its_owners_alone() {
        let outputs = Outputs::new(1 << 20, Duration::from_secs(60));
        outputs.keep("mcc-1", "alice", capture("secret", "", 6));
        assert!(outputs.page("mcc-1", "alice", 0, 10).is_some());
        assert_eq!(outputs.page("mcc-1", "bob", 0, 10), None);
        assert_eq!(outputs.page("mcc-2", "alice", 0, 10), None);
    }
}
