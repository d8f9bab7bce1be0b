//! Decomposes a calibration rate into separation and sampling noise, from fresh draws of both solvers.
//!
//! Two solvers are right on a question with probabilities p and q. Exactly one is right with probability
//! p(1−q) + q(1−p) = (p−q)² + p(1−p) + q(1−q). The first term is the separation of the solvers; the rest is sampling
//! noise, which two copies of one solver would show as well.

use crate::cluster::{Ratio, Scale};
use crate::interval::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fresh draws of a session's question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSession {
    /// The index of the solver pair.
    pub cluster: usize,
    /// Right answers among the fresh draws: the smaller solver's, then the larger one's.
    pub right: [u32; 2],
    /// Fresh draws.
    pub draws: [u32; 2],
    /// Whether the session was calibrated in the run.
    pub calibrated: bool,
    /// Whether two solvers of another pair were right on this question, as a control.
    pub control: Option<[bool; 2]>,
}

/// Unbiased estimates of one session's terms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditTerms {
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

/// The mean terms over sessions, with intervals clustered by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The probability that a session is calibrated on fresh draws: `separation` + `noise`.
    pub calibrated: Estimate,
    /// The part due to different probabilities of the solvers.
    pub separation: Estimate,
    /// The part due to sampling noise.
    pub noise: Estimate,
    /// The larger solver's probability minus the smaller one's.
    pub gap: Estimate,
    /// The probability that a session that was calibrated in the run is calibrated again.
    pub again: Option<Estimate>,
    /// The rate of two copies of one solver on these questions; equal to `noise`.
    pub same: Estimate,
    /// The rate of solvers of other pairs on these questions.
    pub shuffled: Option<Estimate>,
    /// Sessions counted.
    pub sessions: u64,
    /// Sessions with fewer than two draws of a solver, which are left out.
    pub skipped: u64,
}

/// The U-statistics (Hoeffding, 1948) of one session; none for fewer than two draws of a solver or more right answers
/// than draws.
///
/// With x right of K draws: p by x/K, p² by x(x−1)/(K(K−1)), p(1−p) by x(K−x)/(K(K−1)), and pq by the product of the
/// means, as the solvers are independent.
pub fn audit_terms(right: [u32; 2], draws: [u32; 2]) -> Option<AuditTerms> {
    let [p, q] = [Moments::of(right[0], draws[0])?, Moments::of(right[1], draws[1])?];
    Some(AuditTerms {
        calibrated: p.mean + q.mean - 2.0 * p.mean * q.mean,
        separation: p.square + q.square - 2.0 * p.mean * q.mean,
        noise: p.variance + q.variance,
        gap: q.mean - p.mean,
        same: p.variance + q.variance,
    })
}

/// Unbiased p, p² and p(1−p).
#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    square: f64,
    variance: f64,
}

impl Moments {
    fn of(right: u32, draws: u32) -> Option<Self> {
        if draws < 2 || right > draws {
            return None;
        }
        let (x, k) = (f64::from(right), f64::from(draws));
        let pairs = k * (k - 1.0);
        Some(Self { mean: x / k, square: x * (x - 1.0) / pairs, variance: x * (k - x) / pairs })
    }
}

/// The mean U-statistics of all sessions, with studentised cluster bootstrap intervals ([`clustered`](crate::clustered));
/// none for fewer than two pairs.
pub fn audit(sessions: &[AuditSession], seed: u64) -> Option<Audit> {
    let counted: Vec<(&AuditSession, AuditTerms)> = sessions
        .iter()
        .filter_map(|session| Some((session, audit_terms(session.right, session.draws)?)))
        .collect();
    let mean = |scale: Scale, value: &dyn Fn(&AuditSession, &AuditTerms) -> Option<f64>| {
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
                    let terms = audit_terms([x, y], draws).unwrap();
                    assert!((terms.separation + terms.noise - terms.calibrated).abs() < 1e-12, "{terms:?}");
                }
            }
        }
    }

    #[test]
    fn a_single_draw_tells_nothing_of_noise() {
        assert_eq!(audit_terms([1, 1], [1, 2]), None);
        let session =
            |cluster, draws| AuditSession { cluster, right: [1, 0], draws, calibrated: true, control: None };
        let audit = audit(&[session(0, [2, 2]), session(1, [2, 2]), session(1, [1, 2])], 1).unwrap();
        assert_eq!((audit.sessions, audit.skipped, audit.shuffled), (2, 1, None));
        assert!((audit.gap.value + 0.5).abs() < 1e-12);
    }
}
