//! The result in sentences.

use super::caveats::caveats;
use super::{named_runs, scroll, table};
use crate::number::{count, counted, percent, points, range};
use crate::text::plain;
use aske_evidence::{AuditEvidence, Evidence, RunEvidence, SessionCounts, Share, few_pairs};
use aske_session::Outcome;
use aske_stats::{AdaptiveEstimate, Estimate};
use maud::{Markup, html};

pub(super) fn headline(evidence: &Evidence) -> Markup {
    html! {
        @if evidence.runs.is_empty() { p { "No runs." } }
        @for (name, run) in named_runs(evidence) {
            article.headline {
                (sentence(&name, run))
                (caveats(&run.caveats, run.cells.len()))
                (luck(run))
                (missing(run))
            }
        }
        @if !evidence.runs.is_empty() {
            p.read {
                "A session is " em { "calibrated" } " when exactly one of its two boundary solvers gives the answer "
                "of the cross-check solver. Intervals are 95%; " em { "over pairs" } " means that whole pairs are resampled, so the "
                "interval also covers another choice of pairs; the paper's, across samples, is under "
                a href="#outcomes" { "Outcomes" } "."
            }
            (facts(evidence))
        }
    }
}

fn sentence(name: &str, run: &RunEvidence) -> Markup {
    let share = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated);
    html! {
        p.quote {
            strong { bdi { (plain(name)) } }
            @if let Some(sampling) = &run.sampling {
                " writes a calibrated question in " strong { (percent(sampling.rate.value)) }
                " of sessions (95%: " (range(sampling.rate.interval)) ", weighted over pairs)."
            } @else if let Some(share) = share.filter(|_| run.sessions > 0) {
                " writes a calibrated question in " strong { (percent(share.rate)) } " of sessions"
                (intervals(share, run.cells.len())) "."
            } @else {
                " has no graded session yet."
            }
        }
        @if let Some(sampling) = &run.sampling { (adaptive(sampling, share.map(|share| share.rate))) }
    }
}

/// The interval over pairs; with few pairs, after the one for these pairs.
fn intervals(share: &Share, pairs: usize) -> Markup {
    let these = share.these_pairs.filter(|_| few_pairs(pairs));
    html! {
        @match (these, share.over_pairs) {
            (Some(these), Some(over)) => {
                " (95%: " (range(these)) " on these " (pairs) " pairs, " (range(over)) " over pairs)"
            },
            (Some(these), None) => { " (95%: " (range(these)) " on this pair)" },
            (None, Some(over)) => { " (95%: " (range(over)) ", over pairs)" },
            (None, None) => {},
        }
    }
}

fn adaptive(sampling: &AdaptiveEstimate, plain_share: Option<f64>) -> Markup {
    html! {
        p.luck {
            "The sessions were sampled adaptively, so the estimate weights all pairs equally"
            @if let Some(share) = plain_share { " (the plain share of these sessions, " (percent(share)) ", does not)" }
            ". It took " (counted(sampling.sessions, "session")) "; for an equally narrow interval, sampling every pair equally "
            "often would take about " (about(sampling.balanced)) ", and random sampling about " (about(sampling.uniform)) "."
        }
    }
}

/// A number of sessions, rounded to three digits.
fn about(sessions: f64) -> String {
    let mut step = 1.0;
    while sessions.is_finite() && sessions / step >= 1_000.0 {
        step *= 10.0;
    }
    let digits = format!("{:.0}", (sessions / step).round() * step);
    digits.parse().map_or(digits, count)
}

fn luck(run: &RunEvidence) -> Markup {
    let Some(AuditEvidence { draws, auditable, estimates }) = &run.audit else {
        return html! {
            p.luck {
                "To measure how much of this is sampling luck, run " code { "aske audit " (plain(&run.name)) " --draws 4" }
                ", which has the final questions solved again."
            }
        };
    };
    let with = |estimate: &Estimate| format!("{} ({})", percent(estimate.value), range(estimate.interval));
    html! {
        p.luck {
            "Solved again with new draws, its questions are calibrated with probability " (with(&estimates.calibrated)) ": "
            strong { (points(estimates.separation.value)) " points are real separation" }
            " of the two solvers, " strong { (points(estimates.noise.value)) " sampling luck" } ". "
            @if let Some(again) = &estimates.again {
                "A calibrated session is calibrated again with probability " (with(again)) ". "
            }
            "Two copies of one solver would score " (with(&estimates.same))
            @if let Some(shuffled) = &estimates.shuffled {
                "; the same questions on other pairs score " (with(shuffled))
            }
            ". " span.aside {
                "Audit of " (count(estimates.sessions)) " out of " (counted(*auditable, "session"))
                ", " (draws) " draws of each solver."
            }
        }
    }
}

/// Sessions that are missing from the folder.
fn missing(run: &RunEvidence) -> Markup {
    let SessionCounts { planned, records, graded, lost, begun } = run.held;
    html! {
        @if let Some(error) = &run.replies_error {
            p.luck { "The stored replies cannot be read: " (plain(error)) "." }
        }
        @if lost > 0 || begun > 0 || planned.is_some_and(|planned| planned > records) {
            p.luck {
                @if let Some(planned) = planned { "Of " (counted(planned, "planned session")) ", " }
                (count(records)) " have a record, and " (count(graded)) " of these a grade."
                @if lost > 0 {
                    " " strong { (counted(lost, "more session")) " with a grade and no record" }
                    " are not included. " code { "aske repair " (plain(&run.path)) }
                    " rebuilds records from stored replies."
                }
                @if begun > 0 { " " (counted(begun, "more session")) " with stored replies only." }
            }
        }
    }
}

fn facts(evidence: &Evidence) -> Markup {
    let rows: Vec<Vec<Markup>> = evidence
        .runs
        .iter()
        .map(|run| {
            let text = |text: &str| html! { bdi { (plain(text)) } };
            let pairs = run.cells.iter().filter(|cell| cell.sessions > 0).count() as u64;
            let numbers = [run.sessions, run.ungraded, pairs, run.solvers.len() as u64].map(count);
            let mut row = vec![text(&run.name), text(&run.asker), text(&run.check), text(&run.grader)];
            row.extend(numbers.iter().map(|number| html! { (number) }));
            row
        })
        .collect();
    let columns = [
        "run",
        "asker",
        "cross-check solver",
        "grades",
        "graded sessions",
        "without a grade",
        "pairs",
        "solvers",
    ];
    scroll("Runs", &table("The runs of this report", &columns, &rows))
}
