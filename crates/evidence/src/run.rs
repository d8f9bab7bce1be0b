//! [`Run`]: the summary of a run folder. Whole transcripts are read on demand.

use crate::SessionCounts;
use crate::line::{Line, text};
use crate::text::{leaks, words_hash};
use aske_chat::Finish;
use aske_chat::plain_parse_error;
use aske_record::{
    COMPARISON, DrawLine, EvalRecord, GradeLine, Identity, LineSpan, Manifest, PairId, PanelRecord, Record,
    Replies, RoleUsage, RunError, STANDARD, SessionId, SessionRecord, StoredCall, read_draws, read_line_at,
    scan_lines, scan_some_lines,
};
use aske_session::{Grade, GradingRules, Slot, TurnError, current_comparison};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A boundary solver of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solver {
    /// Its name.
    pub name: String,
    /// Parameters in billions, if published.
    pub params: Option<f64>,
}

/// The summary of a finished session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Indices of the smaller and the larger solver in [`Run::solvers`].
    pub pair: [u16; 2],
    /// Whether Model 1 was the larger one.
    pub swapped: bool,
    /// Which of the pair's samples.
    pub sample: u32,
    /// The final question.
    pub question: Option<Box<str>>,
    /// The answers of the smaller and the larger solver to it.
    pub answers: [Option<Box<str>>; 2],
    /// The cross-check answers.
    pub check: Box<[Option<Box<str>>]>,
    /// Counts and flags for the validity panel.
    pub notes: SessionNotes,
    /// The grade, if there is one.
    pub grade: Option<Grade>,
    /// Whether the grade was made by earlier rules.
    pub outdated: bool,
    /// Its line in `records.jsonl`.
    pub place: LineSpan,
}

/// What the validity panel needs of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionNotes {
    /// The asker's turns.
    pub turns: TurnCounts,
    /// The replies of the smaller and the larger solver.
    pub replies: [ReplyCounts; 2],
    /// Whether the final question repeats a probing question.
    pub from_probing: bool,
    /// Whether the final question contains the reference answer.
    pub leaked: bool,
    /// A hash of the final question's words, to find duplicates; 0 without a question.
    pub words: u64,
}

/// Counts of a session's asker turns.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnCounts {
    /// All turns.
    pub all: u16,
    /// Turns without a question.
    pub without_question: u16,
    /// Of these, turns that were truncated.
    pub truncated: u16,
    /// Questions cut to the word limit.
    pub cut: u16,
}

/// Counts of a solver's replies in a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyCounts {
    /// All replies.
    pub all: u16,
    /// Truncated replies.
    pub truncated: u16,
    /// Replies without an answer.
    pub unanswered: u16,
}

impl Session {
    /// Sets the grade, and the cross-check answers that it is based on if they are not the session's own.
    fn take(&mut self, line: GradeLine, outdated: bool) {
        self.grade = Some(line.grade);
        self.outdated = outdated;
        if let Some(check) = line.check {
            self.check = check.into_iter().map(|answer| answer.map(Into::into)).collect();
        }
    }

    /// Which solver is right, the smaller one first.
    pub fn right(&self) -> Option<[bool; 2]> {
        let right = self.grade.as_ref()?.right?;
        Some(if self.swapped { [right[1], right[0]] } else { right })
    }
}

/// A run folder.
#[derive(Debug)]
pub struct Run {
    /// Where it is.
    pub path: PathBuf,
    /// What the run is.
    pub manifest: Manifest,
    /// The asker; in an evaluation, the model.
    pub asker: String,
    /// The grader whose grades are used.
    pub grader: String,
    /// The boundary solvers, smallest first.
    pub solvers: Vec<Solver>,
    /// Finished sessions in the order in which they ended.
    pub sessions: Vec<Session>,
    /// Questions asked without probing.
    pub baselines: Vec<PanelRecord>,
    /// Final questions solved again.
    pub audits: Vec<PanelRecord>,
    /// Final questions put to an independent solver.
    pub difficulties: Vec<PanelRecord>,
    /// Answers to the problems of benchmarks.
    pub evals: Vec<EvalRecord>,
    /// The draws of an adaptive run.
    pub draws: Vec<DrawLine>,
    /// Grades of other graders, by grader and session.
    pub others: BTreeMap<String, HashMap<String, GradeLine>>,
    read_to: u64,
    graded_to: u64,
    by_name: HashMap<String, usize>,
    early: HashMap<String, GradeLine>,
}

