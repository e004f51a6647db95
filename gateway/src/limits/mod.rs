//! What keeps one caller from using up what all share.

pub(crate) mod cache;
pub(crate) mod in_flight;
pub(crate) mod rate;
