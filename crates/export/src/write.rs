//! Writes tables to files.

use crate::Table;
use arrow_schema::ArrowError;
use aske_chat::Hint;
use aske_record::{RunError, io_hint};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON lines.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format of a file, by its extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// Rows per Parquet row group, which is kept in memory until it is written.
const ROW_GROUP: usize = 50_000;

/// A table that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file extension is unknown.
    #[error("{}: unknown file extension", .0.display())]
    Extension(PathBuf),
    /// The file could not be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A run could not be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The columns do not form a table.
    #[error("the columns do not fit: {0}")]
    Arrow(#[from] ArrowError),
    /// The Parquet writer failed.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: ParquetError,
    },
}

impl Hint for ExportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Extension(_) => "use the extension .parquet or .jsonl, or name a folder",
            Self::Io { source, .. } => io_hint(source),
            Self::Run(error) => return Hint::hint(error),
            Self::Arrow(_) => "write a .jsonl file instead",
            Self::Parquet { .. } => "check that there is enough room on the disk",
        };
        Some(hint.into())
    }
}

/// Writes a table given in parts with the same columns; returns the number of rows. The extension of the file determines the
/// format.
pub fn write(
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

/// A file to which a table is written part by part.
struct Writer<'p> {
    path: &'p Path,
    output: Output,
}

enum Output {
    Jsonl(BufWriter<File>),
    /// The writer is created with the first part, which has the columns.
    Parquet(Option<File>, Option<Box<ArrowWriter<File>>>),
}

impl<'p> Writer<'p> {
    fn create(path: &'p Path) -> Result<Self, ExportError> {
        let format = Format::of(path).ok_or_else(|| ExportError::Extension(path.to_owned()))?;
        let file = File::create(path).map_err(|source| ExportError::Io { path: path.to_owned(), source })?;
        let output = match format {
            Format::Jsonl => Output::Jsonl(BufWriter::new(file)),
            Format::Parquet => Output::Parquet(Some(file), None),
        };
        Ok(Self { path, output })
    }

    fn add(&mut self, table: &Table) -> Result<(), ExportError> {
        let io = |source| ExportError::Io { path: self.path.to_owned(), source };
        let parquet = |source| ExportError::Parquet { path: self.path.to_owned(), source };
        match &mut self.output {
            Output::Jsonl(file) => {
                for row in 0..table.rows() {
                    serde_json::to_writer(&mut *file, &table.row(row)).map_err(|error| io(error.into()))?;
                    file.write_all(b"\n").map_err(io)?;
                }
                Ok(())
            }
            Output::Parquet(file, writer) => {
                let batch = table.batch()?;
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
        match self.output {
            Output::Jsonl(mut file) => file.flush().map_err(io),
            Output::Parquet(_, writer) => {
                let closed = writer.map(|writer| writer.close()).transpose();
                closed.map(drop).map_err(|source| ExportError::Parquet { path: self.path.to_owned(), source })
            }
        }
    }
}
