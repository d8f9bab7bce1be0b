//! Pairs: their outcomes for the maps, and which solver wins.

use crate::tally::{Counts, place, share};
use crate::{Count, Direction, PairCell, Run, Solver};
use aske_session::Outcome;
use aske_stats::wilson;
use std::collections::BTreeMap;

/// Solvers below the first number of billion parameters are small; those above the second, or closed, are large.
const SMALL: f64 = 4.0;
const LARGE: f64 = 8.0;

/// Every pair of a run.
pub(crate) fn cells(run: &Run) -> Vec<PairCell> {
    of(
        &run.solvers,
        run.sessions.iter().filter_map(|session| {
            let grade = session.grade.as_ref()?;
            Some((session.pair.map(usize::from), grade.outcome, session.right()))
        }),
    )
}

/// Pairs from outcomes and from which solvers were right, the smaller solver first.
pub(crate) fn of(
    solvers: &[Solver],
    outcomes: impl Iterator<Item = ([usize; 2], Outcome, Option<[bool; 2]>)>,
) -> Vec<PairCell> {
    let mut cells: BTreeMap<[usize; 2], PairCell> = BTreeMap::new();
    for (pair, outcome, right) in outcomes {
        let cell = cells.entry(pair).or_insert_with(|| PairCell {
            pair,
            sessions: 0,
            outcomes: Counts::default(),
            calibrated: None,
            wins: [0, 0],
            right: [0, 0],
            separated: separated(solvers, pair),
        });
        cell.sessions += 1;
        cell.outcomes[place(outcome)] += 1;
        for (side, right) in right.into_iter().flatten().enumerate() {
            cell.right[side] += u64::from(right);
            cell.wins[side] += u64::from(right && outcome == Outcome::Calibrated);
        }
    }
    let mut cells: Vec<PairCell> = cells.into_values().collect();
    for cell in &mut cells {
        cell.calibrated = wilson(cell.outcomes[place(Outcome::Calibrated)], cell.sessions);
    }
    cells
}

/// One solver is small and the other large. A closed model publishes no size and counts as large.
fn separated(solvers: &[Solver], pair: [usize; 2]) -> bool {
    let [one, two] = pair.map(|place| solvers.get(place).and_then(|solver| solver.params));
    let small = |params: Option<f64>| params.is_some_and(|params| params < SMALL);
    let large = |params: Option<f64>| params.is_none_or(|params| params > LARGE);
    (small(one) && large(two)) || (small(two) && large(one))
}

impl PairCell {
    /// Calibrated sessions won by the solver with fewer right answers; `None` if both have equally many.
    pub fn weaker_wins(&self) -> Option<u64> {
        let [one, two] = self.right;
        match one.cmp(&two) {
            std::cmp::Ordering::Less => Some(self.wins[0]),
            std::cmp::Ordering::Greater => Some(self.wins[1]),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// The share of the calibrated sessions won by the solver that wins more of them; `None` without such sessions.
    pub fn dominant_share(&self) -> Option<f64> {
        let wins = self.wins[0] + self.wins[1];
        (wins > 0).then(|| self.wins[0].max(self.wins[1]) as f64 / wins as f64)
    }

    /// Sessions with this outcome, out of all.
    pub fn share(&self, outcome: Outcome) -> f64 {
        share(self.outcomes[place(outcome)], self.sessions)
    }
}

/// How often the weaker solver wins.
pub(crate) fn direction(cells: &[PairCell]) -> Direction {
    let over = |separated_only: bool| {
        let chosen = cells.iter().filter(|cell| cell.separated || !separated_only);
        chosen.fold((0, 0), |(hits, of), cell| {
            (hits + cell.weaker_wins().unwrap_or(0), of + cell.wins[0] + cell.wins[1])
        })
    };
    let count = |(hits, of)| Count::new(hits, of);
    Direction { weaker: count(over(false)), separated: count(over(true)) }
}

impl Count {
    /// A proportion with Wilson's interval.
    pub fn new(hits: u64, of: u64) -> Self {
        Self { hits, of, rate: share(hits, of), interval: wilson(hits, of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solvers(params: &[Option<f64>]) -> Vec<Solver> {
        params.iter().map(|params| Solver { name: String::new(), params: *params }).collect()
    }

    #[test]
    fn the_weaker_solver_has_fewer_right_answers_over_the_pair() {
        let sessions = [[false, true], [false, true], [true, true], [true, false]];
        let cells = of(
            &solvers(&[Some(2.0), Some(9.0)]),
            sessions.into_iter().map(|right| ([0, 1], Outcome::of(right), Some(right))),
        );
        assert_eq!((cells[0].right, cells[0].wins), ([2, 3], [1, 2]));
        assert_eq!(cells[0].weaker_wins(), Some(1));
        assert!((cells[0].dominant_share().unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let direction = direction(&cells);
        assert_eq!((direction.weaker.hits, direction.weaker.of), (1, 3));
        assert_eq!(direction.separated, direction.weaker);
    }

    #[test]
    fn where_both_have_as_many_there_is_no_weaker_one() {
        let rights = [[true, false], [false, true]];
        let cells = of(
            &solvers(&[Some(2.0), Some(3.0)]),
            rights.into_iter().map(|right| ([0, 1], Outcome::Calibrated, Some(right))),
        );
        assert_eq!(cells[0].weaker_wins(), None);
        assert_eq!((direction(&cells).weaker.hits, direction(&cells).weaker.of), (0, 2));
    }

    #[test]
    fn separated_is_below_4_and_above_8_billion_and_closed_counts_as_above() {
        let solvers = solvers(&[Some(3.84), Some(4.0), Some(8.0), Some(9.0), None]);
        let with = |pair| separated(&solvers, pair);
        assert!(with([0, 3]) && with([0, 4]));
        assert!(!with([1, 3]) && !with([0, 2]) && !with([3, 4]));
    }
}
