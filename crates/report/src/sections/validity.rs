//! Checks on the validity of the numbers.

use super::{cell, named_runs, scroll, table};
use crate::number::{count, percent_of};
use crate::text::plain;
use aske_evidence::{Evidence, RunEvidence, SOLVER_LIMITS, Severity, SolverReplies, severity, share};
use maud::{Markup, html};

pub(super) fn validity(evidence: &Evidence) -> Markup {
    html! {
        p {
            "Each check counts sessions whose label may be unreliable. A share up to the first limit is " b { "fine" }
            ", up to the second worth a " b { "look" } ", and above it a " b { "problem" } ". What the paper allows is a " b { "note" } "."
        }
        @for (name, run) in named_runs(evidence) {
            h3 { bdi { (name) } }
            (scroll("Checks", &checks(run)))
            (replies(run))
            (cost(run))
        }
    }
}

fn checks(run: &RunEvidence) -> Markup {
    let rows: Vec<Vec<Markup>> = aske_evidence::checks(run)
        .iter()
        .map(|check| {
            let limits = format!("{} / {}", limit(check.limits[0]), limit(check.limits[1]));
            vec![
                html! { (check.name) span.meaning { (check.meaning) } },
                verdict(check.severity()),
                html! { (count(check.hits)) " of " (count(check.of)) },
                cell(percent_of(check.hits, check.of)),
                cell(limits),
                html! { @for name in check.examples.iter().take(3) { code.example { (plain(name)) } " " } },
            ]
        })
        .collect();
    table("Checks", &["check", "verdict", "number", "share", "limits", "example sessions"], &rows)
}

fn limit(limit: f64) -> String {
    let percent = 100.0 * limit;
    if percent.fract() == 0.0 { format!("{percent:.0}%") } else { format!("{percent:.1}%") }
}

fn verdict(severity: Severity) -> Markup {
    let word = severity.as_str();
    html! { span class=(format!("verdict {word}")) { (word) } }
}

fn replies(run: &RunEvidence) -> Markup {
    let worst = |solver: &SolverReplies| {
        share(solver.truncated, solver.replies).max(share(solver.unanswered, solver.replies))
    };
    let to_check =
        run.validity.solvers.iter().filter(|solver| worst(solver) > SOLVER_LIMITS[0]).count() as u64;
    let rows: Vec<Vec<Markup>> = run
        .validity
        .solvers
        .iter()
        .map(|solver| {
            let of_replies = |hits| cell(format!("{} ({})", count(hits), percent_of(hits, solver.replies)));
            vec![
                html! { bdi { (plain(&solver.name)) } },
                cell(count(solver.replies)),
                of_replies(solver.truncated),
                of_replies(solver.unanswered),
                verdict(severity(worst(solver), SOLVER_LIMITS)),
            ]
        })
        .collect();
    let columns = ["solver", "replies", "cut off at the token limit", "without an answer", "verdict"];
    html! {
        details.print-open {
            summary {
                "Replies by solver: "
                @if to_check == 0 { "all fine" } @else { (count(to_check)) " to check" }
                " (limits " (limit(SOLVER_LIMITS[0])) " / " (limit(SOLVER_LIMITS[1])) "; a reply without an answer counts as wrong)"
            }
            (scroll("Replies by solver", &table("Replies by solver", &columns, &rows)))
        }
    }
}

fn cost(run: &RunEvidence) -> Markup {
    let total: f64 = run.used.values().map(|used| used.usd.0).sum();
    let rows: Vec<Vec<Markup>> = run
        .used
        .iter()
        .map(|(role, used)| {
            vec![
                cell(role_name(role)),
                cell(count(used.calls)),
                cell(count(used.usage.prompt)),
                cell(count(used.usage.cached)),
                cell(count(used.usage.completion)),
                cell(count(used.usage.reasoning)),
                cell(used.usd.to_string()),
            ]
        })
        .collect();
    let columns = [
        "role",
        "calls",
        "prompt tokens",
        "of these cached",
        "completion tokens",
        "of these thinking",
        "cost",
    ];
    html! {
        @if !run.used.is_empty() {
            details.print-open {
                summary { "Cost by role: " (aske_chat::Usd(total)) " in total" }
                (scroll("Cost by role", &table("Cost by role", &columns, &rows)))
            }
        }
    }
}

fn role_name(role: &str) -> &str {
    match role {
        "one" => "boundary solver, as Model 1",
        "two" => "boundary solver, as Model 2",
        "check" => "cross-check solver",
        "equivalence" => "equivalence checker",
        "panel" => "solvers of audit, baseline and difficulty",
        "probe" => "probes before each start",
        other => other,
    }
}
