//! Abilities of solvers, whatever the questions were.

use crate::interval::Estimate;
use crate::linear::{Factor, Slope, Symmetric, climb};
use crate::symmetric::Subset;
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The standard deviation of the abilities' normal prior, in logits. Weak: it keeps a solver that has won
/// every comparison finite, and moves one with twenty mixed comparisons by about one part in fifty.
const PRIOR: f64 = 3.0;
/// Data sets drawn from the fitted model for its check.
const REPLICAS: u32 = 199;
/// Steps of arithmetic, roughly, that the check may take; a larger table is left unchecked.
const WORK: u64 = 4_000_000_000;
/// Steps of Newton's method that a fit takes, about.
const STEPS: u64 = 6;

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

/// Abilities in logits around a mean of 0, and how well they explain the responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// Each person's ability; none without an informative response.
    pub ability: Vec<Option<Estimate>>,
    /// Each person's outfit: the mean square of its standardised residuals, 1 where the model holds.
    pub fit: Vec<Option<f64>>,
    /// Items that some but not all of their responses got right: only they inform.
    pub items: u64,
    /// −2 ln of the conditional likelihood.
    pub deviance: f64,
    /// The chance of data at least this far from the model, if it held; none where nothing is left to check, or too much.
    pub p: Option<f64>,
}

/// Rasch abilities by conditional maximum likelihood; none without an informative item.
///
/// P(right) = σ(ability − difficulty). Given how many of an item's responses are right, which ones are
/// depends on the abilities alone (Andersen, 1970), so the askers' choice of questions does not bias them.
/// With two solvers a question this is Bradley and Terry's model over the calibrated sessions. Newton's
/// method finds the mode under a N(0, 3²) prior; standard errors come from the inverse information, intervals
/// are value ± 1.96 se.
///
/// `p` is a parametric bootstrap: Pearson's X² over items with the same solvers and number right, against 199
/// data sets drawn from the fitted model and fitted again. Tables of few wins a pair need no pooling that
/// way.
pub fn conditional(persons: usize, responses: &[Response]) -> Option<Abilities> {
    if responses.iter().any(|response| response.person >= persons) {
        return None;
    }
    let table = Table::of(persons, responses)?;
    let mode = table.mode(vec![0.0; table.persons.len()])?;
    let (_, information) = table.slope(&mode)?;
    let errors = information.inverse().centred();
    let (square, outfit) = table.residuals(&mode);
    let mut abilities = Abilities {
        ability: vec![None; persons],
        fit: vec![None; persons],
        items: table.groups.iter().map(|group| group.items).sum(),
        deviance: -2.0 * table.likelihood(&mode),
        p: table.check(&mode, square),
    };
    let mean = mode.iter().sum::<f64>() / mode.len() as f64;
    for (place, person) in table.persons.iter().enumerate() {
        abilities.ability[*person] = Some(Estimate::normal(mode[place] - mean, errors[place].sqrt()));
        abilities.fit[*person] = Some(outfit[place]);
    }
    Some(abilities)
}

/// Informative items, those with the same solvers and the same number right together.
#[derive(Clone)]
struct Table {
    /// The persons with an informative response.
    persons: Vec<usize>,
    groups: Vec<Group>,
}

#[derive(Clone)]
struct Group {
    /// Places in `Table::persons`, one for each response.
    places: Vec<usize>,
    total: usize,
    items: u64,
    /// How often each response was right.
    right: Vec<u64>,
}

