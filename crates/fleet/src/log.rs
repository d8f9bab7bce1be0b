//! Reads the logs of servers.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the end of a log that are read.
const TAIL_BYTES: u64 = 64 * 1024;

/// The length of a log.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The text after byte `from`, at most the last 64 KiB of it.
pub(crate) fn since(path: &Path, from: u64) -> String {
    read(path, from.max(length(path).saturating_sub(TAIL_BYTES))).map(|(text, _)| text).unwrap_or_default()
}

/// The last non-blank lines of a text.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// The text after byte `from`, and the position of its end.
pub fn read(path: &Path, from: u64) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let from = from.min(file.metadata()?.len());
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from + bytes.len() as u64))
}