impl Run {
    /// Reads a folder with the grades of the standard grader or of another.
    pub fn read(path: &Path, grader: Option<&str>) -> Result<Self, RunError> {
        let manifest = Manifest::require(path)?;
        let mut run = Self::empty(path, manifest, grader.unwrap_or(STANDARD));
        run.read_others()?;
        let graders: Vec<String> = run.others.keys().cloned().collect();
        if run.grader != STANDARD && !path.join("grades").join(format!("{}.jsonl", run.grader)).is_file() {
            let known = if graders.is_empty() {
                String::new()
            } else {
                format!("; there are {}", graders.join(", "))
            };
            return Err(RunError::unusable(
                format!("{} has no grades of `{}`{known}", path.display(), run.grader),
                "`aske regrade --check MODEL` makes grades of that name",
            ));
        }
        run.refresh()?;
        Ok(run)
    }

    /// Reads the configuration of a folder with the grades of the standard grader, and no records yet:
    /// [`refresh_some`](Self::refresh_some) reads them part by part.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        let mut run = Self::empty(path, Manifest::require(path)?, STANDARD);
        run.read_others()?;
        Ok(run)
    }

    /// An empty run for a folder that cannot be read.
    pub fn unread(path: &Path) -> Self {
        Self::empty(path, Manifest::new("", Identity::default(), toml::Table::new()), STANDARD)
    }

    fn empty(path: &Path, manifest: Manifest, grader: &str) -> Self {
        Self {
            path: path.to_owned(),
            asker: configured_text(&manifest, "asker", "model"),
            grader: grader.to_owned(),
            solvers: configured(&manifest),
            manifest,
            sessions: Vec::new(),
            baselines: Vec::new(),
            audits: Vec::new(),
            difficulties: Vec::new(),
            evals: Vec::new(),
            draws: Vec::new(),
            others: BTreeMap::new(),
            read_to: 0,
            graded_to: 0,
            by_name: HashMap::new(),
            early: HashMap::new(),
        }
    }

    /// Reads new lines; returns whether there were any.
    pub fn refresh(&mut self) -> Result<bool, RunError> {
        self.refresh_some(u64::MAX)
    }

    /// Reads new lines as [`refresh`](Self::refresh) does, but only about `most` bytes of them; returns whether there were any.
    pub fn refresh_some(&mut self, most: u64) -> Result<bool, RunError> {
        let path = self.path.join("records.jsonl");
        let (found, read_to) = scan_some_lines(&path, self.read_to, most, parse_record)?;
        let grades = self.path.join("grades").join(format!("{}.jsonl", self.grader));
        // A grade is shorter than its record.
        let grade = |line: &[u8], _| parse::<GradeLine>(line);
        let (lines, graded_to) = scan_some_lines(&grades, self.graded_to, most.div_ceil(4), grade)?;
        let news = !found.is_empty() || !lines.is_empty();
        if news {
            self.draws = read_draws(&self.path)?;
        }
        (self.read_to, self.graded_to) = (read_to, graded_to);
        self.sessions.reserve(found.len());
        for parsed in found {
            match parsed {
                Parsed::Session(session) => self.add(*session),
                Parsed::Other(record) => self.add_other(*record),
            }
        }
        for line in lines {
            match self.by_name.get(&line.record) {
                Some(place) => {
                    let outdated = is_outdated(&self.manifest, &line.rules);
                    self.sessions[*place].take(line, outdated);
                }
                None => drop(self.early.insert(line.record.clone(), line)),
            }
        }
        Ok(news)
    }

    /// The bytes of `records.jsonl` that have been read.
    pub fn read_to(&self) -> u64 {
        self.read_to
    }

    /// Drops the sessions whose names do not satisfy `keep`.
    pub fn retain_sessions(&mut self, keep: impl Fn(&str) -> bool) {
        for session in std::mem::take(&mut self.sessions) {
            let name = self.name(&session);
            if keep(&name) {
                self.by_name.insert(name, self.sessions.len());
                self.sessions.push(session);
            } else {
                self.by_name.remove(&name);
            }
        }
    }

    /// Adds a record other than a session.
    fn add_other(&mut self, record: Record) {
        let name = record.id();
        let panels = match record {
            Record::Eval(sample) => return upsert(&mut self.evals, &mut self.by_name, name, sample),
            Record::Baseline(panel) => (&mut self.baselines, panel),
            Record::Audit(panel) => (&mut self.audits, panel),
            Record::Difficulty(panel) => (&mut self.difficulties, panel),
            Record::Session(_) => return,
        };
        // Panels were judged by the standard grader.
        if self.grader == STANDARD {
            upsert(panels.0, &mut self.by_name, name, panels.1);
        }
    }

    fn read_others(&mut self) -> Result<(), RunError> {
        let folder = self.path.join("grades");
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(()) };
        for file in entries.flatten().map(|entry| entry.path()) {
            let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            if name == self.grader || file.extension().is_none_or(|ending| ending != "jsonl") {
                continue;
            }
            let (lines, _) = scan_lines(&file, 0, |line, _| parse::<GradeLine>(line))?;
            self.others.insert(name, lines.into_iter().map(|line| (line.record.clone(), line)).collect());
        }
        Ok(())
    }

    fn add(&mut self, found: ParsedSession) {
        let [one, two] = found.solvers.map(|name| self.solver(&name));
        let swapped = one > two;
        let mut session = found.session;
        session.pair = if swapped { [two, one] } else { [one, two] };
        session.swapped = swapped;
        session.answers.swap(0, usize::from(swapped));
        session.notes.replies.swap(0, usize::from(swapped));
        let name = found.id.to_string();
        if let Some(line) = self.early.remove(&name) {
            let outdated = is_outdated(&self.manifest, &line.rules);
            session.take(line, outdated);
        }
        if self.asker.is_empty() {
            self.asker = found.asker;
        }
        upsert(&mut self.sessions, &mut self.by_name, name, session);
    }

    /// The index of a solver; one that is not configured is added at the end.
    fn solver(&mut self, name: &str) -> u16 {
        let place = self.solvers.iter().position(|solver| solver.name == name).unwrap_or_else(|| {
            self.solvers.push(Solver { name: name.to_owned(), params: None });
            self.solvers.len() - 1
        });
        u16::try_from(place).unwrap_or(u16::MAX)
    }

    /// The folder's name.
    pub fn folder(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The number of sessions graded by earlier rules.
    pub fn graded_by_earlier_rules(&self) -> usize {
        self.sessions.iter().filter(|session| session.outdated).count()
    }

    /// The cross-check solver of the run itself.
    pub fn check(&self) -> String {
        configured_text(&self.manifest, "check", "model")
    }

    /// The names of a session's solvers, the smaller one first.
    pub fn pair(&self, session: &Session) -> String {
        session.pair.map(|place| self.solvers[usize::from(place)].name.as_str()).join(":")
    }

    /// A session's name.
    pub fn name(&self, session: &Session) -> String {
        format!("{}/{}", self.pair_id(session), session.sample)
    }

    /// The name of a session's pair, as in the session's own name.
    pub fn pair_id(&self, session: &Session) -> String {
        let [a, b] = session.pair.map(|place| self.solvers[usize::from(place)].name.as_str());
        PairId::new(a, b).map_or_else(|_| String::new(), |pair| pair.to_string())
    }

    /// The session of this name.
    pub fn session(&self, name: &str) -> Option<&Session> {
        self.by_name.get(name).map(|place| &self.sessions[*place])
    }

    /// The audit with the most draws of each session, by session name.
    pub fn audited(&self) -> HashMap<&str, &PanelRecord> {
        let draws = |panel: &PanelRecord| panel.answers.values().map(Vec::len).max().unwrap_or(0);
        let mut audited: HashMap<&str, &PanelRecord> = HashMap::new();
        for panel in self.audits.iter().filter(|panel| panel.right.is_some()) {
            let Some(session) = panel.session.as_deref() else { continue };
            let there = audited.entry(session).or_insert(panel);
            if draws(panel) > draws(there) {
                *there = panel;
            }
        }
        audited
    }

    /// A session's whole record.
    pub fn record(&self, session: &Session) -> Result<SessionRecord, RunError> {
        let path = self.path.join("records.jsonl");
        let bytes = read_line_at(&path, session.place)?;
        match parse::<Record>(&bytes) {
            Ok(Record::Session(record)) => Ok(record),
            Ok(_) => Err(RunError::Line { path, line: 0, what: "not a session".to_owned() }),
            Err(what) => Err(RunError::Line { path, line: 0, what }),
        }
    }

    /// Every reply of a session.
    pub fn replies(&self, name: &str) -> Result<HashMap<Slot, StoredCall>, RunError> {
        Replies::open(&self.path)?.of_record(name)
    }

    /// Calls, tokens and cost by role.
    pub fn used(&self) -> Result<BTreeMap<String, RoleUsage>, RunError> {
        Replies::open(&self.path)?.used()
    }

    /// Calls, tokens and cost of the stored replies by role, and the number of sessions with replies but neither a record nor
    /// a grade.
    pub(crate) fn stored(&self) -> Result<(BTreeMap<String, RoleUsage>, u64), RunError> {
        let replies = Replies::open(&self.path)?;
        let known = |name: &str| self.by_name.contains_key(name) || self.early.contains_key(name);
        // Names of other records have another number of slashes.
        let session = |name: &str| {
            name.split_once('/').is_some_and(|(pair, rest)| pair.contains(':') && !rest.contains('/'))
        };
        let mut begun = 0;
        replies.each_record(|name| begun += u64::from(session(name) && !known(name)))?;
        Ok((replies.used()?, begun))
    }

    /// Counts the sessions of the folder; `begun` of them have stored replies only.
    pub(crate) fn held(&self, begun: u64) -> SessionCounts {
        SessionCounts {
            planned: self.manifest.planned,
            records: self.sessions.len() as u64,
            graded: self.sessions.iter().filter(|session| session.grade.is_some()).count() as u64,
            lost: self.early.len() as u64,
            begun,
        }
    }
}

