//! The thread that writes calls: whatever waits is committed together.

use super::{CallKey, StoredCall, table};
use rusqlite::{Connection, Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Calls that one transaction takes at most.
const MOST_TOGETHER: usize = 512;

struct Put {
    key: CallKey,
    call: StoredCall,
    done: oneshot::Sender<Result<()>>,
}

pub(super) struct Writer {
    queue: Option<Sender<Put>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> std::io::Result<Self> {
        let (queue, waiting) = channel();
        let thread = std::thread::Builder::new().name("calls".to_owned()).spawn(move || write(&connection, &waiting))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Returns when the call is committed.
    pub(super) fn put(&self, key: CallKey, call: StoredCall) -> impl Future<Output = Result<()>> + Send + 'static {
        let (done, told) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A writer that is gone drops `done`, and the wait below says so.
            let _ = queue.send(Put { key, call, done });
        }
        async move { told.await.unwrap_or(Err(Error::InvalidQuery)) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(connection: &Connection, waiting: &Receiver<Put>) {
    while let Ok(first) = waiting.recv() {
        let batch: Vec<Put> = std::iter::once(first).chain(waiting.try_iter()).take(MOST_TOGETHER).collect();
        commit(connection, batch);
    }
}

/// Commits all of a batch; one that is refused does not keep the others out.
fn commit(connection: &Connection, batch: Vec<Put>) {
    let outcome = begin_and_insert(connection, &batch);
    match outcome {
        Ok(inserted) => {
            for (put, result) in batch.into_iter().zip(inserted) {
                let _ = put.done.send(result);
            }
        }
        Err(error) => {
            let text = error.to_string();
            for put in batch {
                let said = Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR), Some(text.clone()));
                let _ = put.done.send(Err(said));
            }
        }
    }
}

fn begin_and_insert(connection: &Connection, batch: &[Put]) -> Result<Vec<Result<()>>> {
    let transaction = connection.unchecked_transaction()?;
    let inserted = {
        let mut statement = connection.prepare_cached(table::INSERT)?;
        batch.iter().map(|put| table::insert(&mut statement, &put.key, &put.call)).collect()
    };
    transaction.commit()?;
    Ok(inserted)
}