impl Group {
    fn subset(&self, abilities: &[f64]) -> Subset {
        let abilities: Vec<f64> = self.places.iter().map(|place| abilities[*place]).collect();
        Subset::of(&abilities, self.total)
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

    /// ln of the conditional likelihood.
    fn likelihood(&self, abilities: &[f64]) -> f64 {
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

    /// The penalised likelihood, Newton's step from here, and the information.
    fn slope(&self, abilities: &[f64]) -> Option<(Slope, Factor)> {
        let weak = 1.0 / (PRIOR * PRIOR);
        let mut information = Symmetric::zero(abilities.len());
        let mut gradient: Vec<f64> = abilities.iter().map(|ability| -ability * weak).collect();
        let mut height = -abilities.iter().map(|ability| ability * ability * weak / 2.0).sum::<f64>();
        for place in 0..abilities.len() {
            information.add(place, place, weak);
        }
        for group in &self.groups {
            let (subset, items) = (group.subset(abilities), group.items as f64);
            let covariance = subset.covariance();
            height -= items * subset.log_sum;
            for (v, place) in group.places.iter().enumerate() {
                gradient[*place] += group.right[v] as f64 - items * subset.chances[v];
                height += group.right[v] as f64 * abilities[*place];
                for (w, other) in group.places.iter().enumerate() {
                    information.add(*place, *other, items * covariance.at(v, w));
                }
            }
        }
        let factor = information.factor()?;
        Some((Slope { height, step: factor.solve(gradient) }, factor))
    }

    fn mode(&self, start: Vec<f64>) -> Option<Vec<f64>> {
        climb(start, |abilities| Some(self.slope(abilities)?.0))
    }

    /// Pearson's X² over groups, and each person's mean square over single responses.
    fn residuals(&self, abilities: &[f64]) -> (f64, Vec<f64>) {
        let mut square = 0.0;
        let mut sums = vec![(0.0, 0.0); abilities.len()];
        for group in &self.groups {
            let (subset, items) = (group.subset(abilities), group.items as f64);
            for ((place, right), chance) in group.places.iter().zip(&group.right).zip(&subset.chances) {
                let (right, spread) = (*right as f64, chance * (1.0 - chance));
                square += (right - items * chance).powi(2) / (items * spread);
                sums[*place].0 += (right * (1.0 - 2.0 * chance) + items * chance * chance) / spread;
                sums[*place].1 += items;
            }
        }
        (square, sums.into_iter().map(|(sum, count)| sum / count).collect())
    }

    /// The share of data sets drawn from the model that lie at least this far from their own fit.
    fn check(&self, mode: &[f64], square: f64) -> Option<f64> {
        let free: usize = self.groups.iter().map(|group| group.places.len() - 1).sum();
        let work: u64 = self.groups.iter().map(|group| (group.places.len() as u64).saturating_pow(4)).sum();
        if free < self.persons.len() || work.saturating_mul(u64::from(REPLICAS) * STEPS) > WORK {
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
        let abilities = conditional(3, &responses).unwrap();
        let [Some(best), Some(worst), None] = abilities.ability[..] else { panic!("{abilities:?}") };
        assert!(best.value > 1.0 && best.value < 6.0);
        assert!((best.value + worst.value).abs() < 1e-9);
        assert_eq!((abilities.items, abilities.p), (20, None));
    }

    #[test]
    fn a_question_that_all_or_none_solve_says_nothing() {
        let response = |person, right| Response { person, item: 0, right };
        assert_eq!(conditional(2, &[response(0, true), response(1, true)]), None);
        assert_eq!(conditional(2, &[response(0, true), response(0, false)]), None);
        assert_eq!(conditional(1, &[response(1, true)]), None);
    }

    #[test]
    fn a_circle_of_wins_does_not_fit() {
        let circle = (0..60).flat_map(|item| session(item, item % 3, (item + 1) % 3));
        let line = (0..60).flat_map(|item| {
            let (a, b) = [(0, 1), (1, 2), (0, 2)][item % 3];
            if item % 12 < 3 { session(item, b, a) } else { session(item, a, b) }
        });
        let p = |responses: Vec<Response>| conditional(3, &responses).unwrap().p.unwrap();
        assert!(p(circle.collect()) < 0.01);
        assert!(p(line.collect()) > 0.1);
    }
}
