//! Opens the files of a run folder. FIFOs, devices and folders are rejected without blocking.

use crate::RunError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Opens a file for reading; `None` if it does not exist.
pub(crate) fn open(path: &Path) -> Result<Option<File>, RunError> {
    if !exists(path)? {
        return Ok(None);
    }
    // The file may be replaced between the check and the opening, so the open file is checked too.
    open_with(path, OpenOptions::new().read(true)).map(Some)
}

/// Opens a file with these options; it may be created if they say so.
pub(crate) fn open_with(path: &Path, options: &mut OpenOptions) -> Result<File, RunError> {
    exists(path)?;
    let file = nonblocking(options).open(path).map_err(RunError::io(path))?;
    require_regular_file(path, &file.metadata().map_err(RunError::io(path))?)?;
    Ok(file)
}

/// Whether a file exists. Anything else at this path is an error.
pub(crate) fn exists(path: &Path) -> Result<bool, RunError> {
    match std::fs::metadata(path) {
        Ok(found) => require_regular_file(path, &found).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(RunError::io(path)(error)),
    }
}

/// The bytes of a file of at most `most` bytes; `None` if it does not exist.
pub(crate) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, RunError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(RunError::io(path))?;
    if bytes.len() as u64 > most {
        return Err(RunError::manifest(path, format_args!("longer than {most} bytes")));
    }
    Ok(Some(bytes))
}

/// Opening does not block, even for a FIFO.
#[cfg(unix)]
fn nonblocking(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    options.custom_flags(flags)
}

#[cfg(not(unix))]
fn nonblocking(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn require_regular_file(path: &Path, found: &Metadata) -> Result<(), RunError> {
    if found.is_file() {
        return Ok(());
    }
    Err(RunError::unusable(
        format!("{} is {}, not a file", path.display(), kind(found)),
        "a run folder holds plain files only; remove it, or name another folder",
    ))
}

#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "a device" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_file_is_named_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for (path, what) in
            [(fifo.as_path(), "a FIFO"), (Path::new("/dev/zero"), "a device"), (folder.path(), "a folder")]
        {
            let error = open(path).unwrap_err();
            assert!(error.to_string().ends_with(&format!(" is {what}, not a file")), "{error}");
            assert!(open_with(path, OpenOptions::new().write(true)).is_err());
        }
        assert!(open(&folder.path().join("none")).unwrap().is_none());
    }
}
