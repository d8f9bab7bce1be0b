//! The sections of the report, one per file, in their order.

mod ability;
mod baseline;
mod caveats;
mod comparisons;
mod difficulty;
mod headline;
mod maps;
mod outcomes;
mod regrading;
mod sessions;
mod transcript;
mod validity;

use crate::text::{label, plain};
use aske_evidence::{Evidence, Run, RunEvidence, Share};
use aske_record::RunError;
use aske_session::Outcome;
use maud::{Markup, html};

/// A section of a page.
pub struct Section {
    /// The anchor, unique in the page: letters, digits and dashes.
    pub id: &'static str,
    /// The heading.
    pub heading: &'static str,
    /// The content.
    pub body: Markup,
}

/// Target size of the page in bytes.
const PAGE_BYTES: usize = 2_700_000;
/// Minimum and maximum bytes for transcripts.
const MIN_TRANSCRIPTS: usize = 300_000;
const MAX_TRANSCRIPTS: usize = 1_500_000;

/// Every section that has content.
pub(crate) fn all(evidence: &Evidence, runs: &[Run]) -> Result<Vec<Section>, RunError> {
    let bodies = [
        ("result", "Result", Some(headline::headline(evidence))),
        ("outcomes", "Outcomes", Some(outcomes::outcomes(evidence))),
        ("pairs", "Pair maps", Some(maps::maps(evidence))),
        ("comparisons", "Comparisons", comparisons::comparisons(evidence)),
        ("ability", "Ability scales", ability::ability(evidence)),
        ("regrading", "Another cross-check solver", regrading::regrading(evidence)),
        ("baseline", "Without probing", baseline::baseline(evidence)),
        ("difficulty", "Difficulty", difficulty::difficulty(evidence)),
        ("validity", "Validity", Some(validity::validity(evidence))),
    ];
    let sections =
        bodies.into_iter().filter_map(|(id, heading, body)| Some(Section { id, heading, body: body? }));
    let mut sections: Vec<Section> = sections.collect();
    let used: usize = sections.iter().map(|section| section.body.0.len()).sum();
    let bytes = PAGE_BYTES.saturating_sub(used).clamp(MIN_TRANSCRIPTS, MAX_TRANSCRIPTS);
    let body = sessions::sessions(evidence, runs, bytes)?;
    sections.push(Section { id: "sessions", heading: "Sessions to read", body });
    Ok(sections)
}

/// Maximum characters of a run's name.
const MAX_NAME: usize = 80;

/// The name of a run: its asker, with the folder if several runs have the same asker.
fn run_name(evidence: &Evidence, index: usize) -> String {
    let Some(run) = evidence.runs.get(index) else { return format!("run {}", index + 1) };
    let ambiguous = evidence.runs.iter().filter(|other| other.asker == run.asker).count() > 1;
    let name = if ambiguous { format!("{} ({})", run.asker, run.name) } else { run.asker.clone() };
    label(&name, MAX_NAME)
}

/// All runs with their names.
fn named_runs(evidence: &Evidence) -> impl Iterator<Item = (String, &RunEvidence)> {
    evidence.runs.iter().enumerate().map(|(index, run)| (run_name(evidence, index), run))
}

/// Names of a run's solvers, smallest first.
fn solver_names(run: &RunEvidence) -> Vec<&str> {
    run.solvers.iter().map(|solver| solver.name.as_str()).collect()
}

/// Shares in the order of [`Outcome::ALL`].
fn shares(outcomes: &[Share]) -> [f64; 5] {
    Outcome::ALL
        .map(|outcome| outcomes.iter().find(|share| share.outcome == outcome).map_or(0.0, |share| share.rate))
}

/// A table whose first column contains the row headings.
pub(crate) fn table(caption: &str, columns: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { @for column in columns { th scope="col" { (column) } } } }
            tbody {
                @for row in rows {
                    tr {
                        @for (index, cell) in row.iter().enumerate() {
                            @if index == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// A box that scrolls on narrow screens.
pub(crate) fn scroll(label: &str, content: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="group" aria-label=(label) { (content) } }
}

/// A cell of text.
fn cell(text: impl AsRef<str>) -> Markup {
    plain(text.as_ref())
}
