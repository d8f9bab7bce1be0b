//! Joining run folders that belong together.

use crate::calls::TABLES;
use crate::fresh::part_of;
use crate::jsonl::Jsonl;
use crate::run::{DRAWS, grades_path};
use crate::{Contents, GradeLine, Manifest, Record, RunError};
use rusqlite::{Connection, OpenFlags, params};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What a merge brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Finished records.
    pub records: usize,
    /// Stored replies.
    pub calls: usize,
}

/// Joins `runs` into the new folder `into`. Refuses runs of different identity, and records that two runs
/// finished differently.
///
/// The folder appears under its name only when it is complete.
pub fn merge(into: &Path, runs: &[&Path]) -> Result<Merged, RunError> {
    if into.exists() {
        return Err(RunError::Exists { path: into.to_owned() });
    }
    let runs = runs.iter().map(|path| Contents::read(path)).collect::<Result<Vec<_>, _>>()?;
    let manifest = common_manifest(&runs)?;
    let finished = finished(&runs)?;
    let part = part_of(into);
    let written = write(&part, &runs, &manifest, &finished);
    if written.is_err() {
        // Only what this very process began.
        let _ = std::fs::remove_dir_all(&part);
    }
    let calls = written?;
    std::fs::rename(&part, into).map_err(RunError::io(into))?;
    Ok(Merged { records: finished.len(), calls })
}

/// Writes the merged folder, and counts its calls.
fn write(
    part: &Path,
    runs: &[Contents],
    manifest: &Manifest,
    finished: &HashMap<String, usize>,
) -> Result<usize, RunError> {
    std::fs::create_dir_all(part.join("grades")).map_err(RunError::io(part))?;
    manifest.write(part)?;
    let (mut file, _) = Jsonl::open::<Record>(&part.join("records.jsonl"))?;
    for (run, contents) in runs.iter().enumerate() {
        for record in contents.records.iter().filter(|record| finished.get(&record.id()) == Some(&run)) {
            file.append(record)?;
        }
    }
    write_grades(part, runs)?;
    write_draws(part, runs)?;
    join_calls(&part.join("calls.sqlite"), runs, finished)
}

fn common_manifest(runs: &[Contents]) -> Result<Manifest, RunError> {
    let Some((first, others)) = runs.split_first() else {
        return Err(RunError::NoRun { path: std::path::PathBuf::new() });
    };
    let mut manifest = first.manifest.clone();
    for other in others {
        let differences = manifest.identity.differences(&other.manifest.identity);
        if !differences.is_empty() {
            return Err(RunError::Configuration { path: other.path.clone(), differences });
        }
        manifest.identity.grow(&other.manifest.identity);
    }
    Ok(manifest)
}

/// Which run's record is taken: the first that finished it. Two different ones are refused.
fn finished(runs: &[Contents]) -> Result<HashMap<String, usize>, RunError> {
    let mut seen: HashMap<String, (usize, &Record)> = HashMap::new();
    for (run, contents) in runs.iter().enumerate() {
        for record in &contents.records {
            let (first, there) = *seen.entry(record.id()).or_insert((run, record));
            if there != record {
                return Err(RunError::Conflict {
                    record: record.id(),
                    first: runs[first].path.clone(),
                    second: contents.path.clone(),
                });
            }
        }
    }
    Ok(seen.into_iter().map(|(id, (run, _))| (id, run)).collect())
}

/// The choices of an adaptive run; those of two runs do not make one.
fn write_draws(folder: &Path, runs: &[Contents]) -> Result<(), RunError> {
    let with: Vec<&Path> =
        runs.iter().map(|run| run.path.as_path()).filter(|run| run.join(DRAWS).exists()).collect();
    match with.as_slice() {
        [] => Ok(()),
        [only] => std::fs::copy(only.join(DRAWS), folder.join(DRAWS)).map(drop).map_err(RunError::io(folder)),
        [_, other, ..] => Err(RunError::OtherPairs { path: other.join(DRAWS) }),
    }
}