/// Adds a value, or replaces the earlier one of its name: the later of two records with one name counts.
fn upsert<T>(values: &mut Vec<T>, by_name: &mut HashMap<String, usize>, name: String, value: T) {
    match by_name.entry(name) {
        Entry::Occupied(place) => values[*place.get()] = value,
        Entry::Vacant(place) => {
            place.insert(values.len());
            values.push(value);
        }
    }
}

fn configured_text(manifest: &Manifest, section: &str, key: &str) -> String {
    let value = manifest.config.get(section).and_then(|section| section.get(key));
    value.and_then(toml::Value::as_str).unwrap_or_default().to_owned()
}

/// The solvers that the configuration lists, smallest first, with their sizes.
fn configured(manifest: &Manifest) -> Vec<Solver> {
    let config = &manifest.config;
    let names = config.get("boundary").and_then(|boundary| boundary.get("solvers")?.as_array());
    let params = |name: &str| {
        let params = config.get("models")?.get(name)?.get("params")?;
        params.as_float().or_else(|| params.as_integer().map(|whole| whole as f64))
    };
    let names = names.into_iter().flatten().filter_map(toml::Value::as_str);
    names.map(|name| Solver { name: name.to_owned(), params: params(name) }).collect()
}

fn parse<T: for<'l> Deserialize<'l>>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(plain_parse_error)
}

