//! A file of request bodies, one per line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An append-only file of request bodies.
pub(crate) struct Dump(BufWriter<File>);

impl Dump {
    /// Opens or creates the file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(BufWriter::with_capacity(1 << 18, file)))
    }

    /// Appends one body as one line.
    pub(crate) fn push(&mut self, body: &[u8]) -> io::Result<()> {
        // A raw newline in JSON can only be between tokens, where a space is equivalent.
        let mut line: Vec<u8> = body.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
        line.push(b'\n');
        self.0.write_all(&line)
    }

    /// Flushes to the file.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
