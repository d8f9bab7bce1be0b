//! Opens a database that may be hostile: only plain tables are read, and the work of every query is limited by the size of
//! the file.

use crate::{RunError, files};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Instructions of SQLite's virtual machine between two calls of the progress handler.
const STEPS_PER_CHECK: i32 = 100_000;
/// Instructions that a query may take for a file of any size: about a second.
const MIN_STEPS: u64 = 50_000_000;

/// A connection whose queries are bounded.
pub(crate) struct BoundedConnection {
    connection: Connection,
    path: PathBuf,
    left: Arc<AtomicU64>,
}

impl BoundedConnection {
    /// Guards a connection to the database at this path, and checks its tables.
    pub(super) fn new(mut connection: Connection, path: &Path) -> Result<Self, RunError> {
        let left = Arc::new(AtomicU64::new(0));
        let counted = left.clone();
        let stop = move || {
            let one_less = |left: u64| left.checked_sub(1);
            counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
        };
        connection.progress_handler(STEPS_PER_CHECK, Some(stop)).map_err(RunError::sqlite(path))?;
        let guarded = Self { connection, path: path.to_owned(), left };
        guarded.check()?;
        Ok(guarded)
    }

    /// Answers a query, within what a file of this size can need: a row takes some 50 steps and more than 50 bytes.
    pub(super) fn query<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, RunError> {
        let bytes = with(&self.path, "-wal").into_iter().chain([self.path.clone()]);
        let bytes: u64 = bytes.filter_map(|file| Some(std::fs::metadata(file).ok()?.len())).sum();
        self.left
            .store((MIN_STEPS + 2 * bytes) / u64::from(STEPS_PER_CHECK.unsigned_abs()), Ordering::Relaxed);
        query(&self.connection).map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => RunError::database(
                &self.path,
                "a query does not end: the file is damaged, or was made to do this",
            ),
            _ => RunError::sqlite(&self.path)(error),
        })
    }

    /// Refuses views, virtual tables and computed columns where tables are expected, and triggers.
    fn check(&self) -> Result<(), RunError> {
        let odd = self.query(|connection| {
            let mut statement = connection.prepare(
                "SELECT CASE
                     WHEN s.type = 'trigger' THEN 'has a trigger'
                     WHEN s.type <> 'table' THEN s.name || ' is a ' || s.type
                     WHEN s.sql NOT LIKE 'CREATE TABLE%' THEN s.name || ' is a virtual table'
                     ELSE s.name || ' has a computed column' END
                 FROM sqlite_schema s
                 WHERE s.type = 'trigger' OR s.name IN ('records', 'calls', 'traces', 'times') AND (
                     s.type <> 'table' OR s.sql NOT LIKE 'CREATE TABLE%'
                     OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden > 0))
                 LIMIT 1",
            )?;
            let mut rows = statement.query([])?;
            rows.next()?.map(|row| row.get::<_, String>(0)).transpose()
        })?;
        match odd {
            Some(what) => Err(RunError::database(&self.path, what)),
            None => Ok(()),
        }
    }
}

/// Opens a database to read from it; the folder may be read-only.
///
/// Readers of a database in WAL mode share an index of the log in a file, which a read-only folder may lack. Without
/// a log, the database is read as one that nobody changes; with a log, its index is kept in memory.
pub(super) fn read(path: &Path) -> Result<BoundedConnection, RunError> {
    check_files(path)?;
    let open = |connection: rusqlite::Result<Connection>| {
        let connection = connection.map_err(RunError::sqlite(path))?;
        prepare(&connection).map_err(RunError::sqlite(path))?;
        connection.pragma_update(None, "query_only", true).map_err(RunError::sqlite(path))?;
        BoundedConnection::new(connection, path)
    };
    let shared = open(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE));
    let Err(RunError::Sqlite { source, .. }) = &shared else { return shared };
    let Some(parameter) = without_shared_index(path, source) else { return shared };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let alone = Connection::open_with_flags(uri(path, parameter), flags).and_then(|connection| {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        Ok(connection)
    });
    open(alone)
}

/// How to open a database whose folder is read-only, after this error; `None` if the error has another cause.
fn without_shared_index(path: &Path, error: &rusqlite::Error) -> Option<&'static str> {
    if !matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)) {
        return None;
    }
    let log = with(path, "-wal").and_then(|log| std::fs::metadata(log).ok()).map_or(0, |log| log.len());
    Some(if log == 0 { "immutable=1" } else { "vfs=unix-none" })
}

/// Settings of every connection: it waits for writers, and a schema may not call functions with side effects.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(30))?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Refuses a database, or a file that SQLite keeps beside it, that is not a plain file.
pub(super) fn check_files(path: &Path) -> Result<(), RunError> {
    files::exists(path)?;
    for ending in ["-wal", "-shm", "-journal"] {
        with(path, ending).map_or(Ok(false), |file| files::exists(&file))?;
    }
    Ok(())
}

fn with(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name: OsString = path.file_name()?.to_owned();
    name.push(ending);
    Some(path.with_file_name(name))
}

/// What is escaped in the path of a `file:` address.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// The address of a file for SQLite, with a parameter.
fn uri(path: &Path, parameter: &str) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    format!("file:{}?{parameter}", utf8_percent_encode(&whole.to_string_lossy(), ESCAPED))
}
