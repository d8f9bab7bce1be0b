//! Maps of pairs: outcomes, wins of the weaker solver, one-sidedness.

use super::{named_runs, solver_names};
use crate::draw::Figure;
use crate::figures::triangle::{Cell, Key, triangle};
use crate::number::{count, counted, percent, percent_of, range};
use crate::text::label;
use aske_evidence::{Count, Evidence, PairCell, RunEvidence, share};
use aske_session::Outcome;
use maud::{Markup, html};

/// A cell with fewer sessions than this shows their number.
const FEW: u64 = 5;

pub(super) fn maps(evidence: &Evidence) -> Markup {
    html! {
        p {
            "Each cell is a pair. Solver size increases upward and leftward: a small and a large solver meet at the lower "
            "left, two small ones at the lower right, two large ones at the top."
        }
        @for (index, (name, run)) in named_runs(evidence).enumerate() {
            h3 { bdi { (name) } }
            @if run.solvers.len() < 2 || run.cells.is_empty() {
                p { "No pairs." }
            } @else {
                div.maps {
                    @for outcome in [Outcome::Calibrated, Outcome::TooEasy, Outcome::TooHard] {
                        (outcome_map(&format!("map-{index}"), "session", &solver_names(run), &run.cells, outcome))
                    }
                    (weaker_wins_map(index, run))
                    (one_sidedness_map(index, run))
                }
            }
        }
    }
}

/// The share of one outcome by pair; `unit` is what is counted, such as a session.
pub(super) fn outcome_map(
    id: &str,
    unit: &str,
    solvers: &[&str],
    cells: &[PairCell],
    outcome: Outcome,
) -> Markup {
    let at = outcome as usize;
    let usual = usual(cells);
    let class = match outcome {
        Outcome::TooEasy => "h-easy",
        Outcome::TooHard => "h-hard",
        _ => "h-cal",
    };
    let drawn = cells.iter().filter(|cell| cell.sessions > 0);
    let shapes: Vec<Cell> = drawn
        .clone()
        .map(|cell| {
            let rate = cell.share(outcome);
            let few = cell.sessions < FEW || cell.sessions != usual;
            Cell {
                pair: cell.pair,
                class,
                strength: rate,
                text: format!("{:.0}", 100.0 * rate),
                small: few.then(|| format!("n {}", cell.sessions)),
                boxed: false,
            }
        })
        .collect();
    let key =
        Key { swatches: vec![(class, 0.0, "0%"), (class, 0.5, "50%"), (class, 1.0, "100%")], boxed: None };
    let hits: u64 = cells.iter().map(|cell| cell.outcomes[at]).sum();
    let of: u64 = cells.iter().map(|cell| cell.sessions).sum();
    let mut sorted: Vec<&PairCell> = drawn.collect();
    sorted.sort_by(|a, b| b.share(outcome).total_cmp(&a.share(outcome)));
    let named = |cell: &&PairCell| {
        let [a, b] = cell.pair.map(|solver| solvers.get(solver).copied().unwrap_or("?"));
        format!("{a} and {b} ({})", percent(cell.share(outcome)))
    };
    let [most, least] = [sorted.first().map(named), sorted.last().map(named)].map(Option::unwrap_or_default);
    let desc = format!(
        "Of {} {unit}s, {} ({}). Most often: {most}; least often: {least}.",
        count(of),
        count(hits),
        percent_of(hits, of)
    );
    let caption = html! {
        "Percent of the pair's " (unit) "s; " (count(usual)) " " (unit) "s a pair" @if shapes.iter().any(|cell| cell.small.is_some()) { ", or n where it is given" } "."
    };
    Figure {
        id: &format!("{id}-{}", outcome.as_str().replace('_', "-")),
        title: outcome.as_str(),
        desc: &desc,
        caption,
        drawing: triangle(solvers, &shapes, &key),
        numbers: matrix(solvers, cells, |cell| {
            let interval = cell.calibrated.filter(|_| at == 0);
            let hits = format!("{}/{}", cell.outcomes[at], cell.sessions);
            interval.map_or(hits.clone(), |interval| format!("{hits} ({})", range(interval)))
        }),
    }
    .show()
}

/// The most common number of sessions.
fn usual(cells: &[PairCell]) -> u64 {
    let times = |cell: &&PairCell| cells.iter().filter(|other| other.sessions == cell.sessions).count();
    cells.iter().max_by_key(times).map_or(0, |cell| cell.sessions)
}

