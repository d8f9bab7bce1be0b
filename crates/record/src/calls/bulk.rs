//! Many calls written at once, where a crash may lose them.

use super::{CallKey, StoredCall, table};
use crate::RunError;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Calls in one transaction.
const TOGETHER: usize = 4096;

pub(crate) struct Bulk {
    path: PathBuf,
    connection: Connection,
    waiting: usize,
    /// The record of the last call, and its number.
    last: Option<(String, i64)>,
}

impl Bulk {
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        let connection = table::open(path).map_err(RunError::sqlite(path))?;
        Ok(Self { path: path.to_owned(), connection, waiting: 0, last: None })
    }

    pub(crate) fn add(&mut self, key: &CallKey, call: &StoredCall) -> Result<(), RunError> {
        self.insert(key, call).map_err(RunError::sqlite(&self.path))
    }

    fn insert(&mut self, key: &CallKey, call: &StoredCall) -> rusqlite::Result<()> {
        if self.waiting == TOGETHER {
            self.connection.execute_batch("COMMIT")?;
            self.waiting = 0;
        }
        if self.waiting == 0 {
            self.connection.execute_batch("BEGIN")?;
        }
        self.waiting += 1;
        let number = match &self.last {
            Some((record, number)) if *record == key.record => *number,
            _ => self.connection.prepare_cached(table::NAME)?.query_row([&key.record], |row| row.get(0))?,
        };
        table::insert(&mut *self.connection.prepare_cached(table::INSERT)?, number, key, call)?;
        self.last = Some((key.record.clone(), number));
        Ok(())
    }

    /// Ends the last transaction and closes the file.
    pub(crate) fn close(self) -> Result<(), RunError> {
        let ended = if self.waiting > 0 { self.connection.execute_batch("COMMIT") } else { Ok(()) };
        let closed = ended.and_then(|()| self.connection.close().map_err(|(_, error)| error));
        closed.map_err(RunError::sqlite(&self.path))
    }
}
