//! The table of calls.

use super::{StoredCall, guard};
use crate::{ModelUsage, RoleUsage};
use aske_chat::{Finish, Reply, Trace, Usage, Usd};
use aske_session::{Role, Slot};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The definition of the tables. Records are numbered as they begin, so that the calls of sessions in flight
/// lie side by side and a transaction touches few pages. `replies` shows both tables as one, for people and other
/// programs. `traces` holds what a learning asker sampled (four bytes for each number, the lowest
/// first), the version of its weights and, where known, the tokens of its prompts. `times` holds when a call ended, by its row
/// in `calls`.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, record TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER NOT NULL REFERENCES records,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL,
    draw INTEGER NOT NULL,
    model TEXT NOT NULL,
    request BLOB NOT NULL,
    content TEXT NOT NULL,
    reasoning TEXT,
    finish TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    latency_ms REAL NOT NULL,
    attempts INTEGER NOT NULL,
    usd REAL NOT NULL,
    UNIQUE (number, turn, role, draw)
);
CREATE TABLE IF NOT EXISTS traces (
    number INTEGER NOT NULL REFERENCES records,
    turn INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    logprobs BLOB NOT NULL,
    version INTEGER,
    prompt BLOB,
    UNIQUE (number, turn)
);
CREATE TABLE IF NOT EXISTS times (call INTEGER PRIMARY KEY, ended_ms INTEGER NOT NULL);
CREATE VIEW IF NOT EXISTS replies AS SELECT * FROM records JOIN calls USING (number);
";

/// Opens the store. With the write-ahead log a killed process loses nothing that was committed, and a power
/// cut cannot damage the file.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    guard::prepare(&connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // Pages that change often are copied into the file once for many transactions.
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    connection.execute_batch(TABLES)?;
    for (column, kind) in [("version", "INTEGER"), ("prompt", "BLOB")] {
        if !has_column(&connection, column)? {
            connection.execute_batch(&format!("ALTER TABLE traces ADD COLUMN {column} {kind}"))?;
        }
    }
    Ok(connection)
}

/// Whether the traces have this column; those of earlier programs lack the version of the weights and the prompt.
fn has_column(connection: &Connection, column: &str) -> Result<bool> {
    connection.column_exists(None, "traces", column)
}

/// The names of all records that have calls.
pub(super) fn records(connection: &Connection) -> Result<HashSet<String>> {
    let mut records = HashSet::new();
    each_record(connection, |name| {
        records.insert(name.to_owned());
    })?;
    Ok(records)
}

/// Calls `take` with the name of every record that has calls.
pub(super) fn each_record(connection: &Connection, mut take: impl FnMut(&str)) -> Result<()> {
    let mut statement = connection.prepare("SELECT record FROM records")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}

/// How many calls each record has.
pub(super) fn counts(connection: &Connection) -> Result<BTreeMap<String, i64>> {
    let mut statement = connection.prepare(
        "SELECT record, calls FROM records
         JOIN (SELECT number, count(*) AS calls FROM calls GROUP BY number) USING (number)",
    )?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The calls of one record.
pub(super) fn of_record(connection: &Connection, record: &str) -> Result<HashMap<Slot, StoredCall>> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM records JOIN calls USING (number) WHERE record = ?")?;
    let found = statement.query_map([record], |row| Ok((slot(row)?, stored(row)?)))?;
    found.filter_map(|call| call.map(|(slot, call)| Some((slot?, call))).transpose()).collect()
}

/// The calls of one record with at most `max_chars` characters of each text, and the bytes that were left out of the content
/// and the reasoning. Only one full text is in memory at a time.
pub(super) fn truncated(
    connection: &Connection,
    record: &str,
    max_chars: u32,
) -> Result<HashMap<Slot, (StoredCall, [usize; 2])>> {
    let mut statement = connection.prepare_cached(
        "SELECT turn, role, draw, model, request, substr(content, 1, ?2) AS content,
                substr(reasoning, 1, ?2) AS reasoning, finish, prompt_tokens, cached_tokens, completion_tokens,
                reasoning_tokens, latency_ms, attempts, usd, octet_length(content) AS content_bytes,
                coalesce(octet_length(reasoning), 0) AS reasoning_bytes
         FROM records JOIN calls USING (number) WHERE record = ?1",
    )?;
    let found = statement.query_map(params![record, max_chars], |row| {
        let call = stored(row)?;
        let bytes: [usize; 2] = [row.get("content_bytes")?, row.get("reasoning_bytes")?];
        let kept = [call.reply.content.len(), call.reply.reasoning.as_ref().map_or(0, String::len)];
        let left_out = std::array::from_fn(|at| bytes[at].saturating_sub(kept[at]));
        Ok((slot(row)?, (call, left_out)))
    })?;
    found.filter_map(|call| call.map(|(slot, call)| Some((slot?, call))).transpose()).collect()
}

