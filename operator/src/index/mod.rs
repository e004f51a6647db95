//! The writer of the search index: keeps the index at the live catalog.
//!
//! ```text
//! Catalog ─▶ difference against Holdings ─▶ update (at most 256 documents) ─▶ Holdings ─▶ the batch's Tools are looked at
//!    first, after a failure, on a timer ──▶ replace (everything)          ─▶ Holdings
//! ```

mod holdings;
mod writer;

pub(crate) use holdings::{Failure, Holdings, Standing};
pub(crate) use writer::{Rhythm, Writer};
