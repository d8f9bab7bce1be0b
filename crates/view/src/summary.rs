//! The row of a run on the home page.

use crate::catalogue::{self, Found};
use crate::filter::Label;
use aske_evidence::{Finding, Headline, Run, Solver, few_pairs, headline};
use aske_record::{Manifest, Replies, RoleUsage, scan_lines};
use aske_session::Outcome;
use aske_stats::{Estimate, Interval, wilson};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a folder is the run of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Sessions of `aske bench`.
    #[default]
    Sessions,
    /// Single sessions of `aske ask`.
    Ask,
    /// Questions without probing, and no sessions.
    Baseline,
    Evaluation,
    /// All seeds of a training.
    Training,
    /// The sessions that one seed of a training sampled.
    Rollouts,
    /// A served environment.
    Environment,
    /// A folder that cannot be read.
    Unknown,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Sessions,
        Self::Ask,
        Self::Baseline,
        Self::Evaluation,
        Self::Training,
        Self::Rollouts,
        Self::Environment,
        Self::Unknown,
    ];

    fn of(path: &Path, manifest: &Manifest) -> Self {
        let begins =
            |prefix: &str| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        match () {
            () if manifest.is_eval() => Self::Evaluation,
            () if manifest.identity.0.contains_key("train") => Self::Rollouts,
            () if path.join("diversity").is_dir() || begins("env-") => Self::Environment,
            () if manifest.planned.is_none() && begins("ask-") => Self::Ask,
            () => Self::Sessions,
        }
    }
}

/// The calibrated share with the interval that stands next to it in the report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rate {
    pub(crate) value: f64,
    interval: Option<Interval>,
    /// What the interval is over: `pairs`, `these_pairs` or `weighted`.
    over: &'static str,
}

/// How far an evaluation or a training is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Evals {
    samples: usize,
    right: usize,
}

/// The row of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// The folder's name.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// What else the folder holds.
    pub(crate) also: Vec<&'static str>,
    pub(crate) asker: String,
    /// The boundary set, or the datasets of an evaluation.
    pub(crate) set: String,
    check: String,
    grader: String,
    pub(crate) solvers: Vec<Solver>,
    pub(crate) sessions: usize,
    graded: usize,
    planned: Option<u64>,
    /// Sessions by outcome in the order of tables, then ungraded.
    outcomes: [usize; Label::COUNT],
    calibrated: Option<f64>,
    /// Wilson's 95% interval over sessions.
    interval: Option<Interval>,
    pub(crate) rate: Option<Rate>,
    /// The real separation that an audit found.
    pub(crate) separation: Option<Estimate>,
    findings: Vec<Finding>,
    calls: u64,
    pub(crate) tokens: u64,
    pub(crate) usd: f64,
    evals: Option<Evals>,
    /// Steps of a training, by seed.
    steps: Option<Vec<usize>>,
    planned_steps: Option<i64>,
    /// Why the stored replies cannot be read, although the sessions can.
    replies_error: Option<String>,
}

