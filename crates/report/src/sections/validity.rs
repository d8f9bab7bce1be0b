//! What could make the numbers mean something else.

use super::{cell, run_name, table};
use crate::number::{count, percent, share};
use crate::text::plain;
use aske_evidence::{Evidence, RunEvidence, SolverReplies, severity};
use maud::{Markup, html};

/// Truncated or unanswered replies of one solver: fine, and worth a look.
const SOLVER: [f64; 2] = [0.02, 0.10];

pub(super) fn validity(evidence: &Evidence) -> Markup {
    html! {
        p {
            "Each check counts sessions in which a label may mean something else than it says. "
            b { "fine" } " and " b { "look" } " end at the two limits given; above them it is a " b { "problem" } "."
        }
        @for (place, run) in evidence.runs.iter().enumerate() {
            h3 { bdi { (run_name(evidence, place)) } }
            div.scroll tabindex="0" role="group" aria-label="Checks" { (checks(run)) }
            (replies(run))
            (cost(run))
        }
    }
}

fn checks(run: &RunEvidence) -> Markup {
    let rows: Vec<Vec<Markup>> = aske_evidence::checks(run)
        .iter()
        .map(|check| {
            let part = share(check.hits, check.of);
            let limits = format!("{} / {}", limit(check.limits[0]), limit(check.limits[1]));
            vec![
                html! { (check.name) span.meaning { (check.meaning) } },
                verdict(part, check.limits),
                html! { (count(check.hits)) " of " (count(check.of)) },
                cell(percent(part)),
                cell(limits),
                html! { @for name in check.examples.iter().take(3) { code.example { (plain(name)) } " " } },
            ]
        })
        .collect();
    table("Checks", &["check", "verdict", "number", "share", "limits", "sessions to look at"], &rows)
}

fn limit(limit: f64) -> String {
    let percent = 100.0 * limit;
    if percent.fract() == 0.0 { format!("{percent:.0}%") } else { format!("{percent:.1}%") }
}

fn verdict(part: f64, limits: [f64; 2]) -> Markup {
    let word = severity(part, limits).as_str();
    html! { span class=(format!("verdict {word}")) { (word) } }
}

fn replies(run: &RunEvidence) -> Markup {
    let worst = |solver: &SolverReplies| {
        share(solver.truncated, solver.replies).max(share(solver.unanswered, solver.replies))
    };
    let open = run.validity.solvers.iter().filter(|solver| worst(solver) > SOLVER[0]).count() as u64;
    let rows: Vec<Vec<Markup>> = run
        .validity
        .solvers
        .iter()
        .map(|solver| {
            vec![
                html! { bdi { (plain(&solver.name)) } },
                cell(count(solver.replies)),
                cell(format!(
                    "{} ({})",
                    count(solver.truncated),
                    percent(share(solver.truncated, solver.replies))
                )),
                cell(format!(
                    "{} ({})",
                    count(solver.unanswered),
                    percent(share(solver.unanswered, solver.replies))
                )),
                verdict(worst(solver), SOLVER),
            ]
        })
        .collect();
    let columns = ["solver", "replies", "cut at the token limit", "without an answer", "verdict"];
    html! {
        details.print-open {
            summary {
                "Replies by solver: "
                @if open == 0 { "all fine" } @else { (count(open)) " to look at" }
                " (limits " (limit(SOLVER[0])) " / " (limit(SOLVER[1])) "; a reply without an answer counts as wrong)"
            }
            div.scroll tabindex="0" role="group" aria-label="Replies by solver" { (table("Replies by solver", &columns, &rows)) }
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
    let columns =
        ["role", "calls", "tokens read", "of these cached", "tokens written", "of these thinking", "cost"];
    html! {
        @if !run.used.is_empty() {
            details.print-open {
                summary { "Cost by role: " (aske_chat::Usd(total)) " in all" }
                div.scroll tabindex="0" role="group" aria-label="Cost by role" { (table("Cost by role", &columns, &rows)) }
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
        "panel" => "solvers of audit, baseline, difficulty",
        other => other,
    }
}