/// Every grader's grades, one for each record: the last of the first run that has one. Grades by two rules of asking
/// the equivalence checker are refused.
fn write_grades(folder: &Path, runs: &[Contents]) -> Result<(), RunError> {
    let mut graders: BTreeMap<&str, BTreeMap<&str, &GradeLine>> = BTreeMap::new();
    for run in runs {
        for (grader, grades) in &run.grades {
            let lines = graders.entry(grader).or_default();
            let last: BTreeMap<&str, &GradeLine> =
                grades.iter().map(|grade| (grade.record.as_str(), grade)).collect();
            let rule = lines.values().chain(last.values()).map(|grade| grade.checker).next();
            if last.values().any(|grade| Some(grade.checker) != rule) {
                return Err(RunError::Rules { path: run.path.clone(), grader: grader.clone() });
            }
            for (record, grade) in last {
                lines.entry(record).or_insert(grade);
            }
        }
    }
    for (grader, grades) in graders {
        let (mut file, _) = Jsonl::open::<GradeLine>(&grades_path(folder, grader))?;
        for grade in grades.into_values() {
            file.append(grade)?;
        }
    }
    Ok(())
}

/// Copies each record's calls from one run: the one that finished it, else the one with most of them.
fn join_calls(path: &Path, runs: &[Contents], finished: &HashMap<String, usize>) -> Result<usize, RunError> {
    let sqlite = RunError::sqlite(path);
    let target = Connection::open(path).map_err(&sqlite)?;
    target.execute_batch(TABLES).map_err(&sqlite)?;
    let mut owner: HashMap<String, (i64, usize)> = HashMap::new();
    for (run, contents) in runs.iter().enumerate() {
        for (record, calls) in counts(&contents.path.join("calls.sqlite"))? {
            let calls = if finished.get(&record) == Some(&run) { i64::MAX } else { calls };
            let best = owner.entry(record).or_insert((calls, run));
            if calls > best.0 {
                *best = (calls, run);
            }
        }
    }
    for (run, contents) in runs.iter().enumerate() {
        let from = contents.path.join("calls.sqlite");
        if !from.exists() {
            continue;
        }
        let copy = || -> rusqlite::Result<()> {
            target.execute("ATTACH ? AS source", [from.to_string_lossy()])?;
            target.execute_batch("BEGIN; CREATE TEMP TABLE own (record TEXT PRIMARY KEY)")?;
            for (record, _) in owner.iter().filter(|(_, (_, owner))| *owner == run) {
                target.prepare_cached("INSERT INTO own VALUES (?)")?.execute(params![record])?;
            }
            let shift: i64 =
                target.query_row("SELECT ifnull(max(number), 0) FROM main.records", [], |row| row.get(0))?;
            target.execute(
                "INSERT INTO main.records SELECT number + ?1, record FROM source.records JOIN own USING (record)",
                [shift],
            )?;
            target.execute_batch(&copy_calls(shift))?;
            target.execute_batch("DROP TABLE own; COMMIT; DETACH source")
        };
        copy().map_err(RunError::sqlite(&from))?;
    }
    target.query_row("SELECT count(*) FROM calls", [], |row| row.get(0)).map_err(sqlite)
}

/// The statement that copies the calls of a source's own records, their numbers moved up by `shift`.
fn copy_calls(shift: i64) -> String {
    format!(
        "INSERT INTO main.calls
         SELECT c.number + {shift}, c.turn, c.role, c.draw, c.model, c.request, c.content, c.reasoning, c.finish,
                c.prompt_tokens, c.cached_tokens, c.completion_tokens, c.reasoning_tokens, c.latency_ms,
                c.attempts, c.usd
         FROM source.calls c JOIN source.records r USING (number) JOIN own USING (record)"
    )
}

/// How many calls each record has.
fn counts(path: &Path) -> Result<Vec<(String, i64)>, RunError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<(String, i64)>> {
        let source = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let mut statement = source.prepare("SELECT record, count(*) FROM replies GROUP BY record")?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    read().map_err(RunError::sqlite(path))
}