enum Parsed {
    Session(Box<ParsedSession>),
    Other(Box<Record>),
}

/// A session whose solvers are not resolved yet.
struct ParsedSession {
    id: SessionId,
    asker: String,
    solvers: [String; 2],
    session: Session,
}

/// Parses a line.
fn parse_record(bytes: &[u8], place: LineSpan) -> Result<Parsed, String> {
    let line: Line<'_> = serde_json::from_slice(bytes).map_err(plain_parse_error)?;
    if line.kind.0 != "session" {
        return Ok(Parsed::Other(Box::new(parse(bytes)?)));
    }
    let pair: PairId = line.pair.0.parse().map_err(|error: aske_record::PairIdError| error.to_string())?;
    let question = line.turns.last().and_then(|turn| turn.question).map(text);
    let notes = notes(&line, question.as_deref());
    let last = line.turns.last();
    let solved = last.and_then(|turn| turn.solved.as_ref());
    let answer =
        |side: usize| solved.and_then(|solved| solved[side].answer).map(|answer| text(answer).into());
    Ok(Parsed::Session(Box::new(ParsedSession {
        id: SessionId { pair, sample: line.sample },
        asker: line.asker.0.clone().into_owned(),
        solvers: line.solvers.each_ref().map(|name| name.0.clone().into_owned()),
        session: Session {
            pair: [0, 0],
            swapped: false,
            sample: line.sample,
            question: question.map(Into::into),
            answers: [answer(0), answer(1)],
            check: line.check.iter().map(|answer| Some(answer.as_ref()?.0.as_ref().into())).collect(),
            notes,
            grade: None,
            outdated: false,
            place,
        },
    })))
}

