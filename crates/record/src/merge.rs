//! Joining run folders that belong together.

use crate::calls::{TABLES, uri, without_shared_index};
use crate::fresh::part_of;
use crate::jsonl::read_lines;
use crate::run::{DRAWS, graders, grades_path};
use crate::{COMPARISON, GradeLine, Index, Manifest, Record, Replies, RunError, files, for_each_line};
use aske_session::GradingRules;
use rusqlite::{Connection, OpenFlags, params};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a merge brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeSummary {
    /// Finished records.
    pub records: usize,
    /// Stored replies.
    pub calls: usize,
}

/// One of the runs: what it is, and the names of its records. The records stay on the disk.
struct Part<'p> {
    path: &'p Path,
    manifest: Manifest,
    index: Index,
}

impl<'p> Part<'p> {
    fn read(path: &'p Path) -> Result<Self, RunError> {
        let manifest = Manifest::read(path)?.ok_or_else(|| RunError::NoRun { path: path.to_owned() })?;
        Ok(Self { path, manifest, index: Index::read(path)? })
    }
}

/// Joins `runs` into the new folder `into`. Refuses runs of different identity, and records that two runs
/// finished differently.
///
/// The folder appears under its name only when it is complete.
pub fn merge(into: &Path, runs: &[&Path]) -> Result<MergeSummary, RunError> {
    if into.exists() {
        return Err(RunError::Exists { path: into.to_owned() });
    }
    let runs = runs.iter().map(|path| Part::read(path)).collect::<Result<Vec<_>, _>>()?;
    let manifest = common_manifest(&runs)?;
    let owners = Owners::of(&runs)?;
    let part = part_of(into);
    let written = write(&part, &runs, &manifest, &owners);
    if written.is_err() {
        // Only what this very process began.
        let _ = std::fs::remove_dir_all(&part);
    }
    let calls = written?;
    std::fs::rename(&part, into).map_err(RunError::io(into))?;
    Ok(MergeSummary { records: owners.records, calls })
}

