//! What to know about a session before trusting it.

use aske_evidence::{Run, Session};
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;

/// A doubt about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Unanswered => "unanswered",
            Self::LostTurn => "lost_turn",
            Self::Cut => "cut",
            Self::FromProbing => "from_probing",
            Self::Leaked => "leaked",
            Self::Duplicate => "duplicate",
            Self::Promoted => "promoted",
            Self::Folded => "folded",
            Self::Undecided => "undecided",
        }
    }

    /// Whether it is raised.
    pub(crate) fn of(self, session: &Session, repeated: &Repeated) -> bool {
        let notes = &session.notes;
        let grade = session.grade.as_ref();
        match self {
            Self::Truncated => notes.replies.iter().any(|replies| replies[1] > 0),
            Self::Unanswered => notes.replies.iter().any(|replies| replies[2] > 0),
            Self::LostTurn => notes.turns[1] > 0,
            Self::Cut => notes.turns[3] > 0,
            Self::FromProbing => notes.from_probing,
            Self::Leaked => notes.leaked,
            Self::Duplicate => repeated.0.contains(&notes.words),
            Self::Promoted => grade.is_some_and(|grade| grade.promoted),
            Self::Folded => grade.is_some_and(|grade| grade.folded),
            Self::Undecided => grade.is_some_and(|grade| grade.undecided),
        }
    }

    /// All that are raised.
    pub(crate) fn all_of(session: &Session, repeated: &Repeated) -> Vec<Self> {
        Self::ALL.into_iter().filter(|flag| flag.of(session, repeated)).collect()
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Flag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Final questions that more than one session of a run asks, word for word.
#[derive(Debug, Default)]
pub(crate) struct Repeated(HashSet<u64>);

impl Repeated {
    pub(crate) fn of(run: &Run) -> Self {
        let mut seen = HashSet::with_capacity(run.sessions.len());
        let words = run.sessions.iter().map(|session| session.notes.words);
        Self(words.filter(|words| *words != 0 && !seen.insert(*words)).collect())
    }
}
