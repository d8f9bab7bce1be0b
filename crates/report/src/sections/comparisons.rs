//! Every two askers on the sessions they share.

use super::{cell, run_name, scroll, table};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::number::{count, fixed, p_value, points, signed, signed_range};
use aske_evidence::{Comparison, Evidence, Verdict};
use maud::{Markup, html};

pub(super) fn comparisons(evidence: &Evidence) -> Option<Markup> {
    if evidence.comparisons.is_empty() {
        return None;
    }
    let names = |comparison: &Comparison| comparison.runs.map(|index| run_name(evidence, index));
    let mut drawn = Vec::new();
    let mut rows = Vec::new();
    for comparison in &evidence.comparisons {
        let [first, second] = names(comparison);
        let versus = format!("{first} − {second}");
        let verdict = match comparison.verdict {
            Verdict::First => format!("{first} is better"),
            Verdict::Second => format!("{second} is better"),
            Verdict::Tied => "tied".to_owned(),
        };
        let (paired, tied) = (&comparison.paired, comparison.verdict == Verdict::Tied);
        let difference = paired.difference;
        let note = if tied { "tied".to_owned() } else { signed(difference.value) };
        let row = Row::new(&versus, difference.value, Some(difference.interval), note);
        drawn.push(Row { hollow: tied, ..row });
        rows.push(vec![
            html! { bdi { (versus) } },
            cell(signed(difference.value)),
            cell(signed_range(difference.interval)),
            cell(p_value(comparison.p_holm)),
            cell(points(paired.smallest)),
            cell(count(paired.sessions)),
            html! { bdi { (verdict) } },
        ]);
    }
    let columns = [
        "asker − asker",
        "difference, points",
        "95%, over pairs",
        "p after Holm",
        "smallest detectable, points",
        "shared sessions",
        "verdict",
    ];
    let axis = Axis {
        name: "difference of calibrated shares, points",
        bars: false,
        zero: true,
        tick: |value| fixed(100.0 * value, 0),
    };
    let caption = html! { "Dots are differences with their 95% intervals over pairs; hollow dots are ties." };
    Some(html! {
        p {
            "Two askers are compared on the same pairs and samples, so that easy pairs favour neither. " em { "Tied" }
            " means that no difference was found, not that there is none: a true difference of the smallest detectable size "
            "is found in 80% of such studies, a smaller one less often."
        }
        (scroll("Comparisons", &table("Every two askers on the sessions they share", &columns, &rows)))
        (ranges_figure("f-comparisons", "Differences between askers", caption, (&drawn, &axis), (&columns, &rows)))
    })
}
