//! What `up` says while it works: one line a step, on standard error.

use std::time::Instant;

use anyhow::Result;

/// Says a line.
pub fn say(line: impl std::fmt::Display) {
    eprintln!("cluster: {line}");
}

/// Runs a step and says how long it took; a step that takes its time announces itself with [`say`].
pub fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let began = Instant::now();
    let result = work()?;
    say(format_args!("{name} ({:.1} s)", began.elapsed().as_secs_f64()));
    Ok(result)
}
