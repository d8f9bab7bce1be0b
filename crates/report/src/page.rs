//! The HTML page.

use crate::sections::{self, Section};
use crate::text::{plain, visible};
use aske_evidence::{Evidence, Run};
use aske_record::RunError;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of the page.
const STYLE: &str = include_str!("style.css");
/// Prevents loading resources and running scripts, whatever a model wrote.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The report on some runs as one self-contained HTML page. The runs are in the order of the evidence and supply the
/// transcripts.
pub fn page(evidence: &Evidence, runs: &[Run]) -> Result<String, RunError> {
    let sections = sections::all(evidence, runs)?;
    let askers: Vec<&str> = evidence.runs.iter().map(|run| run.asker.as_str()).collect();
    let title =
        if askers.is_empty() { "Ask-E report".to_owned() } else { format!("Ask-E: {}", askers.join(", ")) };
    let frame = Frame {
        title: &title,
        kicker: "Ask-E report",
        heading: "How well do they ask?",
        names: &askers,
        command: "aske report --html",
    };
    Ok(frame.around(&sections))
}

/// The frame of a page.
pub struct Frame<'f> {
    /// The title of the document.
    pub title: &'f str,
    /// The line above the heading: the kind of page.
    pub kicker: &'f str,
    /// The heading.
    pub heading: &'f str,
    /// The models it is about.
    pub names: &'f [&'f str],
    /// The command that creates it.
    pub command: &'f str,
}

impl Frame<'_> {
    /// The page with these sections, as one file without scripts or external resources.
    pub fn around(&self, sections: &[Section]) -> String {
        let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (visible(self.title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header {
                    p.kicker { (self.kicker) }
                    h1 { (self.heading) }
                    p.askers { @for (index, name) in self.names.iter().enumerate() { @if index > 0 { " · " } bdi { (plain(name)) } } }
                }
                (contents(sections))
                main id="main" {
                    @for Section { id, heading, body } in sections {
                        section id=(id) aria-labelledby={ (id) "-h" } {
                            h2 id={ (id) "-h" } { (heading) }
                            (body)
                        }
                    }
                }
                footer {
                    p {
                        "Created with " code { (self.command) } ". Ask-E follows the paper "
                        cite { "Ask-E: An Environment for Calibrated Question Generation" }
                        ". This file is self-contained."
                    }
                }
            }
        }
        };
        page.into_string()
    }
}

fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol { @for Section { id, heading, .. } in sections { li { a href={ "#" (id) } { (heading) } } } }
        }
    }
}
