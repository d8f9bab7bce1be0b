//! Tables as files.

use crate::{Table, batch};
use arrow_schema::ArrowError;
use aske_record::RunError;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format of a file, by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// Rows of a Parquet file that are compressed together; they are in memory until they are written.
const ROW_GROUP: usize = 50_000;

/// A table that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file's name does not tell a format.
    #[error("{}: no known ending", .0.display())]
    Ending(PathBuf),
    /// The file could not be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A run could not be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The columns do not make a table.
    #[error("the columns do not fit: {0}")]
    Arrow(#[from] ArrowError),
    /// The Parquet writer failed.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: ParquetError,
    },
}

/// Writes a table; the file's ending tells the format.
pub fn write(table: &Table, path: &Path) -> Result<(), ExportError> {
    let mut file = Writer::create(path)?;
    file.add(table)?;
    file.finish()
}

/// Writes a table that comes in parts of the same columns, and counts its rows.
pub fn write_parts(
    parts: impl Iterator<Item = Result<Table, RunError>>,
    path: &Path,
) -> Result<usize, ExportError> {
    let mut file = Writer::create(path)?;
    let mut rows = 0;
    for part in parts {
        let part = part?;
        rows += part.rows();
        file.add(&part)?;
    }
    file.finish()?;
    Ok(rows)
}

/// A file that takes a table part by part.
struct Writer<'p> {
    path: &'p Path,
    to: To,
}

enum To {
    Jsonl(BufWriter<File>),
    /// The columns are known with the first part.
    Parquet(Option<File>, Option<Box<ArrowWriter<File>>>),
}

impl<'p> Writer<'p> {
    fn create(path: &'p Path) -> Result<Self, ExportError> {
        let format = Format::of(path).ok_or_else(|| ExportError::Ending(path.to_owned()))?;
        let file = File::create(path).map_err(|source| ExportError::Io { path: path.to_owned(), source })?;
        let to = match format {
            Format::Jsonl => To::Jsonl(BufWriter::new(file)),
            Format::Parquet => To::Parquet(Some(file), None),
        };
        Ok(Self { path, to })
    }

    fn add(&mut self, table: &Table) -> Result<(), ExportError> {
        let io = |source| ExportError::Io { path: self.path.to_owned(), source };
        let parquet = |source| ExportError::Parquet { path: self.path.to_owned(), source };
        match &mut self.to {
            To::Jsonl(file) => {
                for row in 0..table.rows() {
                    serde_json::to_writer(&mut *file, &table.row(row)).map_err(|error| io(error.into()))?;
                    file.write_all(b"\n").map_err(io)?;
                }
                Ok(())
            }
            To::Parquet(file, writer) => {
                let batch = batch(table)?;
                if let Some(file) = file.take() {
                    let properties = WriterProperties::builder()
                        .set_compression(Compression::SNAPPY)
                        .set_max_row_group_row_count(Some(ROW_GROUP))
                        .build();
                    let new =
                        ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(parquet)?;
                    *writer = Some(Box::new(new));
                }
                writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch)).map_err(parquet)
            }
        }
    }

    fn finish(self) -> Result<(), ExportError> {
        let io = |source| ExportError::Io { path: self.path.to_owned(), source };
        match self.to {
            To::Jsonl(mut file) => file.flush().map_err(io),
            To::Parquet(_, writer) => {
                let closed = writer.map(|writer| writer.close()).transpose();
                closed.map(drop).map_err(|source| ExportError::Parquet { path: self.path.to_owned(), source })
            }
        }
    }
}
