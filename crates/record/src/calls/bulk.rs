//! Calls of whole records, written by one thread.

use super::{StoredCall, table};
use crate::RunError;
use aske_session::Slot;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

pub(crate) struct Bulk {
    path: PathBuf,
    connection: Connection,
}

impl Bulk {
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        let connection = table::open(path).map_err(RunError::sqlite(path))?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Adds the calls of a record in one transaction.
    pub(crate) fn add(&self, record: &str, calls: &[(Slot, StoredCall)]) -> Result<(), RunError> {
        let write = || {
            let transaction = self.connection.unchecked_transaction()?;
            let number = table::number(&transaction, record)?;
            calls
                .iter()
                .try_for_each(|(slot, call)| table::insert(&transaction, number, *slot, call, false))?;
            transaction.commit()
        };
        write().map_err(RunError::sqlite(&self.path))
    }

    pub(crate) fn close(self) -> Result<(), RunError> {
        self.connection.close().map_err(|(_, error)| RunError::sqlite(&self.path)(error))
    }
}
