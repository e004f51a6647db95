//! The seams: traits that the servers' sources, indexes, executors and stores implement.
//!
//! Each has one contract suite that runs against every implementation.

mod authenticator;
mod embedder;
mod executor;
mod index;
mod session;
mod source;

pub use authenticator::{AuthError, Authenticator, Credentials};
pub use embedder::{EmbedError, Embedder, Kind as EmbedKind};
pub use executor::{
    Capture, Ending, Executor, Invocation, Outcome, Program, Progress, ProgressSink, Refusal, SessionChanges,
    Stage,
};
pub use index::{Hit, IndexError, Query, ToolIndex};
pub use session::{SessionBag, SessionError, SessionKey, SessionStore};
pub use source::CatalogSource;
