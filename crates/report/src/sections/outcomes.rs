//! Outcomes by asker.

use super::{cell, named_runs, outcome_name, shares};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::figures::stacked::{Bar, stacked_figure};
use crate::number::{count, or_dash, percent, range};
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
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for (name, run) in named_runs(evidence) {
        for share in &run.outcomes {
            rows.push(vec![
                cell(&name),
                cell(outcome_name(share.outcome)),
                cell(count(share.sessions)),
                cell(percent(share.rate)),
                cell(or_dash(share.across_samples, range)),
                cell(or_dash(share.over_pairs, range)),
            ]);
        }
        bars.push(Bar { name, shares: shares(&run.outcomes) });
    }
    let columns = ["asker", "outcome", "sessions", "share", "95% across samples", "95% over pairs"];
    let caption = html! {
        "Each bar shows all graded sessions of an asker, in the order of the key; numbers are percentages. "
        "An asker with many easy questions underestimates the stronger solver, one with many hard questions overestimates both."
        @if evidence.runs.iter().any(|run| run.sampling.is_some()) {
            " Adaptively sampled sessions are shown unweighted; the result above weights them."
        }
    };
    stacked_figure("f-outcomes", "Outcomes by asker", caption, &bars, (&columns, &rows))
}

fn calibrated(evidence: &Evidence) -> Markup {
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for (name, run) in named_runs(evidence) {
        let Some(share) = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated) else {
            continue;
        };
        // Adaptively sampled sessions are weighted; their plain share is biased.
        let (kind, value, interval, second) = match run.sampling {
            Some(sampling) => ("weighted", sampling.rate.value, Some(sampling.rate.interval), None),
            None => ("plain", share.rate, share.over_pairs, share.across_samples),
        };
        drawn.push(Row { second, ..Row::new(&name, value, interval, percent(value)) });
        let numbers =
            [name, kind.to_owned(), percent(value), or_dash(interval, range), or_dash(second, range)];
        rows.push(numbers.iter().map(cell).collect());
    }
    let caption = html! {
        "The upper, thick line is 95% over pairs: would the number hold for other pairs? The lower, thin line is 95% "
        "across samples, as in the paper: would it hold if the same pairs were run again?"
    };
    let columns = ["asker", "estimate", "calibrated", "95% over pairs", "95% across samples"];
    let drawn = (drawn.as_slice(), &Axis::shares("calibrated sessions"));
    ranges_figure("f-calibrated", "Calibrated share by asker", caption, drawn, (&columns, &rows))
}