fn weaker_wins_map(index: usize, run: &RunEvidence) -> Markup {
    let most = run.cells.iter().filter_map(PairCell::weaker_wins).max().unwrap_or(0).max(1);
    let cells = run.cells.iter().filter(|cell| cell.sessions > 0).map(|cell| Cell {
        pair: cell.pair,
        class: "h-weak",
        strength: 0.9 * share(cell.weaker_wins().unwrap_or(0), most),
        text: match cell.weaker_wins() {
            Some(0) => String::new(),
            wins => or_equal(wins),
        },
        small: None,
        boxed: cell.separated,
    });
    let cells: Vec<Cell> = cells.collect();
    let top = counted(most, "win");
    let key = Key {
        swatches: vec![("h-weak", 0.0, "no win"), ("h-weak", 0.9, &top)],
        boxed: cells.iter().any(|cell| cell.boxed).then_some("clearly separated pair"),
    };
    let describe = |count: &Count| {
        format!("{} of {} calibrated sessions ({})", count.hits, count.of, percent_of(count.hits, count.of))
    };
    let caption = html! {
        "How often the weaker solver of the pair (fewer right answers over its sessions) is the one that is right: "
        (describe(&run.direction.weaker))
        @if run.direction.separated.of > 0 {
            "; in boxed pairs, with one solver below 4 and the other above 8 billion parameters or closed, "
            (describe(&run.direction.separated))
        }
        ". A low number is the sign of a real gap. " b { "=" } " means that both are right equally often."
    };
    Figure {
        id: &format!("map-{index}-direction"),
        title: "Wins of the weaker solver",
        desc: &format!("The weaker solver wins {}.", describe(&run.direction.weaker)),
        caption,
        drawing: triangle(&solver_names(run), &cells, &key),
        numbers: matrix(&solver_names(run), &run.cells, |cell| {
            let wins = or_equal(cell.weaker_wins());
            format!("{wins} of {}{}", cell.wins[0] + cell.wins[1], if cell.separated { " □" } else { "" })
        }),
    }
    .show()
}

fn or_equal(wins: Option<u64>) -> String {
    wins.map_or_else(|| "=".to_owned(), |wins| wins.to_string())
}

fn one_sidedness_map(index: usize, run: &RunEvidence) -> Markup {
    let most =
        run.cells.iter().map(|cell| share(cell.wins[0] + cell.wins[1], cell.sessions)).fold(0.0, f64::max);
    let cells: Vec<Cell> = run
        .cells
        .iter()
        .filter(|cell| cell.sessions > 0)
        .map(|cell| {
            let often = share(cell.wins[0] + cell.wins[1], cell.sessions);
            let class = match cell.dominant_share() {
                Some(share) if share >= 0.95 => "s-5",
                Some(share) if share >= 0.85 => "s-4",
                Some(share) if share >= 0.75 => "s-3",
                Some(share) if share >= 0.65 => "s-2",
                Some(share) if share >= 0.55 => "s-1",
                Some(_) => "s-0",
                None => "s-none",
            };
            Cell {
                pair: cell.pair,
                class,
                strength: if most > 0.0 { 0.12 + 0.78 * often / most } else { 0.0 },
                text: cell
                    .dominant_share()
                    .map_or_else(|| "·".to_owned(), |share| format!("{:.0}", 100.0 * share)),
                small: None,
                boxed: false,
            }
        })
        .collect();
    let key = Key {
        swatches: vec![
            ("s-0", 0.9, "even split (50%)"),
            ("s-3", 0.9, "75 to 85%"),
            ("s-5", 0.9, "one side wins (100%)"),
            ("s-5", 0.2, "rarely calibrated"),
        ],
        boxed: None,
    };
    let shares: Vec<f64> = run.cells.iter().filter_map(PairCell::dominant_share).collect();
    let (sided, with) = (shares.iter().filter(|share| **share >= 0.8).count() as u64, shares.len() as u64);
    let caption = html! {
        "Percent of the pair's calibrated sessions won by the solver that wins more of them; the colour is stronger for "
        "pairs that are calibrated more often. In " (count(sided)) " of " (count(with)) " pairs one solver wins at least 80%."
    };
    Figure {
        id: &format!("map-{index}-sides"),
        title: "How one-sided the wins are",
        desc: &format!("In {sided} of {with} pairs one solver wins at least 80% of the calibrated sessions."),
        caption,
        drawing: triangle(&solver_names(run), &cells, &key),
        numbers: matrix(&solver_names(run), &run.cells, |cell| {
            format!("{} : {}", cell.wins[0], cell.wins[1])
        }),
    }
    .show()
}

/// The cells as a table with smaller solvers as rows and larger ones as columns.
fn matrix(solvers: &[&str], cells: &[PairCell], show: impl Fn(&PairCell) -> String) -> Markup {
    let size = solvers.len();
    let mut grid: Vec<Option<&PairCell>> = vec![None; size * size];
    for cell in cells.iter().filter(|cell| cell.pair[0] < size && cell.pair[1] < size && cell.sessions > 0) {
        grid[cell.pair[0] * size + cell.pair[1]] = Some(cell);
    }
    html! {
        table.matrix {
            caption { "Rows: the smaller solver of the pair. Columns: the larger one." }
            thead {
                tr {
                    td {}
                    @for larger in (1..size).rev() { th scope="col" { (label(solvers[larger], 24)) } }
                }
            }
            tbody {
                @for smaller in (0..size.saturating_sub(1)).rev() {
                    tr {
                        th scope="row" { (label(solvers[smaller], 24)) }
                        @for larger in (smaller + 1..size).rev() {
                            td { @if let Some(cell) = grid[smaller * size + larger] { (show(cell)) } }
                        }
                    }
                }
            }
        }
    }
}
