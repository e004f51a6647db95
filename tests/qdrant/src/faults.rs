//! Faults on demand. The file `faults` in the data folder holds one, and a missing or empty file none:
//!
//! - `refuse`: every call is answered `UNAVAILABLE`, as by a node that starts
//! - `slow MILLISECONDS`: every call waits first
//! - `full`: writes fail as on a full disk; reads work
//!
//! Killed, hung, restarted with or without data: from outside, on the process and its folder.

use std::path::Path;
use std::time::Duration;

use tonic::Status;

/// What a call does to the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Fails or delays a call as the file says.
pub async fn apply(data: &Path, access: Access) -> Result<(), Status> {
    let faults = std::fs::read_to_string(data.join("faults")).unwrap_or_default();
    let mut words = faults.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => Ok(()),
        (Some("refuse"), None) => Err(Status::unavailable("Service is starting up")),
        (Some("slow"), Some(milliseconds)) => {
            let milliseconds = milliseconds.parse().map_err(|_| unknown(&faults))?;
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            Ok(())
        }
        (Some("full"), None) if access == Access::Write => Err(Status::internal(
            "Service internal error: No space left on device: WAL buffer size exceeds available disk space",
        )),
        (Some("full"), None) => Ok(()),
        _ => Err(unknown(&faults)),
    }
}

fn unknown(faults: &str) -> Status {
    Status::internal(format!("the file `faults` holds {faults:?}, which is no fault"))
}
