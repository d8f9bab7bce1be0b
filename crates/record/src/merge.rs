//! Joins run folders of one configuration.

use crate::difference::listed;
use crate::jsonl::read_lines;
use crate::run::{DRAWS, graders};
use crate::{
    COMPARISON, GradeLine, Index, Manifest, NewRun, Record, Replies, RunError, files, for_each_line,
};
use aske_chat::plain_parse_error;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The result of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeSummary {
    /// Finished records.
    pub records: usize,
    /// Stored replies.
    pub calls: usize,
}

/// One of the runs: what it is, and the names of its records. The records stay on the disk.
struct SourceRun<'p> {
    path: &'p Path,
    manifest: Manifest,
    index: Index,
}

impl<'p> SourceRun<'p> {
    fn read(path: &'p Path) -> Result<Self, RunError> {
        Ok(Self { path, manifest: Manifest::require(path)?, index: Index::read(path)? })
    }
}

/// Joins `runs` into the new folder `into`. Refuses runs of different identity, and records that two runs
/// finished differently.
///
/// The folder appears under its name only when it is complete.
pub fn merge(into: &Path, runs: &[&Path]) -> Result<MergeSummary, RunError> {
    let runs = runs.iter().map(|path| SourceRun::read(path)).collect::<Result<Vec<_>, _>>()?;
    let manifest = common_manifest(&runs)?;
    let owners = Owners::of(&runs)?;
    let mut merged = NewRun::begin(into)?;
    copy_records(&merged, &runs, &owners)?;
    copy_grades(&mut merged, &runs)?;
    copy_draws(&merged, &runs)?;
    let calls = copy_calls(&merged, &runs, &owners)?;
    merged.finish(&manifest)?;
    Ok(MergeSummary { records: owners.records, calls })
}

fn common_manifest(runs: &[SourceRun<'_>]) -> Result<Manifest, RunError> {
    let Some((first, others)) = runs.split_first() else {
        return Err(RunError::no_run(Path::new("")));
    };
    let mut manifest = first.manifest.clone();
    for other in others {
        let differences = manifest.identity.differences(&other.manifest.identity);
        if !differences.is_empty() {
            let (first, other) = (first.path.display(), other.path.display());
            let places = [format!("in {first}"), format!("in {other}")];
            let listed = listed(&differences, places.each_ref().map(String::as_str));
            return Err(RunError::unusable(
                format!("{first} and {other} are different experiments:{listed}"),
                "merge only parts of one experiment",
            ));
        }
        manifest.identity.add_missing(&other.manifest.identity);
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

/// Which run a record is taken from: the first that finished it. Only names that are in two runs are stored.
struct Owners {
    /// The run that a record is taken from, where several have it.
    shared: HashMap<String, usize>,
    records: usize,
}

impl Owners {
    /// Finds what is in several runs; two different records of one name are refused.
    fn of(runs: &[SourceRun<'_>]) -> Result<Self, RunError> {
        let mut owners = Self { shared: HashMap::new(), records: 0 };
        for (place, run) in runs.iter().enumerate() {
            for name in run.index.names() {
                let Some(first) = runs[..place].iter().position(|other| other.index.contains(name)) else {
                    owners.records += 1;
                    continue;
                };
                let there = &runs[first];
                if there.index.record(name)? != run.index.record(name)? {
                    let (first, second) = (there.path.display(), run.path.display());
                    return Err(RunError::unusable(
                        format!("{name} was finished in both {first} and {second}, differently"),
                        "run each session in one place only: use --shard",
                    ));
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
fn copy_records(merged: &NewRun, runs: &[SourceRun<'_>], owners: &Owners) -> Result<(), RunError> {
    for (place, run) in runs.iter().enumerate() {
        let taken = |line: &[u8], at| {
            let record: Record = serde_json::from_slice(line).map_err(plain_parse_error)?;
            let name = record.id();
            let latest = run.index.span(&name) == Some(at);
            Ok((latest && owners.takes(place, &name)).then(|| line.to_vec()))
        };
        for_each_line(&run.path.join("records.jsonl"), 0, taken, |line| {
            line.map_or(Ok(()), |line| merged.add_record_line(line))
        })?;
    }
    Ok(())
}

/// The choices of an adaptive run; those of two runs do not make one.
fn copy_draws(merged: &NewRun, runs: &[SourceRun<'_>]) -> Result<(), RunError> {
    let with: Vec<PathBuf> =
        runs.iter().map(|run| run.path.join(DRAWS)).filter(|file| file.exists()).collect();
    match with.as_slice() {
        [] => Ok(()),
        [only] => {
            files::exists(only)?;
            std::fs::copy(only, merged.staging.0.join(DRAWS)).map(drop).map_err(RunError::io(only))
        }
        [_, other, ..] => Err(RunError::other_pairs(other)),
    }
}

/// Every grader's grades, one for each record: the last of the first run that has one. Grades by two versions of the rules
/// are refused. Each line names its comparison.
fn copy_grades(merged: &mut NewRun, runs: &[SourceRun<'_>]) -> Result<(), RunError> {
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let mut rules = HashMap::new();
    for run in runs {
        let default = run.manifest.identity.0.get(COMPARISON);
        for (grader, file) in graders(run.path)? {
            let (mut lines, _) = read_lines::<GradeLine>(&file)?;
            for line in lines.iter_mut().filter(|line| line.rules.comparison.is_none()) {
                line.rules.comparison = default.cloned().map(Cow::Owned);
            }
            let last: HashMap<&str, usize> = lines.iter().map(|line| line.record.as_str()).zip(0..).collect();
            let latest = lines.iter().enumerate().filter(|(at, line)| last[line.record.as_str()] == *at);
            for (_, line) in latest {
                if *rules.entry(grader.clone()).or_insert_with(|| line.rules.clone()) != line.rules {
                    return Err(RunError::unusable(
                        format!(
                            "the grades `{grader}` of {} were made by other rules than those of the first folder",
                            run.path.display()
                        ),
                        "run `aske bench --run FOLDER`, or `aske regrade` for other grades, on the folders of the \
                         earlier version; their sessions are graded again from stored replies, and only the \
                         equivalence checker is called",
                    ));
                }
                if seen.insert((grader.clone(), line.record.clone())) {
                    merged.add_grade(&grader, line)?;
                }
            }
        }
    }
    Ok(())
}

/// Copies each record's calls from one run: the one that finished it, else the one with most of them. Returns their number.
fn copy_calls(merged: &NewRun, runs: &[SourceRun<'_>], owners: &Owners) -> Result<usize, RunError> {
    let replies = runs.iter().map(|run| Replies::open(run.path)).collect::<Result<Vec<_>, _>>()?;
    let counts = replies.iter().map(Replies::counts).collect::<Result<Vec<_>, _>>()?;
    let mut copied = 0;
    for (place, own) in counts.iter().enumerate() {
        for name in own.keys() {
            let strength = |place: usize| {
                let finished = runs[place].index.contains(name) && owners.takes(place, name);
                let calls = counts[place].get(name).copied();
                calls.map(|calls| (if finished { i64::MAX } else { calls }, Reverse(place)))
            };
            if (0..runs.len()).max_by_key(|place| strength(*place)) == Some(place) {
                let calls = replies[place].traced(name)?;
                merged.add_calls(name, &calls)?;
                copied += calls.len();
            }
        }
    }
    Ok(copied)
}
