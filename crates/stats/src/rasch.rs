//! Abilities of solvers that do not depend on the choice of questions: the conditional Rasch model.

use crate::interval::Estimate;
use crate::newton::{Cholesky, NewtonStep, SymmetricMatrix, maximize};
use crate::symmetric::SubsetDistribution;
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The standard deviation of the abilities' normal prior, in logits. Weak: it keeps a solver that has won every comparison
/// finite, and changes one with twenty mixed comparisons by about 2%.
const PRIOR: f64 = 3.0;
/// Replicates of the parametric bootstrap.
const REPLICAS: u32 = 199;
/// The approximate number of operations that the bootstrap may take; it is skipped for larger tables.
const MAX_OPERATIONS: u64 = 4_000_000_000;
/// The typical number of Newton steps of a fit.
const NEWTON_STEPS: u64 = 6;

/// One solver's answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The solver.
    pub person: usize,
    /// The question.
    pub item: usize,
    /// Whether the answer is right.
    pub right: bool,
}

/// Abilities in logits around a mean of 0, and goodness of fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// Each person's ability; none without an informative response.
    pub ability: Vec<Option<Estimate>>,
    /// Each person's outfit: the mean square of its standardised residuals, 1 where the model holds.
    pub fit: Vec<Option<f64>>,
    /// Informative items: those with both right and wrong responses.
    pub items: u64,
    /// −2 ln of the conditional likelihood.
    pub deviance: f64,
    /// The p-value of the goodness-of-fit test; none without degrees of freedom, or for tables too large to test.
    pub p: Option<f64>,
}

/// Rasch abilities by conditional maximum likelihood (Andersen, 1970); none without an informative item.
///
/// P(right) = σ(ability − difficulty). Given the number of an item's right responses, which ones are right depends on the
/// abilities only, so the askers' choice of questions does not bias them. With two solvers per question this is the
/// Bradley–Terry model over the calibrated sessions. Newton's method finds the mode under a N(0, 3²) prior; standard
/// errors are from the inverse information, intervals are value ± 1.96 se.
///
/// `p` is a parametric bootstrap of Pearson's X² over items with the same solvers and number right, with 199 replicates
/// that are fitted again; sparse tables need no pooling.
pub fn rasch(persons: usize, responses: &[Response]) -> Option<Abilities> {
    if responses.iter().any(|response| response.person >= persons) {
        return None;
    }
    let table = Table::of(persons, responses)?;
    let mode = table.mode(vec![0.0; table.persons.len()])?;
    let (_, information) = table.newton_step(&mode)?;
    let errors = information.inverse().centred_variances();
    let (square, outfit) = table.residuals(&mode);
    let mut abilities = Abilities {
        ability: vec![None; persons],
        fit: vec![None; persons],
        items: table.groups.iter().map(|group| group.items).sum(),
        deviance: -2.0 * table.log_likelihood(&mode),
        p: table.bootstrap_p(&mode, square),
    };
    let mean = mode.iter().sum::<f64>() / mode.len() as f64;
    for (place, person) in table.persons.iter().enumerate() {
        abilities.ability[*person] = Some(Estimate::normal(mode[place] - mean, errors[place].sqrt()));
        abilities.fit[*person] = Some(outfit[place]);
    }
    Some(abilities)
}

/// Informative items, grouped by their solvers and number right.
#[derive(Clone)]
struct Table {
    /// The persons with an informative response.
    persons: Vec<usize>,
    groups: Vec<Group>,
}

#[derive(Clone)]
struct Group {
    /// Indices in `Table::persons`, one for each response.
    places: Vec<usize>,
    total: usize,
    items: u64,
    /// How often each response was right.
    right: Vec<u64>,
}

impl Group {
    fn subset(&self, abilities: &[f64]) -> SubsetDistribution {
        let abilities: Vec<f64> = self.places.iter().map(|place| abilities[*place]).collect();
        SubsetDistribution::of(&abilities, self.total)
    }
}

impl Table {
    fn of(persons: usize, responses: &[Response]) -> Option<Self> {
        let mut items: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        for response in responses {
            items.entry(response.item).or_default().push((response.person, response.right));
        }
        let mut groups: BTreeMap<(Vec<usize>, usize), (u64, Vec<u64>)> = BTreeMap::new();
        let mut seen = vec![false; persons];
        for mut item in items.into_values() {
            let total = item.iter().filter(|(_, right)| *right).count();
            let others = item.iter().any(|(person, _)| *person != item[0].0);
            // All right, all wrong, or one person alone: the conditional chance does not depend on ability.
            if total == 0 || total == item.len() || !others {
                continue;
            }
            item.sort_unstable();
            let members: Vec<usize> = item.iter().map(|(person, _)| *person).collect();
            for person in &members {
                seen[*person] = true;
            }
            let (count, right) = groups.entry((members, total)).or_insert_with(|| (0, vec![0; item.len()]));
            *count += 1;
            for (right, (_, hit)) in right.iter_mut().zip(&item) {
                *right += u64::from(*hit);
            }
        }
        let persons: Vec<usize> = (0..persons).filter(|person| seen[*person]).collect();
        let place = |person: &usize| persons.binary_search(person).unwrap_or_default();
        let groups: Vec<Group> = groups
            .into_iter()
            .map(|((members, total), (items, right))| Group {
                places: members.iter().map(place).collect(),
                total,
                items,
                right,
            })
            .collect();
        (!groups.is_empty()).then_some(Self { persons, groups })
    }

