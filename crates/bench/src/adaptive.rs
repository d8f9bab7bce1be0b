//! Adaptive runs: pairs are sampled by how informative they are, until the confidence interval is narrow enough.

use crate::plan::plan_session;
use crate::{Observer, PlannedSession, RunSummary, Runner};
use aske_config::Settings;
use aske_record::{DrawLine, Jsonl, PairId, RunError, SCHEMA, SessionId};
use aske_session::{Outcome, Seed};
use aske_stats::{AdaptiveEstimate, AdaptiveSampler, PairDraw};

/// When an adaptive run stops.
#[derive(Clone, Copy, Debug)]
pub struct StopRule {
    /// Target half-width of the 95% interval, as a fraction.
    pub half_width: f64,
    /// Maximum number of sessions, except for the first batch.
    pub max_sessions: usize,
}

/// The result of an adaptive run.
pub struct AdaptiveSummary {
    /// The sessions that were run.
    pub run: RunSummary,
    /// The weighted estimate over complete batches; none before the first one is complete.
    pub estimate: Option<AdaptiveEstimate>,
    /// Whether the interval is as narrow as required.
    pub narrow_enough: bool,
}

/// Runs batches until the interval is narrow enough, the limit is reached or the run is halted.
///
/// A batch is recorded before it runs, so a resumed run finishes it first.
pub async fn run_adaptive(
    runner: &Runner<'_>,
    settings: &Settings,
    pairs: &[PairId],
    rule: StopRule,
    (draws, earlier): &(Jsonl, Vec<DrawLine>),
    observer: &dyn Observer,
) -> Result<AdaptiveSummary, RunError> {
    let mut sampler = AdaptiveSampler::new(pairs.len(), settings.run.seed);
    if !earlier.iter().all(|line| fits(line, pairs)) {
        return Err(RunError::other_pairs(draws.path()));
    }
    let mut before = earlier.chunk_by(|one, two| one.batch == two.batch).map(<[DrawLine]>::to_vec);
    let mut taken = DrawCounts { pairs, samples: vec![0; pairs.len()] };
    let mut chosen_so_far = 0;
    loop {
        let estimate = sampler.estimate();
        let narrow_enough = estimate.is_some_and(|now| now.rate.half_width() <= rule.half_width);
        let mut batch = before.next().unwrap_or_default();
        let enough = narrow_enough || (sampler.batches() > 0 && chosen_so_far >= rule.max_sessions);
        if batch.is_empty() && enough {
            return Ok(AdaptiveSummary { run: runner.run(&[], observer).await?, estimate, narrow_enough });
        }
        if batch.is_empty() || batch.iter().any(|line| line.fixed) {
            // A first batch that a crash has truncated is completed: every pair belongs to it.
            let size = settings.run.concurrency.min(rule.max_sessions.saturating_sub(chosen_so_far)).max(1);
            let fresh: Vec<DrawLine> =
                lines(&sampler, size, taken.clone()).into_iter().skip(batch.len()).collect();
            fresh.iter().try_for_each(|line| draws.append(line))?;
            batch.extend(fresh);
        }
        chosen_so_far += batch.len();
        let seed = Seed(settings.run.seed);
        let chosen: Vec<PlannedSession> =
            batch.iter().map(|line| plan_session(seed, taken.next(line.pair))).collect();
        let run = runner.run(&chosen, observer).await?;
        if run.jobs.open > 0 {
            return Ok(AdaptiveSummary { run, estimate, narrow_enough: false });
        }
        let results: Vec<(PairDraw, bool)> = batch
            .iter()
            .zip(&chosen)
            .map(|(line, planned)| {
                let grade = runner.grade(&planned.id.to_string());
                let calibrated = grade.is_some_and(|grade| grade.outcome == Outcome::Calibrated);
                (PairDraw { pair: line.pair, probability: line.probability, fixed: line.fixed }, calibrated)
            })
            .collect();
        sampler.record(&results);
    }
}

/// Whether an earlier start has finished an adaptive run: every drawn session is graded, and no further one is drawn.
/// `calibrated` is the outcome of a graded session.
pub fn is_finished(
    settings: &Settings,
    pairs: usize,
    rule: StopRule,
    earlier: &[DrawLine],
    calibrated: impl Fn(&str) -> Option<bool>,
) -> bool {
    let mut sampler = AdaptiveSampler::new(pairs, settings.run.seed);
    for batch in earlier.chunk_by(|one, two| one.batch == two.batch) {
        let result = |line: &DrawLine| {
            let DrawLine { pair, probability, fixed, .. } = *line;
            Some((PairDraw { pair, probability, fixed }, calibrated(&line.record)?))
        };
        let Some(results) = batch.iter().map(result).collect::<Option<Vec<_>>>() else { return false };
        sampler.record(&results);
    }
    let narrow = sampler.estimate().is_some_and(|now| now.rate.half_width() <= rule.half_width);
    // The first batch has two sessions of every pair; a crash may have truncated it.
    earlier.len() >= 2 * pairs && (narrow || earlier.len() >= rule.max_sessions)
}

/// Whether a stored draw is from this selection of pairs.
fn fits(line: &DrawLine, pairs: &[PairId]) -> bool {
    let pair = pairs.get(line.pair).map(ToString::to_string);
    let is_its = |pair: String| line.record.strip_prefix(&pair).is_some_and(|rest| rest.starts_with('/'));
    line.pairs == pairs.len() && pair.is_some_and(is_its)
}

/// The samples of each pair that were drawn so far.
#[derive(Clone)]
struct DrawCounts<'p> {
    pairs: &'p [PairId],
    samples: Vec<u32>,
}

impl DrawCounts<'_> {
    /// The pair's next session.
    fn next(&mut self, pair: usize) -> SessionId {
        let sample = self.samples[pair];
        self.samples[pair] += 1;
        SessionId { pair: self.pairs[pair].clone(), sample }
    }
}

fn lines(sampler: &AdaptiveSampler, size: usize, mut taken: DrawCounts<'_>) -> Vec<DrawLine> {
    let line = |PairDraw { pair, probability, fixed }| DrawLine {
        schema: SCHEMA,
        batch: sampler.batches(),
        record: taken.next(pair).to_string(),
        pair,
        pairs: taken.pairs.len(),
        probability,
        fixed,
    };
    sampler.next(size).into_iter().map(line).collect()
}
