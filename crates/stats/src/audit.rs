//! Luck against skill: what a calibration rate is made of.
//!
//! Two solvers are right on a question with chances p and q. Exactly one is right with chance p(1−q) + q(1−p)
//! = (p−q)² + p(1−p) + q(1−q). The first term is what separates the solvers; the rest is noise, which two
//! copies of one solver would show as well. Fresh draws of both solvers tell the terms apart.

use crate::cluster::{Ratio, Scale};
use crate::interval::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A session's question, answered again by both solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redraws {
    /// The solver pair, numbered in any way.
    pub cluster: usize,
    /// Right answers among the fresh draws: the smaller solver's, then the larger one's.
    pub right: [u32; 2],
    /// Fresh draws.
    pub draws: [u32; 2],
    /// Whether the session was calibrated in the run.
    pub calibrated: bool,
    /// Whether two solvers of another pair were right on this question.
    pub control: Option<[bool; 2]>,
}

/// One session's terms, each unbiased for the question's true one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// P(exactly one right) = p + q − 2pq.
    pub calibrated: f64,
    /// (p − q)².
    pub separation: f64,
    /// p(1−p) + q(1−q).
    pub noise: f64,
    /// q − p: the larger solver less the smaller one.
    pub gap: f64,
    /// P(exactly one right) for two copies of one solver: the mean of 2p(1−p) and 2q(1−q), which is `noise`.
    pub same: f64,
}

/// The terms over many sessions, with intervals that allow for sessions of one pair being alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The chance that a session is calibrated on fresh draws: `separation` + `noise`.
    pub calibrated: Estimate,
    /// The part that comes from solvers with different chances.
    pub separation: Estimate,
    /// The part that comes from luck.
    pub noise: Estimate,
    /// How much likelier the larger solver is right.
    pub gap: Estimate,
    /// Among sessions that were calibrated in the run, the chance to be calibrated again.
    pub again: Option<Estimate>,
    /// What two copies of one solver would score on these questions. By algebra the same as `noise`.
    pub same: Estimate,
    /// What solvers of other pairs score on these questions.
    pub shuffled: Option<Estimate>,
    /// Sessions counted.
    pub sessions: u64,
    /// Sessions left out: fewer than two draws of a solver.
    pub skipped: u64,
}

/// The terms of one session; none for fewer than two draws of a solver or more right answers than draws.
///
/// U-statistics over x right of K draws (Hoeffding, 1948): p by x/K, p² by x(x−1)/(K(K−1)), p(1−p) by
/// x(K−x)/(K(K−1)), and pq by the product of the means, as the solvers draw apart.
pub fn terms(right: [u32; 2], draws: [u32; 2]) -> Option<Terms> {
    let [p, q] = [Chance::of(right[0], draws[0])?, Chance::of(right[1], draws[1])?];
    Some(Terms {
        calibrated: p.mean + q.mean - 2.0 * p.mean * q.mean,
        separation: p.square + q.square - 2.0 * p.mean * q.mean,
        noise: p.spread + q.spread,
        gap: q.mean - p.mean,
        same: p.spread + q.spread,
    })
}

/// Unbiased p, p² and p(1−p).
#[derive(Clone, Copy)]
struct Chance {
    mean: f64,
    square: f64,
    spread: f64,
}

impl Chance {
    fn of(right: u32, draws: u32) -> Option<Self> {
        if draws < 2 || right > draws {
            return None;
        }
        let (x, k) = (f64::from(right), f64::from(draws));
        let pairs = k * (k - 1.0);
        Some(Self { mean: x / k, square: x * (x - 1.0) / pairs, spread: x * (k - x) / pairs })
    }
}

/// Takes a run's calibration rate apart from fresh draws of its solvers; none for fewer than two pairs.
pub fn audit(sessions: &[Redraws], seed: u64) -> Option<Audit> {
    let counted: Vec<(&Redraws, Terms)> =
        sessions.iter().filter_map(|session| Some((session, terms(session.right, session.draws)?))).collect();
    let mean = |scale: Scale, value: &dyn Fn(&Redraws, &Terms) -> Option<f64>| {
        let mut clusters: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (session, terms) in &counted {
            if let Some(value) = value(session, terms) {
                let cluster = clusters.entry(session.cluster).or_default();
                cluster.0 += value;
                cluster.1 += 1.0;
            }
        }
        let clusters: Vec<(f64, f64)> = clusters.into_values().collect();
        Ratio::of(&clusters)?.estimate(scale, seed)
    };
    Some(Audit {
        calibrated: mean(Scale::Rate, &|_, terms| Some(terms.calibrated))?,
        separation: mean(Scale::Difference, &|_, terms| Some(terms.separation))?,
        noise: mean(Scale::Rate, &|_, terms| Some(terms.noise))?,
        gap: mean(Scale::Difference, &|_, terms| Some(terms.gap))?,
        again: mean(Scale::Rate, &|session, terms| session.calibrated.then_some(terms.calibrated)),
        same: mean(Scale::Rate, &|_, terms| Some(terms.same))?,
        shuffled: mean(Scale::Rate, &|session, _| session.control.map(|[a, b]| f64::from(u8::from(a != b)))),
        sessions: counted.len() as u64,
        skipped: (sessions.len() - counted.len()) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_in_every_session() {
        for draws in [[2, 2], [2, 5], [6, 3]] {
            for x in 0..=draws[0] {
                for y in 0..=draws[1] {
                    let terms = terms([x, y], draws).unwrap();
                    assert!((terms.separation + terms.noise - terms.calibrated).abs() < 1e-12, "{terms:?}");
                }
            }
        }
    }

    #[test]
    fn a_single_draw_tells_nothing_of_noise() {
        assert_eq!(terms([1, 1], [1, 2]), None);
        let session =
            |cluster, draws| Redraws { cluster, right: [1, 0], draws, calibrated: true, control: None };
        let audit = audit(&[session(0, [2, 2]), session(1, [2, 2]), session(1, [1, 2])], 1).unwrap();
        assert_eq!((audit.sessions, audit.skipped, audit.shuffled), (2, 1, None));
        assert!((audit.gap.value + 0.5).abs() < 1e-12);
    }
}
