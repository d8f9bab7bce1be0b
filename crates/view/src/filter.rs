//! Filters and sorts the list of sessions.

use crate::flags::Flag;
use crate::params::{Params, json_word};
use crate::runs::LoadedRun;
use crate::search::Needle;
use aske_evidence::{Run, Session};
use aske_http::ApiError;
use aske_session::Outcome;
use serde::Serialize;
use std::cmp::Reverse;

/// An outcome, or no grade yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Label {
    Ungraded,
    #[serde(untagged)]
    Graded(Outcome),
}

impl Label {
    /// All outcomes in the order of tables, then ungraded.
    pub(crate) const COUNT: usize = 6;

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Outcome::ALL.into_iter().map(Self::Graded).chain([Self::Ungraded])
    }

    pub(crate) fn of(session: &Session) -> Self {
        session.grade.as_ref().map_or(Self::Ungraded, |grade| Self::Graded(grade.outcome))
    }

    /// Its index in the order of tables.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Graded(outcome) => outcome as usize,
            Self::Ungraded => Self::COUNT - 1,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum SortOrder {
    /// In the order in which they ended.
    #[default]
    Ended,
    /// The last one first.
    Latest,
    /// By pair, the smallest solvers first.
    Pair,
    /// By outcome.
    Outcome,
    /// By sample, then by pair.
    Sample,
    /// By the length of the final question.
    Question,
    /// By the number of warnings.
    Flags,
}

const SORT_ORDERS: [SortOrder; 7] = [
    SortOrder::Ended,
    SortOrder::Latest,
    SortOrder::Pair,
    SortOrder::Outcome,
    SortOrder::Sample,
    SortOrder::Question,
    SortOrder::Flags,
];

/// The conditions for a session to be listed.
#[derive(Debug)]
pub(crate) struct SessionFilter {
    outcome: Option<Label>,
    solvers: Vec<String>,
    flag: Option<Flag>,
    needle: Option<Needle>,
    order: SortOrder,
    /// In the opposite order.
    reversed: bool,
}

/// The sessions that match a filter.
pub(crate) struct Matches {
    /// Indices of the sessions, in order.
    pub(crate) indices: Vec<usize>,
    /// Sessions by label, without the condition on the outcome.
    pub(crate) outcomes: [usize; Label::COUNT],
}

impl SessionFilter {
    /// Takes its parameters.
    pub(crate) fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let mut solvers = Vec::new();
        for name in ["a", "b", "solver"] {
            solvers.extend(params.text(name)?);
        }
        Ok(Self {
            outcome: params.choice("outcome", Label::all(), json_word)?,
            solvers,
            flag: params.choice("flag", Flag::ALL, json_word)?,
            needle: params.text("q")?.map(|text| Needle::new(&text)),
            order: params.choice("sort", SORT_ORDERS, json_word)?.unwrap_or_default(),
            reversed: params.choice("desc", [true, false], bool::to_string)?.unwrap_or(false),
        })
    }

    /// Whether it lists all sessions in the order in which they ended.
    pub(crate) fn is_plain(&self) -> bool {
        let all =
            self.outcome.is_none() && self.solvers.is_empty() && self.flag.is_none() && self.needle.is_none();
        all && self.order == SortOrder::Ended && !self.reversed
    }

    /// The approximate number of bytes that a search reads.
    pub(crate) fn cost(&self, run: &Run) -> usize {
        // A question and its answers have a few hundred bytes; only a text search reads all of them.
        run.sessions.len().saturating_mul(if self.needle.is_some() { 512 } else { 16 })
    }

    /// All matching sessions.
    pub(crate) fn find(&self, loaded: LoadedRun<'_>) -> Result<Matches, ApiError> {
        let run = loaded.run;
        let index = |name: &String| {
            let found = run.solvers.iter().position(|solver| solver.name == *name);
            found.ok_or_else(|| ApiError::bad_request(format!("no solver of this run is called `{name}`")))
        };
        let solvers = self.solvers.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let mut found = Matches { indices: Vec::new(), outcomes: [0; Label::COUNT] };
        for (at, session) in run.sessions.iter().enumerate() {
            let of_solver = |solver: &usize| session.pair.iter().any(|index| usize::from(*index) == *solver);
            if !solvers.iter().all(of_solver)
                || self.flag.is_some_and(|flag| !flag.applies(session, &loaded.status.duplicates))
                || self.needle.as_ref().is_some_and(|needle| !mentions(run, session, needle))
            {
                continue;
            }
            let label = Label::of(session);
            found.outcomes[label.index()] += 1;
            if self.outcome.is_none_or(|wanted| wanted == label) {
                found.indices.push(at);
            }
        }
        self.sort(loaded, &mut found.indices);
        if self.reversed {
            found.indices.reverse();
        }
        Ok(found)
    }

    fn sort(&self, LoadedRun { run, status, .. }: LoadedRun<'_>, indices: &mut [usize]) {
        let session = |at: &usize| &run.sessions[*at];
        match self.order {
            SortOrder::Ended => {}
            SortOrder::Latest => indices.reverse(),
            SortOrder::Pair => indices.sort_by_key(|at| (session(at).pair, session(at).sample)),
            SortOrder::Outcome => indices.sort_by_key(|at| (Label::of(session(at)).index(), Reverse(*at))),
            SortOrder::Sample => indices.sort_by_key(|at| (session(at).sample, session(at).pair)),
            SortOrder::Question => {
                indices.sort_by_cached_key(|at| session(at).question.as_deref().map_or(0, str::len));
            }
            SortOrder::Flags => {
                indices.sort_by_cached_key(|at| Flag::all_of(session(at), &status.duplicates).len());
            }
        }
    }
}

fn mentions(run: &Run, session: &Session, needle: &Needle) -> bool {
    let texts = session.question.iter().chain(session.answers.iter().chain(&session.check).flatten());
    texts.into_iter().any(|text| needle.is_in(text)) || needle.is_in(&run.name(session))
}
