//! How sessions ended, by asker.

use super::{cell, outcome_name, run_name, shares, table};
use crate::draw::Figure;
use crate::figures::ranges::{Axis, Row, ranges};
use crate::figures::stacked::{Bar, stacked};
use crate::number::{count, percent, range};
use aske_evidence::Evidence;
use aske_session::Outcome;
use maud::{Markup, html};

pub(super) fn outcomes(evidence: &Evidence) -> Markup {
    if evidence.runs.is_empty() {
        return html! { p { "No sessions." } };
    }
    html! { (breakdown(evidence)) (calibrated(evidence)) }
}

fn breakdown(evidence: &Evidence) -> Markup {
    let bar = |(place, run)| Bar { name: run_name(evidence, place), shares: shares(run) };
    let bars: Vec<Bar> = evidence.runs.iter().enumerate().map(bar).collect();
    let mut rows = Vec::new();
    for (place, run) in evidence.runs.iter().enumerate() {
        for share in &run.outcomes {
            rows.push(vec![
                cell(run_name(evidence, place)),
                cell(outcome_name(share.outcome)),
                cell(count(share.sessions)),
                cell(percent(share.rate)),
                cell(share.across_samples.map_or_else(|| "–".to_owned(), range)),
                cell(share.over_pairs.map_or_else(|| "–".to_owned(), range)),
            ]);
        }
    }
    let columns = ["asker", "outcome", "sessions", "share", "95% across samples", "95% over pairs"];
    let desc: Vec<String> = bars
        .iter()
        .map(|bar| {
            let parts = Outcome::ALL.into_iter().zip(bar.shares);
            let parts: Vec<String> = parts
                .map(|(outcome, share)| format!("{} {}", outcome_name(outcome), percent(share)))
                .collect();
            format!("{}: {}.", bar.name, parts.join(", "))
        })
        .collect();
    let caption = html! {
        "Every bar is all graded sessions of an asker, in the order of the key; numbers are percentages. "
        "An asker that errs on the easy side undershoots the stronger solver, one that errs on the hard side overshoots both."
        @if evidence.runs.iter().any(|run| run.sampling.is_some()) {
            " Where sessions were chosen adaptively, the bar shows them as they were asked; the result above weighs them."
        }
    };
    Figure {
        id: "f-outcomes",
        title: "Outcomes by asker",
        desc: &desc.join(" "),
        caption,
        drawing: stacked(&bars),
        numbers: table("Outcomes by asker", &columns, &rows),
    }
    .show()
}

fn calibrated(evidence: &Evidence) -> Markup {
    let calibrated = evidence.runs.iter().enumerate().filter_map(|(place, run)| {
        let share = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated)?;
        Some((run_name(evidence, place), run, share))
    });
    let calibrated: Vec<_> = calibrated.collect();
    let rows: Vec<Row> = calibrated
        .iter()
        .map(|(name, run, share)| {
            // Sessions that were chosen adaptively are weighted; their plain share means nothing here.
            let weighted = run.sampling.map(|sampling| sampling.rate);
            let value = weighted.map_or(share.rate, |rate| rate.value);
            Row {
                name: name.clone(),
                value,
                interval: weighted.map(|rate| rate.interval).or(share.over_pairs),
                second: if weighted.is_some() { None } else { share.across_samples },
                note: percent(value),
                hollow: false,
                class: "o-calibrated",
            }
        })
        .collect();
    let numbers: Vec<Vec<Markup>> = calibrated
        .iter()
        .zip(&rows)
        .map(|((name, run, _), row)| {
            let show = |interval: Option<_>| cell(interval.map_or_else(|| "–".to_owned(), range));
            let kind = if run.sampling.is_some() { "weighted" } else { "plain" };
            vec![cell(name), cell(kind), cell(percent(row.value)), show(row.interval), show(row.second)]
        })
        .collect();
    let desc: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, row.note)).collect();
    let axis = Axis {
        name: "calibrated sessions",
        bars: true,
        zero: false,
        tick: |value| format!("{:.0}%", 100.0 * value),
    };
    let caption = html! {
        "The upper, thick line is 95% over pairs: would the number hold for other pairs? The lower, thin line is 95% "
        "across samples, as in the paper: would it hold if the same pairs were run again?"
    };
    Figure {
        id: "f-calibrated",
        title: "Calibrated share by asker",
        desc: &format!("{}.", desc.join(", ")),
        caption,
        drawing: ranges(&rows, &axis),
        numbers: table(
            "Calibrated share by asker",
            &["asker", "estimate", "calibrated", "95% over pairs", "95% across samples"],
            &numbers,
        ),
    }
    .show()
}
