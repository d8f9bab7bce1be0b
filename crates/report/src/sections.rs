//! The page's sections, one a file, in their order.

mod ability;
mod baseline;
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
use aske_evidence::{Evidence, Run, RunEvidence};
use aske_record::RunError;
use aske_session::Outcome;
use maud::{Markup, html};

/// A section: the anchor, the heading, and what it holds.
pub struct Section {
    /// Unique in the page; letters, digits and dashes.
    pub id: &'static str,
    /// What it is about.
    pub heading: &'static str,
    /// What it says.
    pub body: Markup,
}

/// Bytes of a page that is quick to open and to send.
const PAGE: usize = 2_700_000;
/// Bytes for transcripts, at least and at most.
const LEAST: usize = 300_000;
const MOST: usize = 1_500_000;

/// Every section that has something to say.
pub(crate) fn all(evidence: &Evidence, runs: &[Run]) -> Result<Vec<Section>, RunError> {
    let section = |id, heading, body: Markup| Section { id, heading, body };
    let mut sections = vec![
        section("result", "Result", headline::headline(evidence)),
        section("outcomes", "Outcomes", outcomes::outcomes(evidence)),
        section("pairs", "Pair maps", maps::maps(evidence)),
    ];
    sections
        .extend(comparisons::comparisons(evidence).map(|body| section("comparisons", "Comparisons", body)));
    sections.extend(ability::ability(evidence).map(|body| section("ability", "Ability scales", body)));
    sections.extend(
        regrading::regrading(evidence).map(|body| section("regrading", "Another cross-check solver", body)),
    );
    sections.extend(baseline::baseline(evidence).map(|body| section("baseline", "Without probing", body)));
    sections.extend(difficulty::difficulty(evidence).map(|body| section("difficulty", "Difficulty", body)));
    sections.push(section("validity", "Validity", validity::validity(evidence)));
    let taken: usize = sections.iter().map(|section| section.body.0.len()).sum();
    let room = PAGE.saturating_sub(taken).clamp(LEAST, MOST);
    sections.push(section("sessions", "Sessions to read", sessions::sessions(evidence, runs, room)?));
    Ok(sections)
}

/// An outcome in words.
pub(crate) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Calibrated => "calibrated",
        Outcome::TooEasy => "too easy",
        Outcome::TooHard => "too hard",
        Outcome::NoQuestion => "no question",
        Outcome::BadCrossCheck => "bad cross-check",
    }
}

/// The longest name that is written out.
const LONGEST: usize = 80;

/// What a run is called: by its asker, and by its folder where askers are alike.
fn run_name(evidence: &Evidence, place: usize) -> String {
    let Some(run) = evidence.runs.get(place) else { return format!("run {}", place + 1) };
    let alike = evidence.runs.iter().filter(|other| other.asker == run.asker).count() > 1;
    let name = if alike { format!("{} ({})", run.asker, run.name) } else { run.asker.clone() };
    label(&name, LONGEST)
}

/// Shares in the order of [`Outcome::ALL`].
fn shares(run: &RunEvidence) -> [f64; 5] {
    Outcome::ALL.map(|outcome| {
        run.outcomes.iter().find(|share| share.outcome == outcome).map_or(0.0, |share| share.rate)
    })
}

/// A table with headings over its columns; the first column heads its row.
fn table(caption: &str, columns: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { @for column in columns { th scope="col" { (column) } } } }
            tbody {
                @for row in rows {
                    tr {
                        @for (place, cell) in row.iter().enumerate() {
                            @if place == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// A cell of text.
fn cell(text: impl AsRef<str>) -> Markup {
    plain(text.as_ref())
}
