//! Converts rollouts to sessions.

use crate::fields::{Field, name};
use crate::names::ModelNames;
use crate::own::{self, OwnRollout};
use crate::rollout::Rollout;
use crate::samples::SampleNumbers;
use crate::session::{calls, transcript, used};
use crate::{ImportOptions, MissingData, SkipReason, grading};
use aske_record::{GradeLine, PairId, SessionId, SessionRecord, StoredCall};
use aske_session::{GradingRules, Slot};
use serde_json::Value;

/// Names of models that the file does not name.
const ASKER: &str = "asker";
const SOLVERS: [&str; 2] = ["model-1", "model-2"];

/// A session with its grades and replies.
#[derive(Debug)]
pub(crate) struct ConvertedSession {
    pub(crate) record: SessionRecord,
    /// The standard grade, and the computed one if the file has its own outcome.
    pub(crate) grades: [Option<GradeLine>; 2],
    pub(crate) calls: Vec<(Slot, StoredCall)>,
    pub(crate) gaps: Vec<MissingData>,
}

/// Why a rollout was not imported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConvertError {
    /// Skipped for this reason.
    Skipped(SkipReason),
    /// Invalid.
    Invalid(String),
}

impl From<SkipReason> for ConvertError {
    fn from(reason: SkipReason) -> Self {
        Self::Skipped(reason)
    }
}

/// Converts rollouts to sessions, one after another.
pub(crate) struct Converter<'o> {
    options: &'o ImportOptions,
    rounds: u32,
    samples: SampleNumbers,
    pub(crate) names: ModelNames,
    /// The asker of the run: the given one, or else the first.
    pub(crate) asker: Option<String>,
}

impl<'o> Converter<'o> {
    pub(crate) fn new(options: &'o ImportOptions, rounds: u32) -> Self {
        let mut names = ModelNames::default();
        let asker = options.asker.as_ref().map(|asker| names.of(asker));
        Self { options, rounds, samples: SampleNumbers::default(), names, asker }
    }

    /// Converts a rollout. `metadata_asker` is the asker named in the metadata of the file.
    pub(crate) fn convert(
        &mut self,
        rollout: &Rollout,
        metadata_asker: Option<&str>,
    ) -> Result<ConvertedSession, ConvertError> {
        match own::read(&rollout.fields) {
            Some(own) => self.convert_own(rollout, own.map_err(ConvertError::Invalid)?),
            None => self.convert_other(rollout, metadata_asker),
        }
    }

    fn convert_own(&mut self, rollout: &Rollout, own: OwnRollout) -> Result<ConvertedSession, ConvertError> {
        let OwnRollout { mut record, mut grade } = own;
        for name in [&record.asker, &record.solvers[0], &record.solvers[1]] {
            self.names.of(name);
        }
        self.check_asker(&record.asker)?;
        self.samples.reject_duplicate(&record)?;
        let (sample, gap) = self.samples.find(&record.pair, Some(record.sample));
        record.sample = sample;
        if let Some(line) = &mut grade {
            line.record = record.id().to_string();
        }
        let mut calls = calls(rollout, &self.options.packs, &record.asker, &record.solvers);
        if rollout.turns().len() != record.transcript.turns.len() {
            calls.clear();
        }
        Ok(ConvertedSession { record, grades: [grade, None], calls, gaps: gap.into_iter().collect() })
    }

    fn convert_other(
        &mut self,
        rollout: &Rollout,
        metadata_asker: Option<&str>,
    ) -> Result<ConvertedSession, ConvertError> {
        let ImportOptions { map, domain, packs, .. } = self.options;
        if rollout.failed {
            return Err(SkipReason::Failed.into());
        }
        if rollout.turns().len() as u64 != u64::from(self.rounds) + 1 {
            return Err(SkipReason::Unfinished.into());
        }
        let mut gaps = Vec::new();
        let asker = self.find_asker(rollout, metadata_asker, &mut gaps)?;
        let solvers = self.solvers(&rollout.fields, &mut gaps);
        let pair = PairId::new(&solvers[0], &solvers[1]).map_err(|_| SkipReason::SameSolvers)?;
        let transcript = transcript(rollout, self.options, &mut gaps);
        let grades = grading::grades(&transcript, &rollout.fields, map, domain, &mut gaps);
        let calls = calls(rollout, packs, &asker, &solvers);
        let wanted = map.find(&rollout.fields, Field::Sample, |value| u32::try_from(value.as_u64()?).ok());
        let (sample, gap) = self.samples.find(&pair, wanted);
        gaps.extend(gap);
        let used = used(rollout, &calls);
        let record = SessionRecord::new(SessionId { pair, sample }, asker, solvers, transcript, used);
        let line = |grade, rules| GradeLine::new(record.id().to_string(), grade, rules);
        let grades = [
            grades.standard.map(|grade| line(grade, GradingRules::default())),
            grades.computed.map(|grade| line(grade, GradingRules::current(domain, false))),
        ];
        Ok(ConvertedSession { record, grades, calls, gaps })
    }

    /// The asker: from a field, the calls, the metadata, or the user; otherwise unknown.
    fn find_asker(
        &mut self,
        rollout: &Rollout,
        metadata_asker: Option<&str>,
        gaps: &mut Vec<MissingData>,
    ) -> Result<String, SkipReason> {
        let found = self.options.map.find(&rollout.fields, Field::Asker, name);
        let found = found
            .as_deref()
            .or(rollout.asker.as_deref())
            .or(metadata_asker)
            .or(self.options.asker.as_deref());
        if found.is_none() {
            gaps.push(MissingData::Asker);
        }
        let asker = self.names.of(found.unwrap_or(ASKER));
        self.check_asker(&asker)?;
        Ok(asker)
    }

    /// Rejects all askers but one.
    fn check_asker(&mut self, asker: &str) -> Result<(), SkipReason> {
        let wanted = self.asker.get_or_insert_with(|| asker.to_owned());
        if wanted == asker { Ok(()) } else { Err(SkipReason::OtherAsker) }
    }

    fn solvers(&mut self, fields: &Value, gaps: &mut Vec<MissingData>) -> [String; 2] {
        let names = [Field::One, Field::Two].map(|key| self.options.map.find(fields, key, name));
        if names.iter().any(Option::is_none) {
            gaps.push(MissingData::Solvers);
        }
        let [one, two] = names;
        [one.as_deref().unwrap_or(SOLVERS[0]), two.as_deref().unwrap_or(SOLVERS[1])]
            .map(|original| self.names.of(original))
    }
}
