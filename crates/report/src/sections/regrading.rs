//! The same sessions under other cross-check solvers.

use super::{cell, named_runs};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::number::{count, fixed, or_dash, percent, points, signed, signed_range};
use crate::text::plain;
use aske_evidence::{Evidence, Regrade};
use maud::{Markup, html};

pub(super) fn regrading(evidence: &Evidence) -> Option<Markup> {
    let all: Vec<(String, &Regrade)> = named_runs(evidence)
        .flat_map(|(name, run)| run.regrades.iter().map(move |regrade| (name.clone(), regrade)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for (name, regrade) in &all {
        let [before, after] = regrade.calibrated;
        let interval = regrade.shift.map(|shift| shift.difference.interval);
        let shift = regrade.shift.map_or(after - before, |shift| shift.difference.value);
        let note = format!("{} → {}", percent(before), percent(after));
        let row = Row::new(format!("{name}, by {}", regrade.grader), shift, interval, note);
        drawn.push(Row { hollow: regrade.shift.is_none_or(|shift| shift.p >= 0.05), ..row });
        rows.push(vec![
            cell(name),
            cell(&regrade.grader),
            cell(count(regrade.sessions)),
            cell(percent(before)),
            cell(percent(after)),
            cell(signed(shift)),
            cell(or_dash(interval, signed_range)),
            cell(count(regrade.changed)),
        ]);
    }
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
    let axis = Axis {
        name: "shift of the calibrated share, points",
        bars: false,
        zero: true,
        tick: |value| fixed(100.0 * value, 1),
    };
    let caption = html! {
        "Calibrated share by the other cross-check solver minus the one above, with 95% over pairs; hollow if the shift is "
        "not significant at 5%."
    };
    let title = "Shift under another cross-check solver";
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
        (ranges_figure("f-regrading", title, caption, (&drawn, &axis), (&columns, &rows)))
    })
}
