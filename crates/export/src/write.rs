//! Tables as files.

use crate::{Table, batch};
use arrow_schema::ArrowError;
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
    let io = |source| ExportError::Io { path: path.to_owned(), source };
    let format = Format::of(path).ok_or_else(|| ExportError::Ending(path.to_owned()))?;
    let file = File::create(path).map_err(io)?;
    match format {
        Format::Jsonl => {
            let mut file = BufWriter::new(file);
            for row in 0..table.rows() {
                serde_json::to_writer(&mut file, &table.row(row)).map_err(|error| io(error.into()))?;
                file.write_all(b"\n").map_err(io)?;
            }
            file.flush().map_err(io)
        }
        Format::Parquet => {
            let batch = batch(table)?;
            let parquet = |source| ExportError::Parquet { path: path.to_owned(), source };
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(parquet)?;
            writer.write(&batch).map_err(parquet)?;
            writer.close().map_err(parquet)?;
            Ok(())
        }
    }
}
