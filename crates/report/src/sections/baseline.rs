//! Questions asked without probing.

use super::maps::{Names, outcome_map};
use super::{cell, outcome_name, run_name, shares, table};
use crate::draw::Figure;
use crate::figures::stacked::{Bar, stacked};
use crate::number::{count, percent, range, signed};
use crate::text::plain;
use aske_evidence::{Baseline, Evidence, RunEvidence};
use aske_session::Outcome;
use maud::{Markup, html};

pub(super) fn baseline(evidence: &Evidence) -> Option<Markup> {
    let with: Vec<(usize, &RunEvidence, &Baseline)> = evidence
        .runs
        .iter()
        .enumerate()
        .filter_map(|(place, run)| Some((place, run, run.baseline.as_ref()?)))
        .collect();
    if with.is_empty() {
        return None;
    }
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for (place, run, baseline) in &with {
        let name = run_name(evidence, *place);
        bars.push(Bar { name: format!("{name}, probing"), shares: shares(run) });
        bars.push(Bar { name: format!("{name}, without"), shares: without(baseline) });
        for share in &baseline.outcomes {
            let before = run
                .outcomes
                .iter()
                .find(|other| other.outcome == share.outcome)
                .map_or(0.0, |other| other.rate);
            rows.push(vec![
                cell(&name),
                cell(outcome_name(share.outcome)),
                cell(percent(before)),
                cell(percent(share.rate)),
                cell(share.over_pairs.map_or_else(|| "–".to_owned(), range)),
            ]);
        }
    }
    let desc: Vec<String> =
        bars.iter().map(|bar| format!("{}: calibrated {}", bar.name, percent(bar.shares[0]))).collect();
    Some(html! {
        p {
            "The asker gets the same task but no rounds of probing, so it knows nothing of the pair. Each of its questions "
            "is graded against every pair. What is lost is what probing brings."
        }
        @for (place, run, baseline) in &with {
            @let probing = run.sampling.map_or(shares(run)[0], |sampling| sampling.rate.value);
            p {
                strong { bdi { (plain(&run_name(evidence, *place))) } } ": " (percent(probing)) " calibrated with probing, "
                (percent(without(baseline)[0])) " without, over " (count(baseline.questions)) " questions: probing brings "
                (signed(probing - without(baseline)[0])) " points."
            }
        }
        (Figure {
            id: "f-baseline",
            title: "With and without probing",
            desc: &format!("{}.", desc.join("; ")),
            caption: html! { "Outcomes with probing over sessions, and without over questions × pairs." },
            drawing: stacked(&bars),
            numbers: table("With and without probing", &["asker", "outcome", "with probing", "without", "95% over questions"], &rows),
        }.show())
        div.maps {
            @for (place, run, baseline) in &with {
                @if run.solvers.len() > 1 && !baseline.cells.is_empty() {
                    div {
                        h3 { bdi { (run_name(evidence, *place)) } " without probing" }
                        (outcome_map(&format!("base-{place}"), "question", &run.solvers_names(), &baseline.cells, Outcome::Calibrated))
                    }
                }
            }
        }
    })
}

fn without(baseline: &Baseline) -> [f64; 5] {
    Outcome::ALL.map(|outcome| {
        baseline.outcomes.iter().find(|share| share.outcome == outcome).map_or(0.0, |share| share.rate)
    })
}