/// Bytes of all replies of a record.
pub(super) fn bytes(connection: &Connection, record: &str) -> Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(sum(octet_length(content) + coalesce(octet_length(reasoning), 0)), 0)
         FROM records JOIN calls USING (number) WHERE record = ?",
    )?;
    statement.query_row([record], |row| row.get(0))
}

/// One text of a reply: its reasoning and its content, as a whole.
pub(super) fn text(connection: &Connection, record: &str, slot: Slot) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT CASE WHEN coalesce(reasoning, '') = '' THEN content ELSE reasoning || char(10, 10) || content END
         FROM records JOIN calls USING (number) WHERE record = ? AND turn = ? AND role = ? AND draw = ?",
    )?;
    let key = params![record, slot.turn, slot.role.as_str(), slot.draw];
    statement.query_row(key, |row| row.get(0)).optional()
}

/// What the asker sampled in each turn of a record. Folders of earlier versions have no traces.
pub(super) fn traces(connection: &Connection, record: &str) -> Result<BTreeMap<u32, Trace>> {
    if !connection.table_exists(None, "traces")? {
        return Ok(BTreeMap::new());
    }
    let column = |name| has_column(connection, name).map(|found| if found { name } else { "NULL" });
    let (version, prompt) = (column("version")?, column("prompt")?);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT turn, tokens, logprobs, {version}, {prompt}
         FROM records JOIN traces USING (number) WHERE record = ?",
    ))?;
    let tokens = |blob: Vec<u8>| blob.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let found = statement.query_map([record], |row| {
        let logprobs: Vec<u8> = row.get(2)?;
        let logprobs = logprobs.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let prompt = tokens(row.get::<_, Option<Vec<u8>>>(4)?.unwrap_or_default());
        Ok((row.get(0)?, Trace { tokens: tokens(row.get(1)?), logprobs, version: row.get(3)?, prompt }))
    })?;
    found.collect()
}

/// Removes the asker's calls of a record that have no trace.
pub(super) fn delete_untraced(connection: &Connection, record: &str) -> Result<usize> {
    connection.execute(
        "DELETE FROM calls WHERE number = (SELECT number FROM records WHERE record = ?1) AND role = 'asker'
         AND turn NOT IN (SELECT turn FROM traces WHERE traces.number = calls.number)",
        [record],
    )
}

/// Removes all calls and traces of a record.
pub(super) fn delete(connection: &Connection, record: &str) -> Result<usize> {
    let number = "(SELECT number FROM records WHERE record = ?1)";
    connection.execute(&format!("DELETE FROM traces WHERE number = {number}"), [record])?;
    connection.execute(&format!("DELETE FROM calls WHERE number = {number}"), [record])
}

/// Calls, tokens and cost by role; `probe` for the probes before a run.
pub(super) fn used(connection: &Connection) -> Result<BTreeMap<String, RoleUsage>> {
    let mut statement = connection.prepare(
        "SELECT CASE WHEN number IN (SELECT number FROM records WHERE record >= 'probe/' AND record < 'probe0')
                     THEN 'probe' ELSE role END AS part,
                count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens),
                sum(usd) FROM calls GROUP BY part",
    )?;
    let used = statement.query_map([], |row| {
        let (prompt, cached) = (row.get(2)?, row.get(3)?);
        let (completion, reasoning) = (row.get(4)?, row.get(5)?);
        let usage = Usage { prompt, cached, completion, reasoning };
        Ok((row.get(0)?, RoleUsage { calls: row.get(1)?, usage, usd: Usd(row.get(6)?) }))
    })?;
    used.collect()
}

