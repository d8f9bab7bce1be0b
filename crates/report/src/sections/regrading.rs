//! The same sessions under other cross-check solvers.

use super::{cell, run_name, table};
use crate::draw::Figure;
use crate::figures::ranges::{Axis, Row, ranges};
use crate::number::{count, fixed, percent, points, signed, signed_range};
use crate::text::plain;
use aske_evidence::{Evidence, Regrade};
use maud::{Markup, html};

pub(super) fn regrading(evidence: &Evidence) -> Option<Markup> {
    let all: Vec<(String, &Regrade)> = evidence
        .runs
        .iter()
        .enumerate()
        .flat_map(|(place, run)| run.regrades.iter().map(move |regrade| (run_name(evidence, place), regrade)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let shift = |regrade: &Regrade| {
        regrade.shift.map_or(regrade.calibrated[1] - regrade.calibrated[0], |s| s.difference.value)
    };
    let drawn: Vec<Row> = all
        .iter()
        .map(|(name, regrade)| Row {
            name: format!("{name}, by {}", regrade.grader),
            value: shift(regrade),
            interval: regrade.shift.map(|shift| shift.difference.interval),
            second: None,
            note: format!("{} → {}", percent(regrade.calibrated[0]), percent(regrade.calibrated[1])),
            hollow: regrade.shift.is_none_or(|shift| shift.p >= 0.05),
            class: "o-calibrated",
        })
        .collect();
    let rows: Vec<Vec<Markup>> = all
        .iter()
        .map(|(name, regrade)| {
            vec![
                cell(name),
                cell(&regrade.grader),
                cell(count(regrade.sessions)),
                cell(percent(regrade.calibrated[0])),
                cell(percent(regrade.calibrated[1])),
                cell(signed(shift(regrade))),
                cell(
                    regrade
                        .shift
                        .map_or_else(|| "–".to_owned(), |shift| signed_range(shift.difference.interval)),
                ),
                cell(count(regrade.changed)),
            ]
        })
        .collect();
    let columns = [
        "asker",
        "graded by",
        "sessions",
        "calibrated above",
        "calibrated by it",
        "shift, points",
        "95%, over pairs",
        "outcomes changed",
    ];
    let desc: Vec<String> = drawn.iter().map(|row| format!("{}: {}", row.name, row.note)).collect();
    Some(html! {
        p {
            "The same sessions, graded again with the answers of another cross-check solver. A benchmark that measures "
            "questions and not its grader shifts little and keeps the order of the askers."
        }
        @if !evidence.regrades.is_empty() {
            ul {
                @for ranks in &evidence.regrades {
                    li {
                        bdi { (plain(&ranks.grader)) } " shifts no calibrated share by more than "
                        (points(ranks.largest_shift)) " points"
                        @if ranks.runs > 1 {
                            ", and ranks the " (ranks.runs) " askers "
                            @if ranks.same_order { "in the same order" } @else { "in another order" }
                            @if let Some(tau) = ranks.kendall { " (Kendall's tau " (fixed(tau, 2)) ")" }
                        }
                        "."
                    }
                }
            }
        }
        (Figure {
            id: "f-regrading",
            title: "Shift under another cross-check solver",
            desc: &format!("{}.", desc.join("; ")),
            caption: html! { "Calibrated share by the other grader less the one above, with 95% over pairs; hollow where no shift is seen at 5%." },
            drawing: ranges(&drawn, &Axis { name: "shift of the calibrated share, points", bars: false, zero: true, tick: |value| fixed(100.0 * value, 1) }),
            numbers: table("Shift under another cross-check solver", &columns, &rows),
        }.show())
    })
}
