//! Reads JSON Lines files in blocks, in parallel.

use crate::{RunError, files};
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes read at once.
const BLOCK: usize = 16 << 20;
/// Bytes that one core reads at a time.
const PART: usize = 1 << 20;
/// Bytes of the longest line that is read.
const MAX_LINE_BYTES: usize = 1 << 30;

/// The position of a line in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// Offset of its first byte.
    pub offset: u64,
    /// Length in bytes, without the newline.
    pub length: usize,
}

/// Maps every complete, non-empty line of a file from offset `from`, in order; also returns the offset of the next line.
///
/// A missing file has no lines. A last line without a newline was truncated by a crash or is being written, and is skipped.
pub fn scan_lines<T: Send>(
    path: &Path,
    from: u64,
    read: impl Fn(&[u8], LineSpan) -> Result<T, String> + Sync,
) -> Result<(Vec<T>, u64), RunError> {
    scan_some_lines(path, from, u64::MAX, read)
}

/// Maps the lines as [`scan_lines`] does, and stops after the first block of lines that reaches `most` bytes.
pub fn scan_some_lines<T: Send>(
    path: &Path,
    from: u64,
    most: u64,
    read: impl Fn(&[u8], LineSpan) -> Result<T, String> + Sync,
) -> Result<(Vec<T>, u64), RunError> {
    let mut values = Vec::new();
    let end = scan(path, from, most, read, |value| {
        values.push(value);
        Ok(())
    })?;
    Ok((values, end))
}

/// Maps the lines as [`scan_lines`] does, and passes them to `take` in order, a block at a time; returns the offset of the next line.
pub fn for_each_line<T: Send>(
    path: &Path,
    from: u64,
    read: impl Fn(&[u8], LineSpan) -> Result<T, String> + Sync,
    take: impl FnMut(T) -> Result<(), RunError>,
) -> Result<u64, RunError> {
    scan(path, from, u64::MAX, read, take)
}

fn scan<T: Send>(
    path: &Path,
    from: u64,
    most: u64,
    read: impl Fn(&[u8], LineSpan) -> Result<T, String> + Sync,
    mut take: impl FnMut(T) -> Result<(), RunError>,
) -> Result<u64, RunError> {
    let Some(mut file) = files::open(path)? else { return Ok(from) };
    file.seek(SeekFrom::Start(from)).map_err(RunError::io(path))?;
    let unreadable = |(offset, what)| {
        let line = line_number(path, offset);
        RunError::Line { path: path.to_owned(), line, what }
    };
    let (mut begin, mut block) = (from, Vec::new());
    loop {
        let wanted = most.min(BLOCK as u64);
        let got = (&file).take(wanted).read_to_end(&mut block).map_err(RunError::io(path))?;
        if let Some(end) = memchr::memrchr(b'\n', &block) {
            let parts = parts(&block[..=end]);
            let read: Result<Vec<Vec<T>>, (u64, String)> =
                parts.into_par_iter().map(|(at, part)| lines(part, begin + at as u64, &read)).collect();
            read.map_err(unreadable)?.into_iter().flatten().try_for_each(&mut take)?;
            begin += end as u64 + 1;
            block.drain(..=end);
        }
        if got == 0 || begin.saturating_sub(from) >= most / 2 && begin > from {
            return Ok(begin);
        }
        if block.len() > MAX_LINE_BYTES {
            return Err(unreadable((begin, format!("longer than {MAX_LINE_BYTES} bytes"))));
        }
    }
}

/// Splits whole lines into parts of similar size, each with its offset.
fn parts(lines: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let least = (at + PART).min(lines.len());
        let end = memchr::memchr(b'\n', &lines[least - 1..]).map_or(lines.len(), |more| least + more);
        parts.push((at, &lines[at..end]));
        at = end;
    }
    parts
}

/// Maps the lines of one part; an error has the offset of its line.
fn lines<T>(
    part: &[u8],
    begin: u64,
    read: &impl Fn(&[u8], LineSpan) -> Result<T, String>,
) -> Result<Vec<T>, (u64, String)> {
    let (mut values, mut at) = (Vec::new(), 0);
    for end in memchr::memchr_iter(b'\n', part) {
        let (line, offset) = (&part[at..end], begin + at as u64);
        if !line.trim_ascii().is_empty() {
            values.push(read(line, LineSpan { offset, length: line.len() }).map_err(|what| (offset, what))?);
        }
        at = end + 1;
    }
    Ok(values)
}

/// The number of the line that begins at `offset`, counted from 1.
fn line_number(path: &Path, offset: u64) -> usize {
    let count = || {
        let mut before = File::open(path)?.take(offset);
        let (mut number, mut block) = (1, vec![0; PART]);
        loop {
            match before.read(&mut block)? {
                0 => return Ok::<_, std::io::Error>(number),
                got => number += memchr::memchr_iter(b'\n', &block[..got]).count(),
            }
        }
    };
    count().unwrap_or(1)
}

/// The bytes at a position.
pub fn read_line_at(path: &Path, place: LineSpan) -> Result<Vec<u8>, RunError> {
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut bytes = vec![0; place.length];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(RunError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_comes_once_with_its_place_whatever_the_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let long = "x".repeat(BLOCK + 7);
        let lines: Vec<String> =
            (0..5_000).map(|i| format!("{i} {}", "y".repeat(i % 900))).chain([long, "z".into()]).collect();
        std::fs::write(&path, lines.join("\n") + "\n\ntorn").unwrap();
        let text = |line: &[u8], place| Ok((String::from_utf8_lossy(line).into_owned(), place));
        let (read, end) = scan_lines(&path, 0, text).unwrap();
        assert!(read.iter().map(|(line, _)| line).eq(&lines));
        for (line, place) in read.iter().step_by(997).chain(read.last()) {
            assert_eq!(read_line_at(&path, *place).unwrap(), line.as_bytes());
        }
        // What is added later begins where the whole lines ended.
        std::fs::write(&path, lines.join("\n") + "\n\ntorn no more\n").unwrap();
        assert_eq!(scan_lines(&path, end, text).unwrap().0[0].0, "torn no more");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, "1\n2\n\nfour\n5\n").unwrap();
        let number =
            |line: &[u8], _| String::from_utf8_lossy(line).parse::<u32>().map_err(|error| error.to_string());
        let error = scan_lines(&path, 0, number).unwrap_err();
        assert!(matches!(error, RunError::Line { line: 4, .. }), "{error}");
        assert_eq!(scan_lines(&folder.path().join("none"), 3, number).unwrap(), (vec![], 3));
    }
}
