//! Whether questions for a hard pair are harder.

use super::{cell, run_name, table};
use crate::draw::Figure;
use crate::figures::ranges::{Axis, Row, ranges};
use crate::number::{count, p_value, percent, range, signed, signed_range};
use crate::text::plain;
use aske_evidence::{Difficulty, Evidence};
use maud::{Markup, html};

pub(super) fn difficulty(evidence: &Evidence) -> Option<Markup> {
    let all: Vec<(String, &Difficulty)> = evidence
        .runs
        .iter()
        .enumerate()
        .flat_map(|(place, run)| run.difficulty.iter().map(move |found| (run_name(evidence, place), found)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for (name, found) in &all {
        for (place, target) in found.targets.iter().enumerate() {
            let kind = if place == 0 { "easy pair" } else { "hard pair" };
            drawn.push(Row {
                name: format!("{name}, {kind}"),
                value: target.failed.rate,
                interval: target.failed.interval,
                second: None,
                note: percent(target.failed.rate),
                hollow: false,
                class: if place == 0 { "o-too_easy" } else { "o-too_hard" },
            });
            rows.push(vec![
                cell(name),
                html! { (kind) ": " (plain(&target.pair)) },
                cell(&found.solver),
                cell(format!("{} of {}", count(target.failed.hits), count(target.failed.of))),
                cell(percent(target.failed.rate)),
                cell(target.failed.interval.map_or_else(|| "–".to_owned(), range)),
            ]);
        }
    }
    let desc: Vec<String> = drawn.iter().map(|row| format!("{} {}", row.name, row.note)).collect();
    let axis = Axis {
        name: "questions that the independent solver fails",
        bars: true,
        zero: false,
        tick: |value| format!("{:.0}%", 100.0 * value),
    };
    Some(html! {
        p {
            "An asker that adjusts to its target writes harder questions for a hard pair than for an easy one. An "
            "independent solver tries both; how often it fails stands for difficulty."
        }
        ul {
            @for (name, found) in &all { li { (sentence(name, found)) } }
        }
        (Figure {
            id: "f-difficulty",
            title: "Difficulty for easy and hard pairs",
            desc: &format!("Failures of the independent solver: {}.", desc.join(", ")),
            caption: html! { "Share of questions that the independent solver fails, with Wilson's 95% interval." },
            drawing: ranges(&drawn, &axis),
            numbers: table("Difficulty for easy and hard pairs", &["asker", "target", "independent solver", "failed", "share", "95%"], &rows),
        }.show())
    })
}

fn sentence(name: &str, found: &Difficulty) -> Markup {
    html! {
        strong { bdi { (plain(name)) } } ": "
        @match found.difference {
            Some(difference) => {
                @let seen = found.p.is_some_and(|p| p < 0.05);
                (signed(difference.value)) " points from easy to hard (95%: " (signed_range(difference.interval))
                @if let Some(p) = found.p { ", p " @if p >= 0.001 { "= " } (p_value(p)) }
                "); "
                @if seen && difference.value > 0.0 { "it adjusts the difficulty" }
                @else if seen { "its questions for the hard pair are easier" }
                @else { "no difference is seen" }
                "."
            }
            None => "too few questions to compare.",
        }
    }
}
