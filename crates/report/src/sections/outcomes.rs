//! Outcomes by asker.

use super::{cell, named_runs, scroll, shares, table};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::figures::stacked::{Bar, stacked_figure};
use crate::number::{count, or_dash, percent, percent_of, range};
use aske_evidence::Evidence;
use aske_session::Outcome;
use maud::{Markup, html};

pub(super) fn outcomes(evidence: &Evidence) -> Markup {
    if evidence.runs.is_empty() {
        return html! { p { "No sessions." } };
    }
    html! { (breakdown(evidence)) (calibrated(evidence)) (across_samples(evidence)) }
}

fn breakdown(evidence: &Evidence) -> Markup {
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for (name, run) in named_runs(evidence) {
        for share in &run.outcomes {
            rows.push(vec![
                cell(&name),
                cell(share.outcome.as_str()),
                cell(count(share.sessions)),
                cell(percent_of(share.sessions, share.of)),
                cell(or_dash(share.over_pairs, range)),
                cell(or_dash(share.these_pairs, range)),
            ]);
        }
        bars.push(Bar { name, shares: shares(&run.outcomes) });
    }
    let columns = ["asker", "outcome", "sessions", "share", "95% over pairs", "95% these pairs"];
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
        let (kind, value, interval) = match run.sampling {
            Some(sampling) => ("weighted", sampling.rate.value, Some(sampling.rate.interval)),
            None => ("plain", share.rate, share.over_pairs.or(share.these_pairs)),
        };
        let text = if share.of == 0 { percent_of(0, 0) } else { percent(value) };
        drawn.push(Row::new(&name, value, interval, text.clone()));
        let numbers = [name, kind.to_owned(), text, or_dash(interval, range)];
        rows.push(numbers.iter().map(cell).collect());
    }
    let caption = html! {
        "The line is 95% over pairs: would the number hold for other pairs? A run of a single pair has the interval for "
        "this pair."
    };
    let columns = ["asker", "estimate", "calibrated", "95%"];
    let drawn = (drawn.as_slice(), &Axis::shares("calibrated sessions"));
    ranges_figure("f-calibrated", "Calibrated share by asker", caption, drawn, (&columns, &rows))
}

/// The paper's interval, in a table of its own.
fn across_samples(evidence: &Evidence) -> Markup {
    let mut rows = Vec::new();
    for (name, run) in named_runs(evidence) {
        for share in run.outcomes.iter().filter(|share| share.across_samples.is_some()) {
            rows.push(vec![
                cell(&name),
                cell(share.outcome.as_str()),
                cell(percent_of(share.sessions, share.of)),
                cell(or_dash(share.across_samples, range)),
            ]);
        }
    }
    html! {
        @if !rows.is_empty() {
            details.print-open {
                summary { "The paper's interval, across samples" }
                p {
                    "Student's t over the rates of the samples, each of which has every pair once: would the number hold if "
                    "the same pairs were run again?"
                }
                (scroll("The paper's interval", &table("The paper's interval", &["asker", "outcome", "share", "95% across samples"], &rows)))
            }
        }
    }
}
