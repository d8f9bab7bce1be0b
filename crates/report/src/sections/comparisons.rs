//! Every two askers on the sessions they share.

use super::{cell, run_name, table};
use crate::draw::Figure;
use crate::figures::ranges::{Axis, Row, ranges};
use crate::number::{count, p_value, points, signed, signed_range};
use aske_evidence::{Comparison, Evidence, Verdict};
use maud::{Markup, html};

pub(super) fn comparisons(evidence: &Evidence) -> Option<Markup> {
    if evidence.comparisons.is_empty() {
        return None;
    }
    let versus = |comparison: &Comparison| {
        let [first, second] = comparison.runs.map(|place| run_name(evidence, place));
        format!("{first} − {second}")
    };
    let rows: Vec<Vec<Markup>> = evidence
        .comparisons
        .iter()
        .map(|comparison| {
            let paired = &comparison.paired;
            vec![
                html! { bdi { (versus(comparison)) } },
                cell(signed(paired.difference.value)),
                cell(signed_range(paired.difference.interval)),
                cell(p_value(comparison.p_holm)),
                cell(points(paired.smallest)),
                cell(count(paired.sessions)),
                html! { bdi { (verdict(evidence, comparison)) } },
            ]
        })
        .collect();
    let columns = [
        "asker − asker",
        "difference, points",
        "95%, over pairs",
        "p after Holm",
        "smallest detectable, points",
        "shared sessions",
        "verdict",
    ];
    let drawn: Vec<Row> = evidence
        .comparisons
        .iter()
        .map(|comparison| Row {
            name: versus(comparison),
            value: comparison.paired.difference.value,
            interval: Some(comparison.paired.difference.interval),
            second: None,
            note: if comparison.verdict == Verdict::Tied {
                "tied".to_owned()
            } else {
                signed(comparison.paired.difference.value)
            },
            hollow: comparison.verdict == Verdict::Tied,
            class: "o-calibrated",
        })
        .collect();
    let desc: Vec<String> = evidence
        .comparisons
        .iter()
        .map(|comparison| {
            format!(
                "{}: {} points, {}",
                versus(comparison),
                signed(comparison.paired.difference.value),
                verdict(evidence, comparison)
            )
        })
        .collect();
    let axis = Axis {
        name: "difference of calibrated shares, points",
        bars: false,
        zero: true,
        tick: |value| crate::number::fixed(100.0 * value, 0),
    };
    let shown = table("Every two askers on the sessions they share", &columns, &rows);
    Some(html! {
        p {
            "Two askers are compared on the same pairs and samples, so that easy pairs help neither. " em { "Tied" }
            " says that no difference is seen, not that there is none: a true difference of the smallest detectable size is "
            "seen in 80% of such studies, a lesser one less often."
        }
        div.scroll tabindex="0" role="group" aria-label="Comparisons" { (shown) }
        (Figure {
            id: "f-comparisons",
            title: "Differences between askers",
            desc: &format!("{}.", desc.join("; ")),
            caption: html! { "Dots are differences with their 95% intervals over pairs; hollow dots are ties." },
            drawing: ranges(&drawn, &axis),
            numbers: shown.clone(),
        }.show())
    })
}

fn verdict(evidence: &Evidence, comparison: &Comparison) -> String {
    let [first, second] = comparison.runs.map(|place| run_name(evidence, place));
    match comparison.verdict {
        Verdict::First => format!("{first} is better"),
        Verdict::Second => format!("{second} is better"),
        Verdict::Tied => "tied".to_owned(),
    }
}
