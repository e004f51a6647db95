//! Runs of tools: started once, joined by whoever asks again, killed when nobody waits any more.

pub(crate) mod finished;
pub(crate) mod outputs;
pub(crate) mod run;
pub(crate) mod start;
