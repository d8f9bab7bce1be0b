//! `calls.sqlite`: every reply, under its record, turn, role and draw.

mod bulk;
mod guard;
mod table;
mod writer;

use crate::{ModelUsage, RoleUsage, RunError, files};
use aske_chat::{Reply, Trace, Usd};
use aske_session::{Role, Slot};
use guard::BoundedConnection;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use writer::Writer;

pub(crate) use bulk::Bulk;

/// Where a stored call belongs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The record's name.
    pub record: String,
    /// The slot in it.
    pub slot: Slot,
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slot { turn, role, draw } = self.slot;
        write!(f, "{}, turn {turn}, {role}, draw {draw}", self.record)
    }
}

/// A stored reply with its latency, attempts and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// The model's name in the configuration; never its address.
    pub model: String,
    /// The hash of the request.
    pub request: [u8; 16],
    /// The reply.
    pub reply: Reply,
    /// How long it took.
    pub latency: Duration,
    /// Attempts made.
    pub attempts: u32,
    /// By the configured price.
    pub cost: Usd,
}

/// The store of a run's calls.
pub struct CallStore {
    path: PathBuf,
    reader: Mutex<BoundedConnection>,
    writer: Writer,
    /// Records with calls at the time of opening, stored by earlier starts.
    pub known: HashSet<String>,
}

impl CallStore {
    /// Opens or creates the store.
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        let sqlite = RunError::sqlite(path);
        guard::check_files(path)?;
        let reader = BoundedConnection::new(table::open(path).map_err(&sqlite)?, path)?;
        let known = reader.query(table::records)?;
        let writer = Writer::start(table::open(path).map_err(&sqlite)?).map_err(RunError::io(path))?;
        Ok(Self { path: path.to_owned(), reader: Mutex::new(reader), writer, known })
    }

    /// The replies of a record that an earlier start has stored. A session runs once per start, so these are all of them.
    pub fn earlier_replies(&self, record: &str) -> Result<HashMap<Slot, StoredCall>, RunError> {
        if self.known.contains(record) { self.of_record(record) } else { Ok(HashMap::new()) }
    }

    /// The replies of a record that are stored by now.
    pub fn of_record(&self, record: &str) -> Result<HashMap<Slot, StoredCall>, RunError> {
        self.reader.lock().query(|reader| table::of_record(reader, record))
    }

    /// The traces of a trained asker by turn.
    pub fn traces(&self, record: &str) -> Result<BTreeMap<u32, Trace>, RunError> {
        self.reader.lock().query(|reader| table::traces(reader, record))
    }

    /// Removes the asker's replies of a record without a trace, so that they are sampled again; returns their number.
    pub fn delete_untraced(&self, record: &str) -> Result<usize, RunError> {
        self.reader.lock().query(|reader| table::delete_untraced(reader, record))
    }

    /// Removes all replies of a record, so that it runs again from the start; returns their number.
    pub fn delete(&self, record: &str) -> Result<usize, RunError> {
        self.reader.lock().query(|reader| table::delete(reader, record))
    }

    /// Calls, tokens and cost of everything stored, by role.
    pub fn used(&self) -> Result<BTreeMap<String, RoleUsage>, RunError> {
        self.reader.lock().query(table::used)
    }

    /// Stores a reply durably.
    pub async fn put(&self, key: CallKey, call: StoredCall) -> Result<(), RunError> {
        self.writer.put(key, call).await.map_err(RunError::sqlite(&self.path))
    }

    /// The error for a stored reply that answers another request.
    pub fn other_request(&self, key: &CallKey) -> RunError {
        RunError::OtherRequest { path: self.path.clone(), key: key.to_string() }
    }
}

/// The replies of a folder, open for reading only; another process may be writing to it.
pub struct Replies {
    reader: Option<BoundedConnection>,
}