    /// The conditional log-likelihood.
    fn log_likelihood(&self, abilities: &[f64]) -> f64 {
        let group = |group: &Group| {
            let score: f64 = group
                .places
                .iter()
                .zip(&group.right)
                .map(|(place, right)| abilities[*place] * *right as f64)
                .sum();
            score - group.items as f64 * group.subset(abilities).log_sum
        };
        self.groups.iter().map(group).sum()
    }

    /// The penalised log-likelihood, the Newton step, and the information matrix.
    fn newton_step(&self, abilities: &[f64]) -> Option<(NewtonStep, Cholesky)> {
        let precision = 1.0 / (PRIOR * PRIOR);
        let mut information = SymmetricMatrix::zero(abilities.len());
        let mut gradient: Vec<f64> = abilities.iter().map(|ability| -ability * precision).collect();
        let mut value = -abilities.iter().map(|ability| ability * ability * precision / 2.0).sum::<f64>();
        for place in 0..abilities.len() {
            information.add(place, place, precision);
        }
        for group in &self.groups {
            let (subset, items) = (group.subset(abilities), group.items as f64);
            let covariance = subset.covariance();
            value -= items * subset.log_sum;
            for (v, place) in group.places.iter().enumerate() {
                gradient[*place] += group.right[v] as f64 - items * subset.probabilities[v];
                value += group.right[v] as f64 * abilities[*place];
                for (w, other) in group.places.iter().enumerate() {
                    information.add(*place, *other, items * covariance.at(v, w));
                }
            }
        }
        let factor = information.cholesky()?;
        Some((NewtonStep { value, step: factor.solve(gradient) }, factor))
    }

    fn mode(&self, start: Vec<f64>) -> Option<Vec<f64>> {
        maximize(start, |abilities| Some(self.newton_step(abilities)?.0))
    }

    /// Pearson's X² over groups, and each person's mean square over single responses.
    fn residuals(&self, abilities: &[f64]) -> (f64, Vec<f64>) {
        let mut square = 0.0;
        let mut sums = vec![(0.0, 0.0); abilities.len()];
        for group in &self.groups {
            let (subset, items) = (group.subset(abilities), group.items as f64);
            for ((place, right), chance) in group.places.iter().zip(&group.right).zip(&subset.probabilities) {
                let (right, spread) = (*right as f64, chance * (1.0 - chance));
                square += (right - items * chance).powi(2) / (items * spread);
                sums[*place].0 += (right * (1.0 - 2.0 * chance) + items * chance * chance) / spread;
                sums[*place].1 += items;
            }
        }
        (square, sums.into_iter().map(|(sum, count)| sum / count).collect())
    }

    /// The p-value of a parametric bootstrap of Pearson's X².
    fn bootstrap_p(&self, mode: &[f64], square: f64) -> Option<f64> {
        let free: usize = self.groups.iter().map(|group| group.places.len() - 1).sum();
        let work: u64 = self.groups.iter().map(|group| (group.places.len() as u64).saturating_pow(4)).sum();
        if free < self.persons.len()
            || work.saturating_mul(u64::from(REPLICAS) * NEWTON_STEPS) > MAX_OPERATIONS
        {
            return None;
        }
        let mut rng = Rng::with_seed(1);
        let mut beyond = 0;
        for _ in 0..REPLICAS {
            let replica = self.replica(mode, &mut rng);
            let fitted = replica.mode(mode.to_vec())?;
            beyond += u32::from(replica.residuals(&fitted).0 >= square);
        }
        Some(f64::from(beyond + 1) / f64::from(REPLICAS + 1))
    }

    fn replica(&self, mode: &[f64], rng: &mut Rng) -> Self {
        let mut replica = self.clone();
        for group in &mut replica.groups {
            let subset = group.subset(mode);
            group.right.fill(0);
            for _ in 0..group.items {
                for (right, hit) in group.right.iter_mut().zip(subset.draw(rng)) {
                    *right += u64::from(hit);
                }
            }
        }
        replica
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(item: usize, winner: usize, loser: usize) -> [Response; 2] {
        [Response { person: winner, item, right: true }, Response { person: loser, item, right: false }]
    }

    #[test]
    fn a_solver_that_always_wins_stays_finite() {
        let responses: Vec<Response> = (0..20).flat_map(|item| session(item, 0, 1)).collect();
        let abilities = rasch(3, &responses).unwrap();
        let [Some(best), Some(worst), None] = abilities.ability[..] else { panic!("{abilities:?}") };
        assert!(best.value > 1.0 && best.value < 6.0);
        assert!((best.value + worst.value).abs() < 1e-9);
        assert_eq!((abilities.items, abilities.p), (20, None));
    }

    #[test]
    fn a_question_that_all_or_none_solve_says_nothing() {
        let response = |person, right| Response { person, item: 0, right };
        assert_eq!(rasch(2, &[response(0, true), response(1, true)]), None);
        assert_eq!(rasch(2, &[response(0, true), response(0, false)]), None);
        assert_eq!(rasch(1, &[response(1, true)]), None);
    }

    #[test]
    fn a_circle_of_wins_does_not_fit() {
        let circle = (0..60).flat_map(|item| session(item, item % 3, (item + 1) % 3));
        let line = (0..60).flat_map(|item| {
            let (a, b) = [(0, 1), (1, 2), (0, 2)][item % 3];
            if item % 12 < 3 { session(item, b, a) } else { session(item, a, b) }
        });
        let p = |responses: Vec<Response>| rasch(3, &responses).unwrap().p.unwrap();
        assert!(p(circle.collect()) < 0.01);
        assert!(p(line.collect()) > 0.1);
    }
}