/// Whether grades by these rules, in a folder with this manifest, would be made by other rules today.
fn is_outdated(manifest: &Manifest, rules: &GradingRules) -> bool {
    let key = |name: &str| manifest.identity.0.get(name).map(String::as_str);
    let comparison = key(COMPARISON).and_then(current_comparison);
    let checker = key("equivalence").is_some_and(|checker| checker != "none");
    comparison.is_some_and(|current| rules.comparison.as_deref() != Some(current))
        || (checker && rules.checker.is_none())
}

fn notes(line: &Line<'_>, question: Option<&str>) -> SessionNotes {
    let mut notes = SessionNotes::default();
    for turn in &line.turns {
        notes.turns.all += 1;
        notes.turns.without_question += u16::from(turn.question.is_none());
        notes.turns.truncated += u16::from(turn.error == Some(TurnError::Truncated));
        notes.turns.cut += u16::from(turn.cut);
        for (counts, solved) in notes.replies.iter_mut().zip(turn.solved.iter().flatten()) {
            counts.all += 1;
            counts.truncated += u16::from(solved.finish == Finish::Length);
            counts.unanswered += u16::from(solved.answer.is_none());
        }
    }
    if let (Some(question), Some((last, probes))) = (question, line.turns.split_last()) {
        notes.words = words_hash(question);
        let length = last.question.map_or(0, |question| question.get().len());
        // Questions with the same words have about the same length: the others need not be parsed.
        let near = |probe: &&RawValue| probe.get().len().abs_diff(length) <= length / 8 + 16;
        let mut probed = probes.iter().filter_map(|turn| turn.question).filter(near);
        notes.from_probing = probed.any(|probe| words_hash(&text(probe)) == notes.words);
        let reference = line.check.first().and_then(Option::as_ref);
        notes.leaked = reference.is_some_and(|answer| leaks(question, &answer.0));
    }
    notes
}
