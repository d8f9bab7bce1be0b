//! Warnings about single sessions.

use aske_evidence::{Run, Session};
use serde::Serialize;
use std::collections::HashSet;

/// A warning about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Flag {
    Truncated,
    Unanswered,
    LostTurn,
    Cut,
    FromProbing,
    Leaked,
    Duplicate,
    Promoted,
    Folded,
    Undecided,
}

impl Flag {
    pub(crate) const ALL: [Self; 10] = [
        Self::Truncated,
        Self::Unanswered,
        Self::LostTurn,
        Self::Cut,
        Self::FromProbing,
        Self::Leaked,
        Self::Duplicate,
        Self::Promoted,
        Self::Folded,
        Self::Undecided,
    ];

    /// Whether it applies to a session.
    pub(crate) fn applies(self, session: &Session, duplicates: &Duplicates) -> bool {
        let notes = &session.notes;
        let grade = session.grade.as_ref();
        match self {
            Self::Truncated => notes.replies.iter().any(|replies| replies.truncated > 0),
            Self::Unanswered => notes.replies.iter().any(|replies| replies.unanswered > 0),
            Self::LostTurn => notes.turns.without_question > 0,
            Self::Cut => notes.turns.cut > 0,
            Self::FromProbing => notes.from_probing,
            Self::Leaked => notes.leaked,
            Self::Duplicate => duplicates.0.contains(&notes.words),
            Self::Promoted => grade.is_some_and(|grade| grade.promoted),
            Self::Folded => grade.is_some_and(|grade| grade.folded),
            Self::Undecided => grade.is_some_and(|grade| grade.undecided),
        }
    }

    /// All flags of a session.
    pub(crate) fn all_of(session: &Session, duplicates: &Duplicates) -> Vec<Self> {
        Self::ALL.into_iter().filter(|flag| flag.applies(session, duplicates)).collect()
    }
}

/// Hashes of final questions that more than one session of a run asks word for word.
#[derive(Debug, Default)]
pub(crate) struct Duplicates(HashSet<u64>);

impl Duplicates {
    pub(crate) fn of(run: &Run) -> Self {
        let mut seen = HashSet::with_capacity(run.sessions.len());
        let words = run.sessions.iter().map(|session| session.notes.words);
        Self(words.filter(|words| *words != 0 && !seen.insert(*words)).collect())
    }
}