impl Summary {
    /// What `run.toml` says.
    pub(crate) fn of_manifest(found: &Found, manifest: &Manifest) -> Self {
        let text = |section: &str, key: &str| {
            let value = manifest.config.get(section).and_then(|section| section.get(key));
            value.and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        Self {
            name: folder_name(&found.path),
            kind: Kind::of(&found.path, manifest),
            asker: text("asker", "model"),
            check: text("check", "model"),
            planned: manifest.planned,
            ..Self::default()
        }
    }

    /// What the records say.
    pub(crate) fn of_run(found: &Found, run: &Run) -> Self {
        let mut row = Self::of_manifest(found, &run.manifest);
        row.asker.clone_from(&run.asker);
        row.grader.clone_from(&run.grader);
        row.solvers.clone_from(&run.solvers);
        row.sessions = run.sessions.len();
        for session in &run.sessions {
            row.outcomes[Label::of(session).index()] += 1;
        }
        row.graded = row.sessions - row.outcomes[Label::Ungraded.index()];
        let calibrated = row.outcomes[Label::Graded(Outcome::Calibrated).index()];
        row.calibrated = (row.graded > 0).then(|| calibrated as f64 / row.graded as f64);
        row.interval = wilson(calibrated as u64, row.graded as u64);
        if run.manifest.is_eval() {
            let right = run.evals.iter().filter(|sample| sample.right).count();
            row.evals = Some(Evals { samples: run.evals.len(), right });
        }
        row.set = set(run);
        let parts = [
            ("audit", !run.audits.is_empty()),
            ("baseline", !run.baselines.is_empty()),
            ("difficulty", !run.difficulties.is_empty()),
            ("regrading", !run.others.is_empty()),
        ];
        row.also = parts.into_iter().filter_map(|(name, there)| there.then_some(name)).collect();
        if row.sessions == 0 && row.also == ["baseline"] {
            row.kind = Kind::Baseline;
            row.also.clear();
        }
        let headline = headline(run);
        row.rate = rate(&headline);
        row.separation = headline.separation;
        row.replies_error = headline.replies_error;
        if !run.manifest.is_eval() {
            row.findings = headline.findings;
        }
        row.add_calls(&headline.used);
        row
    }

    /// A training: its seeds, and the calls of all its parts.
    pub(crate) fn of_training(found: &Found) -> Self {
        let parts = catalogue::folders(&found.path);
        let is_seed = |part: &&PathBuf| folder_name(part).starts_with("seed-");
        let seeds: Vec<&PathBuf> = parts.iter().filter(is_seed).collect();
        let manifest = seeds.iter().find_map(|seed| Manifest::read(seed).ok().flatten());
        let mut row =
            manifest.as_ref().map(|manifest| Self::of_manifest(found, manifest)).unwrap_or_default();
        let steps = |seed: &&PathBuf| {
            let lines = scan_lines(&seed.join("metrics.jsonl"), 0, |_, _| Ok(()));
            lines.map_or(0, |(lines, _)| lines.len())
        };
        let planned = |manifest: &Manifest| manifest.config.get("train")?.get("steps")?.as_integer();
        row.name = folder_name(&found.path);
        row.kind = Kind::Training;
        row.set = format!("{} seed{}", seeds.len(), if seeds.len() == 1 { "" } else { "s" });
        row.steps = Some(seeds.iter().map(steps).collect());
        row.planned_steps = manifest.as_ref().and_then(planned);
        for part in &parts {
            let used = Replies::open(part).and_then(|replies| replies.used());
            row.add_calls(&used.unwrap_or_default());
        }
        row
    }

    fn add_calls(&mut self, used: &BTreeMap<String, RoleUsage>) {
        for used in used.values() {
            self.calls += used.calls;
            self.tokens += used.usage.prompt + used.usage.completion;
            self.usd += used.usd.0;
        }
    }

    /// The texts in which the home page searches.
    pub(crate) fn texts(&self) -> [&str; 4] {
        [&self.name, &self.asker, &self.set, &self.check]
    }

    /// Sessions, samples or steps.
    pub(crate) fn done(&self) -> usize {
        let steps = self.steps.as_ref().map(|steps| steps.iter().sum());
        steps.or(self.evals.map(|evals| evals.samples)).unwrap_or(self.sessions)
    }
}

/// As in the report: weighted if pairs were sampled, for these pairs if they are few, over pairs otherwise.
fn rate(headline: &Headline) -> Option<Rate> {
    if let Some(sampling) = &headline.sampling {
        let Estimate { value, interval } = sampling.rate;
        return Some(Rate { value, interval: Some(interval), over: "weighted" });
    }
    let share = Some(headline.calibrated).filter(|share| share.of > 0)?;
    let few = few_pairs(headline.pairs);
    let (interval, over) = if few { (share.these_pairs, "these_pairs") } else { (share.over_pairs, "pairs") };
    Some(Rate { value: share.rate, interval, over })
}

/// The solvers of a run, or the datasets of an evaluation, in a few words.
fn set(run: &Run) -> String {
    if run.manifest.is_eval() {
        let mut names: Vec<&str> = Vec::new();
        for sample in &run.evals {
            let name = sample.title.as_deref().unwrap_or(&sample.dataset);
            if !names.contains(&name) {
                names.push(name);
            }
            if names.len() > 3 {
                break;
            }
        }
        return names.join(", ");
    }
    match run.solvers.as_slice() {
        [] => String::new(),
        [one] => one.name.clone(),
        [one, two] => format!("{}, {}", one.name, two.name),
        [first, .., last] => format!("{} solvers, {} to {}", run.solvers.len(), first.name, last.name),
    }
}

/// The folder's name, or its full path if it has none.
pub(crate) fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> Option<f64> {
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}
