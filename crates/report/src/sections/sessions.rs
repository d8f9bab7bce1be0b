//! Sessions worth reading.

use super::run_name;
use super::transcript::{Limits, Opened, transcript};
use crate::text::plain;
use aske_evidence::{Evidence, Highlight, Run};
use aske_record::RunError;
use maud::{Markup, html};

/// Bytes for one of them.
const MOST: usize = 250_000;
/// Of one run.
const EACH: usize = 8;

/// Transcripts in so many bytes.
pub(super) fn sessions(evidence: &Evidence, runs: &[Run], room: usize) -> Result<Markup, RunError> {
    let shown: usize = evidence.runs.iter().map(|run| run.highlights.len().min(EACH)).sum();
    let room = (room / shown.max(1)).min(MOST);
    let mut parts = Vec::new();
    for (place, (found, run)) in evidence.runs.iter().zip(runs).enumerate() {
        let mut transcripts = Vec::new();
        for highlight in found.highlights.iter().take(EACH) {
            transcripts.extend(one(run, highlight, room)?);
        }
        if !transcripts.is_empty() {
            parts.push(html! {
                h3 { bdi { (run_name(evidence, place)) } }
                @for transcript in &transcripts { (transcript) }
            });
        }
    }
    Ok(html! {
        @if parts.is_empty() {
            p { "There is no session to show." }
        } @else {
            p { "Chosen by rule, not by taste: the asker at its best, then at its worst. Open one to read it." }
            @for part in &parts { (part) }
        }
    })
}

/// A transcript within its room: first whole, then with less mathematics, then with less text.
fn one(run: &Run, highlight: &Highlight, room: usize) -> Result<Option<Markup>, RunError> {
    let Some(session) = run.session(&highlight.session) else { return Ok(None) };
    let opened = Opened {
        record: run.record(session)?,
        // A transcript without its replies still tells the questions and answers.
        replies: run.replies(&highlight.session).unwrap_or_default(),
        grade: session.grade.clone(),
    };
    let mut body = html! {};
    for limits in Limits::SHRINKING {
        body = transcript(&opened, limits, room);
        if body.0.len() <= room {
            break;
        }
    }
    let outcome = opened.grade.as_ref().map_or("not graded", |grade| super::outcome_name(grade.outcome));
    Ok(Some(html! {
        details.session.print-open {
            summary {
                span class={ "mark " (if highlight.best { "best" } else { "worst" }) } { (if highlight.best { "best" } else { "worst" }) }
                " " b { bdi { (plain(&highlight.session)) } } " · " (outcome) " · " (plain(&highlight.why))
            }
            (body)
        }
    }))
}
