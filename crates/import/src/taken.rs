//! A rollout as what the run folder will hold of it.

use crate::fields::{Key, name};
use crate::names::Names;
use crate::ours::{self, Ours};
use crate::places::Places;
use crate::rollout::Rollout;
use crate::session::{calls, transcript, used};
use crate::{Gap, Left, Options, grading};
use aske_record::{GradeLine, PairId, SCHEMA, SessionRecord, StoredCall};
use aske_session::Slot;
use serde_json::Value;

/// The names of those who are not named.
const ASKER: &str = "asker";
const SOLVERS: [&str; 2] = ["model-1", "model-2"];

/// A session with its grades and replies.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) record: SessionRecord,
    /// The grade that counts, and ours where the file has its own.
    pub(crate) grades: [Option<GradeLine>; 2],
    pub(crate) calls: Vec<(Slot, StoredCall)>,
    pub(crate) gaps: Vec<Gap>,
}

/// Why a rollout was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is none of those that are wanted.
    Left(Left),
    /// It cannot be read.
    Bad(String),
}

impl From<Left> for Refused {
    fn from(left: Left) -> Self {
        Self::Left(left)
    }
}

/// Turns rollouts into sessions, one after the other.
pub(crate) struct Taker<'o> {
    options: &'o Options,
    rounds: u32,
    places: Places,
    pub(crate) names: Names,
    /// Who asks in this run: the one that is wanted, else the first.
    pub(crate) asker: Option<String>,
}

impl<'o> Taker<'o> {
    pub(crate) fn new(options: &'o Options, rounds: u32) -> Self {
        let mut names = Names::default();
        let asker = options.asker.as_ref().map(|asker| names.of(asker));
        Self { options, rounds, places: Places::default(), names, asker }
    }

    /// A rollout's session. `beside` is the asker that a file beside the rollouts names.
    pub(crate) fn take(&mut self, rollout: &Rollout, beside: Option<&str>) -> Result<Taken, Refused> {
        match ours::read(&rollout.fields) {
            Some(ours) => self.take_over(rollout, ours.map_err(Refused::Bad)?),
            None => self.read(rollout, beside),
        }
    }

    fn take_over(&mut self, rollout: &Rollout, ours: Ours) -> Result<Taken, Refused> {
        let Ours { mut record, mut grade } = ours;
        for name in [&record.asker, &record.solvers[0], &record.solvers[1]] {
            self.names.of(name);
        }
        self.only(&record.asker)?;
        self.places.only_once(&record)?;
        let (sample, gap) = self.places.find(&record.pair, Some(record.sample));
        record.sample = sample;
        if let Some(line) = &mut grade {
            line.record = record.id().to_string();
        }
        let mut calls = calls(rollout, &self.options.packs, &record.asker, &record.solvers);
        if rollout.turns().len() != record.transcript.turns.len() {
            calls.clear();
        }
        Ok(Taken { record, grades: [grade, None], calls, gaps: gap.into_iter().collect() })
    }

    fn read(&mut self, rollout: &Rollout, beside: Option<&str>) -> Result<Taken, Refused> {
        let Options { map, domain, packs, .. } = self.options;
        if rollout.failed {
            return Err(Left::Failed.into());
        }
        if rollout.turns().len() as u64 != u64::from(self.rounds) + 1 {
            return Err(Left::Unfinished.into());
        }
        let mut gaps = Vec::new();
        let asker = self.who_asked(rollout, beside, &mut gaps)?;
        let solvers = self.solvers(&rollout.fields, &mut gaps);
        let pair = PairId::new(&solvers[0], &solvers[1]).map_err(|_| Left::OneSolver)?;
        let transcript = transcript(rollout, self.options, &mut gaps);
        let grades = grading::grades(&transcript, &rollout.fields, map, domain, &mut gaps);
        let calls = calls(rollout, packs, &asker, &solvers);
        let wanted = map.find(&rollout.fields, Key::Sample, |value| u32::try_from(value.as_u64()?).ok());
        let (sample, gap) = self.places.find(&pair, wanted);
        gaps.extend(gap);
        let used = used(rollout, &calls);
        let record = SessionRecord { schema: SCHEMA, pair, sample, asker, solvers, transcript, used };
        let line = |grade| GradeLine {
            schema: SCHEMA,
            record: record.id().to_string(),
            grade,
            check: None,
            checker: None,
        };
        let grades = [grades.standard.map(line), grades.ours.map(line)];
        Ok(Taken { record, grades, calls, gaps })
    }

    /// Who asked: by a field, by the call, by the file beside, by the user's word; else nobody knows.
    fn who_asked(
        &mut self,
        rollout: &Rollout,
        beside: Option<&str>,
        gaps: &mut Vec<Gap>,
    ) -> Result<String, Left> {
        let told = self.options.map.find(&rollout.fields, Key::Asker, name);
        let told = told.as_deref().or(rollout.asker.as_deref()).or(beside).or(self.options.asker.as_deref());
        if told.is_none() {
            gaps.push(Gap::Asker);
        }
        let asker = self.names.of(told.unwrap_or(ASKER));
        self.only(&asker)?;
        Ok(asker)
    }

    /// Refuses all askers but one.
    fn only(&mut self, asker: &str) -> Result<(), Left> {
        let wanted = self.asker.get_or_insert_with(|| asker.to_owned());
        if wanted == asker { Ok(()) } else { Err(Left::OtherAsker) }
    }

    fn solvers(&mut self, fields: &Value, gaps: &mut Vec<Gap>) -> [String; 2] {
        let told = [Key::One, Key::Two].map(|key| self.options.map.find(fields, key, name));
        if told.iter().any(Option::is_none) {
            gaps.push(Gap::Solvers);
        }
        let [one, two] = told;
        [one.as_deref().unwrap_or(SOLVERS[0]), two.as_deref().unwrap_or(SOLVERS[1])]
            .map(|original| self.names.of(original))
    }
}
