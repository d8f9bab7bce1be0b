//! Imports files into a run folder, one line at a time.

use crate::convert::{ConvertError, ConvertedSession, Converter};
use crate::lines::Lines;
use crate::rollout::{self, Rollout};
use crate::{FieldMap, ImportError, ImportStats, ModelName, SkipReason, fields, own};
use aske_record::{NewRun, Record, RunError, STANDARD};
use aske_session::{Domain, Pack};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Name of the computed grades, next to those that a file has.
pub const GRADER: &str = "aske";

/// Rollouts that are inspected to find the number of turns of a complete session.
const INSPECTED: usize = 1000;

/// How rollouts are read.
#[derive(Debug)]
pub struct ImportOptions {
    /// How answers are parsed and compared.
    pub domain: Domain,
    /// Prompt packs whose messages are parsed exactly.
    pub packs: Vec<Pack>,
    /// Maximum words of a question.
    pub question_words: usize,
    /// Probing rounds of a complete session; by default the most common number.
    pub rounds: Option<u32>,
    /// The asker; by default the first one found.
    pub asker: Option<String>,
    /// Where fields are.
    pub map: FieldMap,
    /// Stop at an unreadable line instead of skipping it.
    pub strict: bool,
}

/// What was imported.
#[derive(Clone, Debug)]
pub struct ImportSummary {
    /// The asker.
    pub asker: ModelName,
    /// The boundary solvers, by name.
    pub solvers: Vec<ModelName>,
    /// Probing rounds.
    pub rounds: u32,
    /// The counts.
    pub count: ImportStats,
}

/// An import in progress.
pub struct Import<'o> {
    options: &'o ImportOptions,
    rounds: u32,
    run: NewRun,
    converter: Converter<'o>,
    solvers: BTreeSet<String>,
    count: ImportStats,
    files: std::slice::Iter<'o, PathBuf>,
    open: Option<OpenFile>,
    /// Bytes of the files that are finished.
    before: u64,
}

/// The current file.
struct OpenFile {
    lines: Lines,
    /// The asker named in the metadata file next to it.
    asker: Option<String>,
}

impl<'o> Import<'o> {
    /// Starts to import files into a new run.
    pub fn begin(files: &'o [PathBuf], options: &'o ImportOptions, run: NewRun) -> Result<Self, ImportError> {
        let rounds = options.rounds.map_or_else(|| most_common_rounds(files), Ok)?;
        let (converter, count) = (Converter::new(options, rounds), ImportStats::default());
        let (solvers, files) = (BTreeSet::new(), files.iter());
        Ok(Self { options, rounds, run, converter, solvers, count, files, open: None, before: 0 })
    }

    /// Number of bytes read.
    pub fn read(&self) -> u64 {
        self.before + self.open.as_ref().map_or(0, |open| open.lines.read)
    }

    /// Reads one line; returns whether there was one.
    pub fn step(&mut self) -> Result<bool, ImportError> {
        loop {
            let Some(mut open) = self.open.take() else {
                let Some(file) = self.files.next() else { return Ok(false) };
                self.open = Some(OpenFile { lines: Lines::open(file)?, asker: asker_in_metadata(file) });
                continue;
            };
            let Some(line) = open.lines.next(rollout::read)? else {
                self.before += open.lines.read;
                continue;
            };
            match line {
                Err(error) => self.count.bad_line(error, self.options.strict)?,
                Ok(rollouts) => {
                    for rollout in rollouts {
                        if let Some(what) = self.rollout(rollout, open.asker.as_deref())? {
                            self.count.bad_line(open.lines.error(what), self.options.strict)?;
                        }
                    }
                }
            }
            self.open = Some(open);
            return Ok(true);
        }
    }

    /// Imports a rollout or counts why not; returns the error of an invalid one.
    fn rollout(
        &mut self,
        rollout: Result<Rollout, SkipReason>,
        metadata_asker: Option<&str>,
    ) -> Result<Option<String>, RunError> {
        let converted = rollout.map_err(ConvertError::Skipped).and_then(|rollout| {
            self.count.absent(self.options.map.absent(&rollout.fields));
            self.converter.convert(&rollout, metadata_asker)
        });
        match converted {
            Ok(session) => {
                write(&mut self.run, &session)?;
                self.count.session(&session);
                self.solvers.extend(session.record.solvers);
            }
            Err(ConvertError::Skipped(left)) => *self.count.left.entry(left).or_default() += 1,
            Err(ConvertError::Invalid(what)) => return Ok(Some(what)),
        }
        Ok(None)
    }

    /// The summary, and the run, which still lacks its manifest.
    pub fn finish(self) -> Result<(ImportSummary, NewRun), ImportError> {
        let Self { converter, count, run, solvers, rounds, .. } = self;
        let (Some(asker), true) = (&converter.asker, count.sessions > 0) else {
            return Err(ImportError::Nothing(count.reasons()));
        };
        let solvers = solvers.iter().map(|name| converter.names.named(name)).collect();
        Ok((ImportSummary { asker: converter.names.named(asker), solvers, rounds, count }, run))
    }
}

fn write(run: &mut NewRun, taken: &ConvertedSession) -> Result<(), RunError> {
    run.add_record(&Record::Session(taken.record.clone()))?;
    for (grader, grade) in [STANDARD, GRADER].into_iter().zip(&taken.grades) {
        grade.as_ref().map_or(Ok(()), |grade| run.add_grade(grader, grade))?;
    }
    run.add_calls(&taken.record.id().to_string(), &taken.calls)
}

/// The most common number of probing rounds among the first rollouts; on a tie the larger one.
fn most_common_rounds(files: &[PathBuf]) -> Result<u32, ImportError> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut left = INSPECTED;
    for file in files {
        let mut lines = Lines::open(file)?;
        while left > 0
            && let Some(line) = lines.next(rollout::read)?
        {
            for rollout in line.into_iter().flatten().flatten().filter(|rollout| !rollout.failed) {
                let own = own::read(&rollout.fields).and_then(Result::ok);
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

/// The model in the `metadata.json` that verifiers 0.3 writes next to its results.
fn asker_in_metadata(file: &Path) -> Option<String> {
    let text = std::fs::read(file.with_file_name("metadata.json")).ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&text).ok()?;
    metadata.get("model").and_then(fields::name)
}
