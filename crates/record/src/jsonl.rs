//! Append-only JSON Lines files.

use crate::{RunError, files, scan_lines};
use aske_chat::plain_parse_error;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tracing::info;

/// A file open for appending.
#[derive(Debug)]
pub struct Jsonl {
    path: PathBuf,
    file: Mutex<File>,
}

impl Jsonl {
    /// Opens or creates the file, removes an incomplete last line, and reads the others.
    pub fn open<T: DeserializeOwned + Send>(path: &Path) -> Result<(Self, Vec<T>), RunError> {
        let (values, good) = read_lines(path)?;
        Ok((Self::append_to(path, good)?, values))
    }

    /// Opens or creates the file and truncates it to its complete lines, `good` bytes.
    pub(crate) fn append_to(path: &Path, good: u64) -> Result<Self, RunError> {
        let file = files::open_with(path, OpenOptions::new().create(true).append(true).read(true))?;
        let length = file.metadata().map_err(RunError::io(path))?.len();
        if good < length {
            info!(file = %path.display(), bytes = length - good, "removing an incomplete last line");
            file.set_len(good).map_err(RunError::io(path))?;
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one line, whole, in a single write.
    pub fn append(&self, value: &impl Serialize) -> Result<(), RunError> {
        let line = serde_json::to_vec(value).map_err(|error| RunError::io(&self.path)(error.into()))?;
        self.append_line(line)
    }

    /// Adds a line of another file as it is.
    pub(crate) fn append_line(&self, mut line: Vec<u8>) -> Result<(), RunError> {
        line.push(b'\n');
        self.file.lock().write_all(&line).map_err(RunError::io(&self.path))
    }
}

/// The lines of a file that may not exist, and the number of bytes in complete lines.
pub(crate) fn read_lines<T: DeserializeOwned + Send>(path: &Path) -> Result<(Vec<T>, u64), RunError> {
    scan_lines(path, 0, |line, _| serde_json::from_slice(line).map_err(plain_parse_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_mended_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, "1\n2\n3").unwrap();
        let (file, values) = Jsonl::open::<u32>(&path).unwrap();
        assert_eq!(values, [1, 2]);
        file.append(&4).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n4\n");
        std::fs::write(&path, "1\nx\n3\n").unwrap();
        let error = Jsonl::open::<u32>(&path).unwrap_err();
        assert!(matches!(error, RunError::Line { line: 2, .. }), "{error}");
    }
}
