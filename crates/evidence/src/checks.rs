//! The validity panel as a list of checks.
//!
//! Every check has two limits on the share of hits: up to the first it is fine, up to the second worth a look, above that
//! a problem. What the paper allows is never a problem but a note. The first limit of the cross-check is the paper's figure (under 1% for every asker). The others are a
//! judgement: strict if a label is wrong or missing, wider if it is only less meaningful.

use crate::tally::share;
use crate::{Flag, RunEvidence, SessionCounts, Validity};
use serde::Serialize;

/// One check of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Check<'c> {
    /// Its name.
    pub name: &'static str,
    /// What a hit means.
    pub meaning: &'static str,
    /// Hits.
    pub hits: u64,
    /// Out of these.
    pub of: u64,
    /// Limits on the share: fine up to the first, worth a look up to the second.
    pub limits: [f64; 2],
    /// Whether the paper allows it, so that it is a note and no problem.
    pub allowed: bool,
    /// A few sessions by name.
    pub examples: &'c [String],
}

/// The severity of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing to do.
    Fine,
    /// Allowed, and to be read with the result.
    Note,
    /// Look at the examples.
    Look,
    /// The results may be misleading.
    Problem,
}

impl Severity {
    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Note => "note",
            Self::Look => "look",
            Self::Problem => "problem",
        }
    }
}

/// The severity of a share by its limits.
pub fn severity(share: f64, limits: [f64; 2]) -> Severity {
    match limits {
        [fine, _] if share <= fine => Severity::Fine,
        [_, look] if share <= look => Severity::Look,
        _ => Severity::Problem,
    }
}

impl Check<'_> {
    /// The share of hits; 0 of none.
    pub fn share(&self) -> f64 {
        share(self.hits, self.of)
    }

    /// Its severity.
    pub fn severity(&self) -> Severity {
        match severity(self.share(), self.limits) {
            Severity::Look | Severity::Problem if self.allowed => Severity::Note,
            severity => severity,
        }
    }
}

/// Every check of a run.
pub fn checks(run: &RunEvidence) -> Vec<Check<'_>> {
    checks_of(&run.validity, &run.held)
}

pub(crate) fn checks_of<'v>(found: &'v Validity, held: &SessionCounts) -> Vec<Check<'v>> {
    let turns = found.asker.turns;
    vec![
        from_flag(
            "Cross-check disagrees",
            "the cross-check answers are not all the same, so there is no reference",
            &found.disagreed,
            [0.01, 0.05],
        ),
        from_flag(
            "Matched by the equivalence checker",
            "a model, not a proof, says that two answers are the same",
            &found.promoted,
            [0.05, 0.15],
        ),
        from_flag(
            "Matched by text alone",
            "the texts are the same but for case or white space, although the mathematics differs (the paper's rule)",
            &found.folded,
            [0.005, 0.02],
        ),
        from_flag(
            "Undecided",
            "a comparison stayed open and counts as no match",
            &found.undecided,
            [0.005, 0.02],
        ),
        from_flag(
            "Asked before",
            "another session has the same final question, word for word",
            &found.duplicates,
            [0.02, 0.10],
        ),
        from_flag(
            "Much like another",
            "the words are nearly those of another session's final question",
            &found.near_duplicates,
            [0.05, 0.20],
        ),
        Check {
            allowed: true,
            ..from_flag(
                "Repeats a probe",
                "the asker has seen both solvers' answers to the final question",
                &found.from_probing,
                [0.02, 0.10],
            )
        },
        from_flag(
            "Answer in the question",
            "the reference answer can be read in the final question",
            &found.leaked,
            [0.01, 0.05],
        ),
        Check {
            name: "Without a grade",
            meaning: "finished sessions that are not in the numbers",
            hits: held.records - held.graded,
            of: held.records,
            limits: [0.0, 0.01],
            allowed: false,
            examples: &[],
        },
        Check {
            name: "Without a record",
            meaning: "graded sessions that are not in the numbers, as their record is lost; `aske repair` makes it again",
            hits: held.lost,
            of: held.records + held.lost,
            limits: [0.0, 0.01],
            allowed: false,
            examples: &[],
        },
        Check {
            name: "Turns without a question",
            meaning: "asker turns that bring none",
            hits: found.asker.without_question,
            of: turns,
            limits: [0.02, 0.10],
            allowed: false,
            examples: &[],
        },
        Check {
            name: "… for want of tokens",
            meaning: "of these, cut at the token limit: a larger budget may help",
            hits: found.asker.truncated,
            of: turns,
            limits: [0.01, 0.05],
            allowed: false,
            examples: &[],
        },
        Check {
            name: "Questions cut",
            meaning: "longer than the word limit, so the solvers saw a part",
            hits: found.asker.cut,
            of: turns,
            limits: [0.01, 0.05],
            allowed: false,
            examples: &[],
        },
    ]
}

fn from_flag<'f>(name: &'static str, meaning: &'static str, flag: &'f Flag, limits: [f64; 2]) -> Check<'f> {
    Check {
        name,
        meaning,
        hits: flag.sessions,
        of: flag.of,
        limits,
        allowed: false,
        examples: &flag.examples,
    }
}
