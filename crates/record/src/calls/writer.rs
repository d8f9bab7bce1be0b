//! The thread that writes calls; waiting calls are committed together.

use super::{CallKey, StoredCall, table};
use rusqlite::{Connection, Error, Result};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of calls in a transaction.
const MAX_BATCH: usize = 1024;

/// How long to collect calls before a transaction begins. Models take far longer to reply, and one transaction for many
/// calls is much cheaper than many.
const BATCH_DELAY: Duration = Duration::from_millis(2);

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
        let thread = std::thread::Builder::new()
            .name("calls".to_owned())
            .spawn(move || write(&connection, &waiting))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Returns when the call is committed.
    pub(super) fn put(
        &self,
        key: CallKey,
        call: StoredCall,
    ) -> impl Future<Output = Result<()>> + Send + 'static {
        let (done, result) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // If the writer is gone, `done` is dropped and the wait below fails.
            let _ = queue.send(Put { key, call, done });
        }
        async move { result.await.unwrap_or(Err(Error::InvalidQuery)) }
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
    let mut numbers = HashMap::new();
    while let Ok(first) = waiting.recv() {
        std::thread::sleep(BATCH_DELAY);
        let batch: Vec<Put> = std::iter::once(first).chain(waiting.try_iter()).take(MAX_BATCH).collect();
        commit(connection, &mut numbers, batch);
    }
}

/// Commits a batch; a call that is rejected does not prevent the others.
fn commit(connection: &Connection, numbers: &mut HashMap<String, i64>, batch: Vec<Put>) {
    let outcome = begin_and_insert(connection, numbers, &batch);
    match outcome {
        Ok(inserted) => {
            for (put, result) in batch.into_iter().zip(inserted) {
                let _ = put.done.send(result);
            }
        }
        Err(error) => {
            // What this transaction numbered went with it.
            numbers.clear();
            let text = error.to_string();
            for put in batch {
                let failure = Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR),
                    Some(text.clone()),
                );
                let _ = put.done.send(Err(failure));
            }
        }
    }
}

fn begin_and_insert(
    connection: &Connection,
    numbers: &mut HashMap<String, i64>,
    batch: &[Put],
) -> Result<Vec<Result<()>>> {
    let transaction = connection.unchecked_transaction()?;
    let mut add = |Put { key, call, .. }: &Put| {
        let number = match numbers.get(&key.record) {
            Some(number) => *number,
            None => table::number(connection, &key.record)?,
        };
        numbers.entry(key.record.clone()).or_insert(number);
        table::insert(connection, number, key.slot, call, true)
    };
    let inserted = batch.iter().map(&mut add).collect();
    transaction.commit()?;
    Ok(inserted)
}
