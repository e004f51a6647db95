//! `down`: ends the node and removes all of it but its logs.

use anyhow::Result;

use super::root::Root;
use super::{Place, node, progress, requirements};

/// Stops and forgets; a second time does nothing.
pub fn run(place: &Place) -> Result<()> {
    requirements::root()?;
    let root = Root::new(place)?;
    if !root.path().exists() {
        progress::say(format_args!("nothing in {}", root.path().display()));
        return Ok(());
    }
    let _held = root.lock()?;
    progress::step("stopped, nothing left", || node::stop(&root))
}
