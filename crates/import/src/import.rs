//! From files to a run folder, a line at a time.

use crate::lines::Lines;
use crate::rollout::{self, Rollout};
use crate::taken::{Refused, Taken, Taker};
use crate::{Count, ImportError, Left, Map, Named, fields, ours};
use aske_record::{CallKey, NewRun, Record, RunError, STANDARD};
use aske_session::{Domain, Pack};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The grader whose grades are ours, beside those that a file has of its own.
pub const GRADER: &str = "aske";

/// Rollouts that are looked at to tell how many turns a whole session has.
const LOOK: usize = 1000;

/// How rollouts are read.
#[derive(Debug)]
pub struct Options {
    /// How answers are read and compared.
    pub domain: Domain,
    /// Prompts whose messages are read exactly.
    pub packs: Vec<Pack>,
    /// Words of a question that are forwarded.
    pub question_words: usize,
    /// Probing rounds of a whole session; what most rollouts have, where none is said.
    pub rounds: Option<u32>,
    /// Who asks; the first that is met, where nobody is named.
    pub asker: Option<String>,
    /// Where fields are found.
    pub map: Map,
    /// Stop at a line that cannot be read, instead of skipping it.
    pub strict: bool,
}

/// What was imported.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Who asked.
    pub asker: Named,
    /// The boundary solvers, by name.
    pub solvers: Vec<Named>,
    /// Probing rounds.
    pub rounds: u32,
    /// How much, and what is missing.
    pub count: Count,
}

/// An import under way.
pub struct Import<'o> {
    options: &'o Options,
    rounds: u32,
    run: NewRun,
    taker: Taker<'o>,
    solvers: BTreeSet<String>,
    count: Count,
    files: std::slice::Iter<'o, PathBuf>,
    open: Option<Open>,
    /// Bytes of the files that were read to their end.
    before: u64,
}

/// The file that is being read.
struct Open {
    lines: Lines,
    /// The asker that a file beside it names.
    asker: Option<String>,
}

impl<'o> Import<'o> {
    /// Begins to read the files into a new run.
    pub fn begin(files: &'o [PathBuf], options: &'o Options, run: NewRun) -> Result<Self, ImportError> {
        let rounds = options.rounds.map_or_else(|| usual_rounds(files), Ok)?;
        let (taker, count) = (Taker::new(options, rounds), Count::default());
        let (solvers, files) = (BTreeSet::new(), files.iter());
        Ok(Self { options, rounds, run, taker, solvers, count, files, open: None, before: 0 })
    }

    /// Bytes that have been read.
    pub fn read(&self) -> u64 {
        self.before + self.open.as_ref().map_or(0, |open| open.lines.read)
    }

    /// Reads one line; says whether there was one.
    pub fn step(&mut self) -> Result<bool, ImportError> {
        loop {
            let Some(mut open) = self.open.take() else {
                let Some(file) = self.files.next() else { return Ok(false) };
                self.open = Some(Open { lines: Lines::open(file)?, asker: asker_beside(file) });
                continue;
            };
            let Some(line) = open.lines.next(rollout::read)? else {
                self.before += open.lines.read;
                continue;
            };
            match line {
                Err(bad) => self.count.bad_line(bad, self.options.strict)?,
                Ok(rollouts) => {
                    for rollout in rollouts {
                        if let Some(what) = self.rollout(rollout, open.asker.as_deref())? {
                            self.count.bad_line(open.lines.bad(what), self.options.strict)?;
                        }
                    }
                }
            }
            self.open = Some(open);
            return Ok(true);
        }
    }

    /// Takes a rollout, or counts why not; says what is wrong with one that cannot be read.
    fn rollout(
        &mut self,
        rollout: Result<Rollout, Left>,
        beside: Option<&str>,
    ) -> Result<Option<String>, RunError> {
        let taken = rollout.map_err(Refused::Left).and_then(|rollout| {
            self.count.absent(self.options.map.absent(&rollout.fields));
            self.taker.take(&rollout, beside)
        });
        match taken {
            Ok(taken) => {
                write(&mut self.run, &taken)?;
                self.count.session(&taken);
                self.solvers.extend(taken.record.solvers);
            }
            Err(Refused::Left(left)) => *self.count.left.entry(left).or_default() += 1,
            Err(Refused::Bad(what)) => return Ok(Some(what)),
        }
        Ok(None)
    }

    /// What was imported, and the run, which still has to be told what it is.
    pub fn finish(self) -> Result<(Imported, NewRun), ImportError> {
        let Self { taker, count, run, solvers, rounds, .. } = self;
        let (Some(asker), true) = (&taker.asker, count.sessions > 0) else {
            return Err(ImportError::Nothing(count.reasons()));
        };
        let solvers = solvers.iter().map(|name| taker.names.named(name)).collect();
        Ok((Imported { asker: taker.names.named(asker), solvers, rounds, count }, run))
    }
}

fn write(run: &mut NewRun, taken: &Taken) -> Result<(), RunError> {
    let record = taken.record.id().to_string();
    run.add_record(&Record::Session(taken.record.clone()))?;
    for (grader, grade) in [STANDARD, GRADER].into_iter().zip(&taken.grades) {
        grade.as_ref().map_or(Ok(()), |grade| run.add_grade(grader, grade))?;
    }
    for (slot, call) in &taken.calls {
        run.add_call(&CallKey { record: record.clone(), slot: *slot }, call)?;
    }
    Ok(())
}

/// The probing rounds that most of the first rollouts have; of equally many, the larger number.
fn usual_rounds(files: &[PathBuf]) -> Result<u32, ImportError> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut left = LOOK;
    for file in files {
        let mut lines = Lines::open(file)?;
        while left > 0
            && let Some(line) = lines.next(rollout::read)?
        {
            for rollout in line.into_iter().flatten().flatten().filter(|rollout| !rollout.failed) {
                let own = ours::read(&rollout.fields).and_then(Result::ok);
                let turns =
                    own.map_or_else(|| rollout.turns().len(), |own| own.record.transcript.turns.len());
                *counts.entry(turns).or_default() += 1;
                left = left.saturating_sub(1);
            }
        }
    }
    let most = counts.into_iter().filter(|(turns, _)| *turns > 0).max_by_key(|(_, count)| *count);
    Ok(most.map_or(0, |(turns, _)| u32::try_from(turns - 1).unwrap_or(u32::MAX)))
}

/// The model that verifiers 0.3 names in the `metadata.json` beside its results.
fn asker_beside(file: &Path) -> Option<String> {
    let text = std::fs::read(file.with_file_name("metadata.json")).ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&text).ok()?;
    metadata.get("model").and_then(fields::name)
}