/// Calls by role and model; `probe` for the probes before a run.
pub(super) fn by_model(connection: &Connection) -> Result<Vec<ModelUsage>> {
    let mut statement = connection.prepare(
        "SELECT CASE WHEN number IN (SELECT number FROM records WHERE record >= 'probe/' AND record < 'probe0')
                     THEN 'probe' ELSE role END AS part, model,
                count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(reasoning_tokens),
                sum(usd), sum(attempts > 1), sum(max(attempts, 1) - 1), sum(finish = 'length'), sum(latency_ms) / 1e3,
                max(latency_ms) / 1e3
         FROM calls GROUP BY part, model ORDER BY part, model",
    )?;
    let found = statement.query_map([], |row| {
        let (prompt, cached) = (row.get(3)?, row.get(4)?);
        let (completion, reasoning) = (row.get(5)?, row.get(6)?);
        let usage = Usage { prompt, cached, completion, reasoning };
        Ok(ModelUsage {
            role: row.get(0)?,
            model: row.get(1)?,
            used: RoleUsage { calls: row.get(2)?, usage, usd: Usd(row.get(7)?) },
            retried: row.get(8)?,
            retries: row.get(9)?,
            truncated: row.get(10)?,
            seconds: row.get(11)?,
            slowest: row.get(12)?,
        })
    })?;
    found.collect()
}

/// When every call began and ended, in milliseconds since 1970. Calls of earlier versions and of merged runs have no times.
pub(super) fn times(connection: &Connection) -> Result<Vec<[i64; 2]>> {
    if !connection.table_exists(None, "times")? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(
        "SELECT ended_ms - CAST(latency_ms AS INTEGER), ended_ms FROM times JOIN calls ON calls.rowid = times.call",
    )?;
    let found = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?]))?;
    found.collect()
}

fn slot(row: &Row<'_>) -> Result<Option<Slot>> {
    let name: String = row.get("role")?;
    let (turn, draw) = (row.get("turn")?, row.get("draw")?);
    let role = Role::ALL.into_iter().find(|role| role.as_str() == name);
    Ok(role.map(|role| Slot { turn, role, draw }))
}

fn stored(row: &Row<'_>) -> Result<StoredCall> {
    let finish: String = row.get("finish")?;
    let usage = Usage {
        prompt: row.get("prompt_tokens")?,
        cached: row.get("cached_tokens")?,
        completion: row.get("completion_tokens")?,
        reasoning: row.get("reasoning_tokens")?,
    };
    let latency_ms: f64 = row.get("latency_ms")?;
    Ok(StoredCall {
        model: row.get("model")?,
        request: row.get("request")?,
        reply: Reply {
            content: row.get("content")?,
            reasoning: row.get("reasoning")?,
            finish: Finish::from_name(&finish),
            usage,
            trace: None,
        },
        latency: Duration::try_from_secs_f64(latency_ms / 1e3).unwrap_or_default(),
        attempts: row.get("attempts")?,
        cost: Usd(row.get("usd")?),
    })
}

/// The number of a record, which is assigned if it has none.
pub(super) fn number(connection: &Connection, record: &str) -> Result<i64> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO records (record) VALUES (?1) ON CONFLICT DO UPDATE SET record = record RETURNING number",
    )?;
    statement.query_row([record], |row| row.get(0))
}

/// Notes that the call that was added last ended now.
fn insert_time(connection: &Connection) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO times VALUES (?1, ?2)")?;
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    statement.execute(params![connection.last_insert_rowid(), now]).map(drop)
}

/// Adds one call, with the trace of an asker in training; with `now`, one that has just ended.
pub(super) fn insert(
    connection: &Connection,
    number: i64,
    slot: Slot,
    call: &StoredCall,
    now: bool,
) -> Result<()> {
    let Reply { content, reasoning, finish, usage, trace } = &call.reply;
    let mut statement = connection.prepare_cached(
        "INSERT INTO calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    statement.execute(params![
        number,
        slot.turn,
        slot.role.as_str(),
        slot.draw,
        call.model,
        call.request,
        content,
        reasoning,
        finish.as_str(),
        usage.prompt,
        usage.cached,
        usage.completion,
        usage.reasoning,
        call.latency.as_secs_f64() * 1e3,
        call.attempts,
        call.cost.0,
    ])?;
    if now {
        insert_time(connection)?;
    }
    if let (Some(trace), Role::Asker) = (trace, slot.role) {
        let bytes = |tokens: &[u32]| tokens.iter().flat_map(|token| token.to_le_bytes()).collect::<Vec<u8>>();
        let prompt = Some(bytes(&trace.prompt)).filter(|prompt| !prompt.is_empty());
        let logprobs: Vec<u8> = trace.logprobs.iter().flat_map(|logprob| logprob.to_le_bytes()).collect();
        // Replaces a trace whose call was lost.
        let mut statement =
            connection.prepare_cached("INSERT OR REPLACE INTO traces VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        let tokens = bytes(&trace.tokens);
        statement.execute(params![number, slot.turn, tokens, logprobs, trace.version, prompt])?;
    }
    Ok(())
}
