//! Whether questions for a hard pair are harder.

use super::{cell, named_runs};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::number::{count, or_dash, p_value, percent_of, range, signed, signed_range};
use crate::text::plain;
use aske_evidence::{Difficulty, Evidence};
use maud::{Markup, html};

pub(super) fn difficulty(evidence: &Evidence) -> Option<Markup> {
    let all: Vec<(String, &Difficulty)> = named_runs(evidence)
        .flat_map(|(name, run)| run.difficulty.iter().map(move |found| (name.clone(), found)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for (name, found) in &all {
        let kinds = [("easy pair", "o-too_easy"), ("hard pair", "o-too_hard")];
        for (target, (kind, class)) in found.targets.iter().zip(kinds) {
            let failed = &target.failed;
            let row = Row::new(
                format!("{name}, {kind}"),
                failed.rate,
                failed.interval,
                percent_of(failed.hits, failed.of),
            );
            drawn.push(Row { class, ..row });
            rows.push(vec![
                cell(name),
                html! { (kind) ": " (plain(&target.pair)) },
                cell(&found.solver),
                cell(format!("{} of {}", count(failed.hits), count(failed.of))),
                cell(percent_of(failed.hits, failed.of)),
                cell(or_dash(failed.interval, range)),
            ]);
        }
    }
    let columns = ["asker", "target", "independent solver", "failed", "share", "95%"];
    let axis = Axis::shares("questions that the independent solver fails");
    let caption =
        html! { "Share of questions that the independent solver fails, with Wilson's 95% interval." };
    Some(html! {
        p {
            "An asker that adjusts to its target writes harder questions for a hard pair than for an easy one. An "
            "independent solver tries both; its failure rate measures difficulty."
        }
        ul {
            @for (name, found) in &all { li { (sentence(name, found)) } }
        }
        (ranges_figure("f-difficulty", "Difficulty for easy and hard pairs", caption, (&drawn, &axis), (&columns, &rows)))
    })
}

fn sentence(name: &str, found: &Difficulty) -> Markup {
    html! {
        strong { bdi { (plain(name)) } } ": "
        @match found.difference {
            Some(difference) => {
                @let significant = found.p.is_some_and(|p| p < 0.05);
                (signed(difference.value)) " points from easy to hard (95%: " (signed_range(difference.interval))
                @if let Some(p) = found.p { ", p " @if p >= 0.001 { "= " } (p_value(p)) }
                "); "
                @if significant && difference.value > 0.0 { "it adjusts the difficulty" }
                @else if significant { "its questions for the hard pair are easier" }
                @else { "no difference was found" }
                "."
            }
            None => "too few questions to compare.",
        }
    }
}
