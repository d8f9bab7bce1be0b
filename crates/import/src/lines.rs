//! Reads a file line by line.

use crate::ImportError;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Maximum bytes of a line; a rollout with all its tokens has some millions.
const MAX_BYTES: u64 = 256 << 20;

/// An unreadable line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}:{line}: {what}", file.display())]
pub struct LineError {
    /// The file.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// A file that is read line by line.
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    buffer: Vec<u8>,
    number: usize,
    /// Number of bytes read.
    pub(crate) read: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let file = File::open(path).map_err(ImportError::io(path))?;
        let reader = BufReader::with_capacity(1 << 20, file);
        Ok(Self { path: path.to_owned(), reader, buffer: Vec::new(), number: 0, read: 0 })
    }

    /// Parses the next non-empty line; `None` at the end.
    pub(crate) fn next<T>(
        &mut self,
        parse: impl Fn(&[u8]) -> Result<T, String>,
    ) -> Result<Option<Result<T, LineError>>, ImportError> {
        loop {
            self.buffer.clear();
            let taken = (&mut self.reader).take(MAX_BYTES).read_until(b'\n', &mut self.buffer);
            let mut length = taken.map_err(ImportError::io(&self.path))? as u64;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            let whole = self.buffer.ends_with(b"\n");
            let too_long = length == MAX_BYTES && !whole;
            if too_long {
                length += self.reader.skip_until(b'\n').map_err(ImportError::io(&self.path))? as u64;
            }
            self.read += length;
            let line = self.buffer.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let parsed = match parse(line) {
                _ if too_long => Err(format!("longer than {} MiB", MAX_BYTES >> 20)),
                Err(what) if !whole => Err(format!("the line is incomplete: {what}")),
                parsed => parsed,
            };
            return Ok(Some(parsed.map_err(|what| self.error(what))));
        }
    }

    /// An error in the line that was read last.
    pub(crate) fn error(&self, what: String) -> LineError {
        LineError { file: self.path.clone(), line: self.number, what }
    }
}

/// Total bytes of these files.
pub fn size(files: &[PathBuf]) -> Result<u64, ImportError> {
    files.iter().map(|file| Ok(std::fs::metadata(file).map_err(ImportError::io(file))?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_number_and_an_incomplete_one_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, "1\n\n  \nx\n5\n6x").unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let number =
            |line: &[u8]| String::from_utf8_lossy(line).parse::<u32>().map_err(|error| error.to_string());
        let mut found = Vec::new();
        while let Some(line) = lines.next(number).unwrap() {
            found.push(line.map_err(|bad| (bad.line, bad.what.contains("incomplete"))));
        }
        assert_eq!(found, [Ok(1), Err((4, false)), Ok(5), Err((6, true))]);
        assert_eq!(lines.read, size(&[path]).unwrap());
    }
}
