//! Questions asked without probing.

use super::maps::outcome_map;
use super::{cell, run_name, shares, solver_names};
use crate::figures::stacked::{Bar, stacked_figure};
use crate::number::{count, or_dash, percent, percent_of, range, signed};
use crate::text::plain;
use aske_evidence::{Baseline, Evidence, RunEvidence};
use aske_session::Outcome;
use maud::{Markup, html};

pub(super) fn baseline(evidence: &Evidence) -> Option<Markup> {
    let runs = evidence.runs.iter().enumerate();
    let with: Vec<(usize, &RunEvidence, &Baseline)> =
        runs.filter_map(|(index, run)| Some((index, run, run.baseline.as_ref()?))).collect();
    if with.is_empty() {
        return None;
    }
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for (index, run, baseline) in &with {
        let name = run_name(evidence, *index);
        let probing = shares(&run.outcomes);
        for share in &baseline.outcomes {
            let probed = run.outcomes.iter().find(|probed| probed.outcome == share.outcome);
            rows.push(vec![
                cell(&name),
                cell(share.outcome.as_str()),
                cell(probed.map_or_else(|| percent_of(0, 0), |share| percent_of(share.sessions, share.of))),
                cell(percent_of(share.sessions, share.of)),
                cell(or_dash(share.over_pairs, range)),
            ]);
        }
        bars.push(Bar { name: format!("{name}, probing"), shares: probing });
        bars.push(Bar { name: format!("{name}, without"), shares: shares(&baseline.outcomes) });
    }
    let columns = ["asker", "outcome", "with probing", "without", "95% over questions"];
    let caption = html! { "Outcomes with probing over sessions, and without over questions × pairs." };
    Some(html! {
        p {
            "The asker gets the same task but no probing rounds, so it knows nothing about the pair. Each of its questions "
            "is graded against every pair. The difference is the effect of probing."
        }
        @for (index, run, baseline) in &with {
            @let probing = run.sampling.map_or(shares(&run.outcomes)[0], |sampling| sampling.rate.value);
            @let without = shares(&baseline.outcomes)[0];
            p {
                strong { bdi { (plain(&run_name(evidence, *index))) } } ": " (percent(probing)) " calibrated with probing, "
                (percent(without)) " without, over " (count(baseline.questions)) " questions: an effect of "
                (signed(probing - without)) " points."
            }
        }
        (stacked_figure("f-baseline", "With and without probing", caption, &bars, (&columns, &rows)))
        div.maps {
            @for (index, run, baseline) in &with {
                @if run.solvers.len() > 1 && !baseline.cells.is_empty() {
                    div {
                        h3 { bdi { (run_name(evidence, *index)) } " without probing" }
                        (outcome_map(&format!("base-{index}"), "question", &solver_names(run), &baseline.cells, Outcome::Calibrated))
                    }
                }
            }
        }
    })
}
