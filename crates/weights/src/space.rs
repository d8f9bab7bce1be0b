//! Free disk space.

use crate::{PullError, PullOptions};
use std::io;
use std::path::Path;

/// Bytes that a download leaves free.
const RESERVE: u64 = 64 << 20;

/// Fails if a download of this size does not fit.
pub(crate) fn check(folder: &Path, needed: u64, options: &PullOptions) -> Result<(), PullError> {
    let needed = needed.saturating_add(RESERVE);
    match (options.free)(folder).map_err(|error| PullError::io(folder, error))? {
        Some(free) if free < needed => {
            Err(PullError::InsufficientSpace { path: folder.to_owned(), needed, free })
        }
        _ => Ok(()),
    }
}

/// Bytes that this user can write in a folder's file system.
#[cfg(unix)]
pub(crate) fn free(folder: &Path) -> io::Result<Option<u64>> {
    let system = rustix::fs::statvfs(folder)?;
    Ok(Some(system.f_bavail.saturating_mul(system.f_frsize)))
}

/// Unknown on this system; a full disk is detected when a write fails.
#[cfg(not(unix))]
pub(crate) fn free(_folder: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
