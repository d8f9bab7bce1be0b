//! Which sessions are listed, and in which order.

use crate::flags::Flag;
use crate::params::Params;
use crate::problem::Problem;
use crate::runs::Shelf;
use crate::search::Needle;
use aske_evidence::{Run, Session};
use aske_session::Outcome;
use std::cmp::Reverse;
use std::fmt;

/// An outcome, or none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    Graded(Outcome),
    Ungraded,
}

impl Label {
    /// The outcomes in the order of tables, then those without.
    pub(crate) const COUNT: usize = 6;

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Outcome::ALL.into_iter().map(Self::Graded).chain([Self::Ungraded])
    }

    pub(crate) fn of(session: &Session) -> Self {
        session.grade.as_ref().map_or(Self::Ungraded, |grade| Self::Graded(grade.outcome))
    }

    /// Its place in the order of tables.
    pub(crate) fn place(self) -> usize {
        match self {
            Self::Graded(outcome) => outcome as usize,
            Self::Ungraded => Self::COUNT - 1,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graded(outcome) => outcome.fmt(f),
            Self::Ungraded => f.write_str("ungraded"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// As they ended.
    #[default]
    Ended,
    /// The last one first.
    Latest,
    /// By pair, the smallest solvers first.
    Pair,
    /// By outcome.
    Outcome,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "ended",
            Self::Latest => "latest",
            Self::Pair => "pair",
            Self::Outcome => "outcome",
        })
    }
}

/// What a session must be to be listed.
#[derive(Debug)]
pub(crate) struct Filter {
    outcome: Option<Label>,
    solvers: Vec<String>,
    flag: Option<Flag>,
    needle: Option<Needle>,
    order: Order,
}

/// What a filter lets through.
pub(crate) struct Found {
    /// Places of the sessions, in order.
    pub(crate) places: Vec<usize>,
    /// Sessions by label, as if every outcome were asked for.
    pub(crate) outcomes: [usize; Label::COUNT],
}

impl Filter {
    /// Takes its parameters.
    pub(crate) fn take(params: &mut Params) -> Result<Self, Problem> {
        let mut solvers = Vec::new();
        for name in ["a", "b", "solver"] {
            solvers.extend(params.text(name)?);
        }
        Ok(Self {
            outcome: params.choice("outcome", Label::all())?,
            solvers,
            flag: params.choice("flag", Flag::ALL)?,
            needle: params.text("q")?.map(|text| Needle::new(&text)),
            order: params
                .choice("sort", [Order::Ended, Order::Latest, Order::Pair, Order::Outcome])?
                .unwrap_or_default(),
        })
    }

    /// About how many bytes are looked at to find them.
    pub(crate) fn cost(&self, run: &Run) -> usize {
        // A question and its answers have some hundred bytes, of which only a search looks at all.
        run.sessions.len().saturating_mul(if self.needle.is_some() { 512 } else { 16 })
    }

    /// All sessions that pass.
    pub(crate) fn find(&self, among: Shelf<'_>) -> Result<Found, Problem> {
        let run = among.run;
        let place = |name: &String| {
            let found = run.solvers.iter().position(|solver| solver.name == *name);
            found.ok_or_else(|| Problem::bad(format!("no solver of this run is called `{name}`")))
        };
        let solvers = self.solvers.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let mut found = Found { places: Vec::new(), outcomes: [0; Label::COUNT] };
        for (at, session) in run.sessions.iter().enumerate() {
            let of_solver = |solver: &usize| session.pair.iter().any(|place| usize::from(*place) == *solver);
            if !solvers.iter().all(of_solver)
                || self.flag.is_some_and(|flag| !flag.of(session, &among.about.repeated))
                || self.needle.as_ref().is_some_and(|needle| !mentions(run, session, needle))
            {
                continue;
            }
            let label = Label::of(session);
            found.outcomes[label.place()] += 1;
            if self.outcome.is_none_or(|wanted| wanted == label) {
                found.places.push(at);
            }
        }
        self.sort(run, &mut found.places);
        Ok(found)
    }

    fn sort(&self, run: &Run, places: &mut [usize]) {
        let session = |at: &usize| &run.sessions[*at];
        match self.order {
            Order::Ended => {}
            Order::Latest => places.reverse(),
            Order::Pair => places.sort_by_key(|at| (session(at).pair, session(at).sample)),
            Order::Outcome => places.sort_by_key(|at| (Label::of(session(at)).place(), Reverse(*at))),
        }
    }
}

fn mentions(run: &Run, session: &Session, needle: &Needle) -> bool {
    let texts = session.question.iter().chain(session.answers.iter().chain(&session.check).flatten());
    texts.into_iter().any(|text| needle.is_in(text)) || needle.is_in(&run.name(session))
}