impl Replies {
    /// Opens the replies of a run folder; a folder without any has none.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join("calls.sqlite");
        let reader = files::exists(&path)?.then(|| guard::read(&path)).transpose()?;
        Ok(Self { reader })
    }

    /// The replies of a record.
    pub fn of_record(&self, record: &str) -> Result<HashMap<Slot, StoredCall>, RunError> {
        self.query(|reader| table::of_record(reader, record))
    }

    /// The replies of a record with at most `max_chars` characters of each text, and the bytes that were left out of the content
    /// and the reasoning.
    pub fn truncated(
        &self,
        record: &str,
        max_chars: u32,
    ) -> Result<HashMap<Slot, (StoredCall, [usize; 2])>, RunError> {
        self.query(|reader| table::truncated(reader, record, max_chars))
    }

    /// Bytes of all replies of a record.
    pub fn bytes(&self, record: &str) -> Result<u64, RunError> {
        self.query(|reader| table::bytes(reader, record))
    }

    /// One reply as text: its reasoning, if any, and its content.
    pub fn text(&self, record: &str, slot: Slot) -> Result<Option<String>, RunError> {
        self.query(|reader| table::text(reader, record, slot))
    }

    /// Calls, tokens and cost of everything stored, by role.
    pub fn used(&self) -> Result<BTreeMap<String, RoleUsage>, RunError> {
        self.query(table::used)
    }

    /// Calls by role and model; `probe` for the probes before a run.
    pub fn by_model(&self) -> Result<Vec<ModelUsage>, RunError> {
        self.query(table::by_model)
    }

    /// When every call began and ended, in milliseconds since 1970. Calls of earlier versions and of merged runs have no times.
    pub fn times(&self) -> Result<Vec<[i64; 2]>, RunError> {
        self.query(table::times)
    }

    /// Calls `take` with the name of every record that has replies.
    pub fn each_record(&self, take: impl FnMut(&str)) -> Result<(), RunError> {
        self.query(|reader| table::each_record(reader, take))
    }

    /// How many replies each record has.
    pub(crate) fn counts(&self) -> Result<BTreeMap<String, i64>, RunError> {
        self.query(table::counts)
    }

    /// The replies of a record with the traces of a trained asker.
    pub(crate) fn traced(&self, record: &str) -> Result<Vec<(Slot, StoredCall)>, RunError> {
        let mut traces = self.query(|reader| table::traces(reader, record))?;
        let mut replies: Vec<(Slot, StoredCall)> = self.of_record(record)?.into_iter().collect();
        for (slot, call) in replies.iter_mut().filter(|(slot, _)| slot.role == Role::Asker) {
            call.reply.trace = traces.remove(&slot.turn);
        }
        Ok(replies)
    }

    fn query<T: Default>(
        &self,
        query: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, RunError> {
        self.reader.as_ref().map(|reader| reader.query(query)).transpose().map(Option::unwrap_or_default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_session::Side;

    fn call(text: &str) -> StoredCall {
        let mut reply = Reply::text(text);
        reply.reasoning = Some("hm".into());
        reply.usage.prompt = 7;
        StoredCall {
            model: "m".into(),
            request: [3; 16],
            reply,
            latency: Duration::from_millis(1500),
            attempts: 2,
            cost: Usd(0.25),
        }
    }

    fn key(record: &str, turn: u32, draw: u32) -> CallKey {
        CallKey { record: record.into(), slot: Slot { turn, role: Role::Solver(Side::Two), draw } }
    }

    #[tokio::test]
    async fn what_was_put_is_there_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.sqlite");
        let store = CallStore::open(&path).unwrap();
        let puts = (0..50).map(|i| store.put(key("a:b/0", i, i % 3), call(&format!("r{i}"))));
        for put in puts.collect::<Vec<_>>() {
            put.await.unwrap();
        }
        store.put(key("other", 1, 0), call("x")).await.unwrap();
        drop(store);
        let store = CallStore::open(&path).unwrap();
        let calls = store.of_record("a:b/0").unwrap();
        assert_eq!(calls.len(), 50);
        assert_eq!(calls[&key("a:b/0", 7, 1).slot], call("r7"));
        assert!(store.of_record("none").unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_an_asker_sampled_comes_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.sqlite");
        let store = CallStore::open(&path).unwrap();
        let trace = Trace {
            tokens: vec![0, 7, u32::MAX],
            logprobs: vec![-0.1, f32::MIN_POSITIVE, -87.25],
            version: Some(3),
            prompt: vec![9, 8],
        };
        let mut traced = call("x");
        traced.reply.trace = Some(trace.clone());
        for (turn, role) in [(1, Role::Check), (2, Role::Asker), (3, Role::Asker)] {
            let key = CallKey { record: "a".into(), slot: Slot { turn, role, draw: 0 } };
            store.put(key, traced.clone()).await.unwrap();
        }
        let store = {
            drop(store);
            CallStore::open(&path).unwrap()
        };
        let found = store.traces("a").unwrap();
        assert_eq!(found, BTreeMap::from([(2, trace.clone()), (3, trace)]), "of the asker alone");
        assert_eq!(store.of_record("a").unwrap().len(), 3);
        assert!(store.traces("b").unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_asker_whose_trace_was_lost_can_be_sampled_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.sqlite");
        let store = CallStore::open(&path).unwrap();
        let mut traced = call("x");
        traced.reply.trace = Some(Trace { tokens: vec![1], logprobs: vec![-0.5], ..Trace::default() });
        let asker = |turn| CallKey { record: "a".into(), slot: Slot { turn, role: Role::Asker, draw: 0 } };
        for turn in 1..=3 {
            store.put(asker(turn), traced.clone()).await.unwrap();
        }
        store.put(key("a", 1, 0), call("of a solver")).await.unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute("DELETE FROM traces WHERE turn = 2", []).unwrap();
        other.execute("DELETE FROM calls WHERE role = 'asker' AND turn = 3", []).unwrap();
        assert_eq!(store.delete_untraced("a").unwrap(), 1);
        assert_eq!(store.delete_untraced("none").unwrap(), 0);
        let left: Vec<Slot> = store.of_record("a").unwrap().into_keys().collect();
        assert_eq!(left.len(), 2, "the traced turn and the solver's: {left:?}");
        for turn in [2, 3] {
            store.put(asker(turn), traced.clone()).await.unwrap();
        }
        assert_eq!(store.traces("a").unwrap().len(), 3);
    }

    #[tokio::test]
    async fn a_reply_is_stored_once_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.sqlite");
        let store = CallStore::open(&path).unwrap();
        store.put(key("a", 1, 0), call("first")).await.unwrap();
        assert!(store.put(key("a", 1, 0), call("second")).await.is_err());
        store.put(key("a", 1, 1), call("another draw")).await.unwrap();
        drop(store);
        let calls = CallStore::open(&path).unwrap().of_record("a").unwrap();
        assert_eq!(calls[&key("a", 1, 0).slot].reply.content, "first");
        assert_eq!(calls.len(), 2);
    }
}