/// Writes the merged folder, and counts its calls.
fn write(part: &Path, runs: &[Part<'_>], manifest: &Manifest, owners: &Owners) -> Result<usize, RunError> {
    std::fs::create_dir_all(part.join("grades")).map_err(RunError::io(part))?;
    manifest.write(part)?;
    write_records(&part.join("records.jsonl"), runs, owners)?;
    write_grades(part, runs)?;
    write_draws(part, runs)?;
    join_calls(&part.join("calls.sqlite"), runs, owners)
}

fn common_manifest(runs: &[Part<'_>]) -> Result<Manifest, RunError> {
    let Some((first, others)) = runs.split_first() else {
        return Err(RunError::NoRun { path: PathBuf::new() });
    };
    let mut manifest = first.manifest.clone();
    for other in others {
        let differences = manifest.identity.differences(&other.manifest.identity);
        if !differences.is_empty() {
            return Err(RunError::Configuration { path: other.path.to_owned(), differences });
        }
        manifest.identity.grow(&other.manifest.identity);
        // Shards have a part of the plan each.
        let (one, two) = (manifest.planned, other.manifest.planned);
        manifest.planned =
            one.zip(two).map(|(one, two)| (one + two).min(whole_plan(&manifest)).max(one).max(two));
    }
    Ok(manifest)
}

/// Sessions of the whole plan that a configuration makes; without limit where it does not say.
fn whole_plan(manifest: &Manifest) -> u64 {
    let key =
        |section: &str, key: &str| manifest.config.get(section).and_then(|section| section.get(key).cloned());
    let samples = key("run", "samples").and_then(|samples| u64::try_from(samples.as_integer()?).ok());
    let solvers = key("boundary", "solvers").and_then(|solvers| Some(solvers.as_array()?.len() as u64));
    let plan =
        samples.zip(solvers).map(|(samples, solvers)| samples * (solvers * solvers.saturating_sub(1) / 2));
    plan.unwrap_or(u64::MAX)
}

/// Which run's record is taken: the first that finished it. Only names that are in two runs are kept in mind.
struct Owners {
    /// The run that a record is taken from, where several have it.
    shared: HashMap<String, usize>,
    records: usize,
}

impl Owners {
    /// Finds what is in several runs; two different records of one name are refused.
    fn of(runs: &[Part<'_>]) -> Result<Self, RunError> {
        let mut owners = Self { shared: HashMap::new(), records: 0 };
        for (place, run) in runs.iter().enumerate() {
            for name in run.index.names() {
                let Some(first) = runs[..place].iter().position(|other| other.index.contains(name)) else {
                    owners.records += 1;
                    continue;
                };
                let there = &runs[first];
                if there.index.record(name)? != run.index.record(name)? {
                    return Err(RunError::Conflict {
                        record: name.to_owned(),
                        first: there.path.to_owned(),
                        second: run.path.to_owned(),
                    });
                }
                owners.shared.insert(name.to_owned(), first);
            }
        }
        Ok(owners)
    }

    /// Whether the record of this run is the one that is taken.
    fn takes(&self, run: usize, name: &str) -> bool {
        self.shared.get(name).is_none_or(|owner| *owner == run)
    }
}

/// Copies the lines of the records that are taken, run by run.
fn write_records(path: &Path, runs: &[Part<'_>], owners: &Owners) -> Result<(), RunError> {
    let mut file = BufWriter::new(File::create(path).map_err(RunError::io(path))?);
    for (place, run) in runs.iter().enumerate() {
        let taken = |line: &[u8], at| {
            let record: Record = serde_json::from_slice(line).map_err(|error| error.to_string())?;
            let name = record.id();
            let latest = run.index.place(&name) == Some(at);
            Ok((latest && owners.takes(place, &name)).then(|| line.to_vec()))
        };
        for_each_line(&run.path.join("records.jsonl"), 0, taken, |line| match line {
            Some(line) => {
                file.write_all(&line).and_then(|()| file.write_all(b"\n")).map_err(RunError::io(path))
            }
            None => Ok(()),
        })?;
    }
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(RunError::io(path))
}

/// The choices of an adaptive run; those of two runs do not make one.
fn write_draws(folder: &Path, runs: &[Part<'_>]) -> Result<(), RunError> {
    let with: Vec<&Path> = runs.iter().map(|run| run.path).filter(|run| run.join(DRAWS).exists()).collect();
    match with.as_slice() {
        [] => Ok(()),
        [only] => {
            files::exists(&only.join(DRAWS))?;
            std::fs::copy(only.join(DRAWS), folder.join(DRAWS)).map(drop).map_err(RunError::io(folder))
        }
        [_, other, ..] => Err(RunError::OtherPairs { path: other.join(DRAWS) }),
    }
}

/// Every grader's grades, one for each record: the last of the first run that has one. Grades by two versions of the rules
/// are refused. Each line names its comparison.
fn write_grades(folder: &Path, runs: &[Part<'_>]) -> Result<(), RunError> {
    let of_run = runs.iter().map(|run| graders(run.path)).collect::<Result<Vec<_>, _>>()?;
    let names: BTreeSet<&String> = of_run.iter().flat_map(|graders| graders.keys()).collect();
    for name in names {
        let path = grades_path(folder, name);
        let mut file = BufWriter::new(File::create(&path).map_err(RunError::io(&path))?);
        let mut seen: HashSet<String> = HashSet::new();
        let mut rules: Option<GradingRules> = None;
        for (run, from) in
            runs.iter().zip(&of_run).filter_map(|(run, graders)| Some((run, graders.get(name)?)))
        {
            let (mut lines, _) = read_lines::<GradeLine>(from)?;
            let default = run.manifest.identity.0.get(COMPARISON);
            for line in lines.iter_mut().filter(|line| line.rules.comparison.is_none()) {
                line.rules.comparison = default.cloned().map(Cow::Owned);
            }
            let last: HashMap<&str, usize> = lines.iter().map(|line| line.record.as_str()).zip(0..).collect();
            for (at, line) in lines.iter().enumerate() {
                let counts = last[line.record.as_str()] == at;
                if counts && *rules.get_or_insert_with(|| line.rules.clone()) != line.rules {
                    return Err(RunError::Rules { path: run.path.to_owned(), grader: name.clone() });
                }
                if counts && seen.insert(line.record.clone()) {
                    let text = serde_json::to_vec(line).map_err(|error| RunError::io(&path)(error.into()))?;
                    file.write_all(&text)
                        .and_then(|()| file.write_all(b"\n"))
                        .map_err(RunError::io(&path))?;
                }
            }
        }
        file.flush().map_err(RunError::io(&path))?;
    }
    Ok(())
}

/// Copies each record's calls from one run: the one that finished it, else the one with most of them.
fn join_calls(path: &Path, runs: &[Part<'_>], owners: &Owners) -> Result<usize, RunError> {
    let sqlite = RunError::sqlite(path);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
    let target = Connection::open_with_flags(path, flags).map_err(&sqlite)?;
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(&sqlite)?;
    target.execute_batch(TABLES).map_err(&sqlite)?;
    let counted = runs.iter().map(|run| Replies::open(run.path)?.counts()).collect::<Result<Vec<_>, _>>()?;
    for (place, run) in runs.iter().enumerate() {
        let from = run.path.join("calls.sqlite");
        if counted[place].is_empty() {
            continue;
        }
        // The others' calls are left out: of a record that is finished elsewhere, or has more calls there.
        let best = |name: &str, calls: i64| {
            let strength = |place: usize, calls: i64| {
                let finished = runs[place].index.contains(name) && owners.takes(place, name);
                if finished { i64::MAX } else { calls }
            };
            let own = strength(place, calls);
            (0..runs.len()).filter(|other| *other != place).all(|other| match counted[other].get(name) {
                Some(calls) => {
                    let theirs = strength(other, *calls);
                    theirs < own || theirs == own && place < other
                }
                None => true,
            })
        };
        let left_out =
            counted[place].iter().filter(|(name, calls)| !best(name, **calls)).map(|(name, _)| name);
        let copy = || -> rusqlite::Result<()> {
            attach(&target, &from)?;
            target.execute_batch("BEGIN; CREATE TEMP TABLE left_out (record TEXT PRIMARY KEY)")?;
            for record in left_out {
                target.prepare_cached("INSERT INTO left_out VALUES (?)")?.execute(params![record])?;
            }
            let shift: i64 =
                target.query_row("SELECT ifnull(max(number), 0) FROM main.records", [], |row| row.get(0))?;
            target.execute(
                "INSERT INTO main.records SELECT number + ?1, record FROM source.records
                 WHERE record NOT IN (SELECT record FROM left_out) ORDER BY number",
                [shift],
            )?;
            let traces = "SELECT count(*) FROM source.sqlite_schema WHERE name = 'traces'";
            let traces: i64 = target.query_row(traces, [], |row| row.get(0))?;
            target.execute_batch(&copy_calls(shift, traces > 0))?;
            target.execute_batch("DROP TABLE left_out; COMMIT; DETACH source")
        };
        copy().map_err(RunError::sqlite(&from))?;
    }
    let calls = target.query_row("SELECT count(*) FROM calls", [], |row| row.get(0)).map_err(&sqlite)?;
    drop(target);
    File::open(path).and_then(|file| file.sync_all()).map_err(RunError::io(path))?;
    Ok(calls)
}

/// Attaches a run's calls as `source`; the run's folder may be read-only.
fn attach(target: &Connection, from: &Path) -> rusqlite::Result<()> {
    let readable = || target.query_row("SELECT count(*) FROM source.sqlite_schema", [], |_| Ok(()));
    let attached = target.execute("ATTACH ? AS source", [from.to_string_lossy()]);
    let Err(error) = attached.and_then(|_| readable()) else { return Ok(()) };
    let Some(parameter) = without_shared_index(from, &error) else { return Err(error) };
    // Where the first failed, there may be nothing to detach.
    let _ = target.execute_batch("DETACH source");
    // Before the tables of the source are first read, every database of the connection gets its locking mode so.
    target.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    target.execute("ATTACH ? AS source", [uri(from, parameter)])?;
    readable()
}

/// The statements that copy the calls of a source's own records, their numbers moved up by `shift`.
fn copy_calls(shift: i64, traces: bool) -> String {
    let taken = "JOIN source.records r USING (number) WHERE r.record NOT IN (SELECT record FROM left_out)";
    let calls = format!(
        "INSERT INTO main.calls
         SELECT c.number + {shift}, c.turn, c.role, c.draw, c.model, c.request, c.content, c.reasoning, c.finish,
                c.prompt_tokens, c.cached_tokens, c.completion_tokens, c.reasoning_tokens, c.latency_ms,
                c.attempts, c.usd
         FROM source.calls c {taken};"
    );
    let samples = format!(
        "INSERT INTO main.traces SELECT t.number + {shift}, t.turn, t.tokens, t.logprobs FROM source.traces t {taken};"
    );
    if traces { calls + &samples } else { calls }
}
