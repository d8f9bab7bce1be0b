//! The page around its sections.

use crate::sections::{self, Section};
use crate::text::{plain, visible};
use aske_evidence::{Evidence, Run};
use aske_record::RunError;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of the page: ours, and nothing else is loaded.
const STYLE: &str = include_str!("style.css");
/// Nothing may be fetched and nothing may run, whatever a model wrote.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The report on some runs as one HTML page that needs nothing else. The runs stand in the order of the evidence;
/// they supply the transcripts.
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

/// What stands around the sections of a page.
pub struct Frame<'f> {
    /// The title of the window.
    pub title: &'f str,
    /// What kind of page it is.
    pub kicker: &'f str,
    /// The heading.
    pub heading: &'f str,
    /// Who it is about.
    pub names: &'f [&'f str],
    /// The command that made it.
    pub command: &'f str,
}

impl Frame<'_> {
    /// The page of these sections: one file that loads nothing and runs nothing.
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
                a.skip href="#main" { "Skip to the result" }
                header {
                    p.kicker { (self.kicker) }
                    h1 { (self.heading) }
                    p.askers { @for (place, asker) in self.names.iter().enumerate() { @if place > 0 { " · " } bdi { (plain(asker)) } } }
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
                        "Made with " code { (self.command) } ". Ask-E follows the paper "
                        cite { "Ask-E: An Environment for Calibrated Question Generation" }
                        ". This file holds everything it shows and loads nothing."
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
