//! Whether there is room.

use crate::{Options, PullError};
use std::io;
use std::path::Path;

/// What must stay free.
const MARGIN: u64 = 64 << 20;

/// Refuses to begin what cannot end.
pub(crate) fn check(folder: &Path, needed: u64, options: &Options) -> Result<(), PullError> {
    let needed = needed.saturating_add(MARGIN);
    match (options.free)(folder).map_err(|error| PullError::io(folder, error))? {
        Some(free) if free < needed => Err(PullError::Room { path: folder.to_owned(), needed, free }),
        _ => Ok(()),
    }
}

/// Free bytes for this user in the file system of a folder.
#[cfg(unix)]
pub(crate) fn free(folder: &Path) -> io::Result<Option<u64>> {
    let system = rustix::fs::statvfs(folder)?;
    Ok(Some(system.f_bavail.saturating_mul(system.f_frsize)))
}

/// Not known here; a disk that becomes full is noticed when it does.
#[cfg(not(unix))]
pub(crate) fn free(_folder: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
