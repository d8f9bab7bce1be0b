//! Transcripts of selected sessions.

use super::named_runs;
use super::transcript::{Limits, SessionText, transcript};
use crate::text::plain;
use aske_evidence::{Evidence, Highlight, Run};
use aske_record::RunError;
use maud::{Markup, html};

/// Maximum bytes of one transcript.
const MAX_BYTES: usize = 250_000;
/// Maximum transcripts of one run.
const PER_RUN: usize = 8;

/// Transcripts within this many bytes.
pub(super) fn sessions(evidence: &Evidence, runs: &[Run], bytes: usize) -> Result<Markup, RunError> {
    let shown: usize = evidence.runs.iter().map(|run| run.highlights.len().min(PER_RUN)).sum();
    let bytes = (bytes / shown.max(1)).min(MAX_BYTES);
    let mut parts = Vec::new();
    for ((name, found), run) in named_runs(evidence).zip(runs) {
        let mut transcripts = Vec::new();
        for highlight in found.highlights.iter().take(PER_RUN) {
            transcripts.extend(one(run, highlight, bytes)?);
        }
        if !transcripts.is_empty() {
            parts.push(html! {
                h3 { bdi { (name) } }
                @for transcript in &transcripts { (transcript) }
            });
        }
    }
    Ok(html! {
        @if parts.is_empty() {
            p { "No sessions." }
        } @else {
            p { "Selected by a fixed rule: the asker at its best, then at its worst. Open one to read it." }
            @for part in &parts { (part) }
        }
    })
}

/// A transcript within this many bytes: complete if it fits, else with less mathematics, then with less text.
fn one(run: &Run, highlight: &Highlight, bytes: usize) -> Result<Option<Markup>, RunError> {
    let Some(session) = run.session(&highlight.session) else { return Ok(None) };
    let session = SessionText {
        record: run.record(session)?,
        // A transcript without replies still shows the questions and answers.
        replies: run.replies(&highlight.session).unwrap_or_default(),
        grade: session.grade.clone(),
    };
    let mut body = html! {};
    for limits in Limits::SHRINKING {
        body = transcript(&session, limits, bytes);
        if body.0.len() <= bytes {
            break;
        }
    }
    let outcome = session.grade.as_ref().map_or("not graded", |grade| grade.outcome.as_str());
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
