//! Where catalogs come from.
//!
//! ```text
//! files ─▶ watch (events, quiet for a moment, a slow poll besides) ─▶ Loader ─▶ compile ─▶ watch channel of Catalogs
//! ```

mod directory;
mod watch;

pub use directory::{DirectoryOptions, DirectorySource, SourceError};
