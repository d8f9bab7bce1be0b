//! Plans the sessions of a run and their order.

use aske_chat::Hint;
use aske_config::{Order, Settings, did_you_mean};
use aske_record::{PairId, SessionId};
use aske_session::Seed;
use std::borrow::Cow;
use std::str::FromStr;

/// A shard of the plan, such as the third of eight: `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Counted from 1.
    part: u32,
    of: u32,
}

impl Shard {
    /// Whether a session belongs to this shard. Depends on the session only, so sessions keep their shard when a run grows.
    fn contains(self, id: &SessionId) -> bool {
        let hash = blake3::hash(id.to_string().as_bytes());
        let number = hash.as_bytes()[..8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number % u64::from(self.of) == u64::from(self.part - 1)
    }
}

impl FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a shard; write the part and the number of parts, such as 3/8");
        let (part, of) = text.split_once('/').ok_or_else(wrong)?;
        let (part, of): (u32, u32) = (part.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if (1..=of).contains(&part) { Ok(Self { part, of }) } else { Err(wrong()) }
    }
}

/// Selects a part of the plan.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Pairs `a:b`, or single names for every pair with that solver; all pairs where empty.
    pub pairs: Vec<String>,
    /// A part of the plan.
    pub shard: Option<Shard>,
    /// Maximum number of sessions.
    pub limit: Option<usize>,
}

/// A session of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSession {
    /// Its name.
    pub id: SessionId,
    /// Model 1 and Model 2.
    pub solvers: [String; 2],
}

/// A selection with an unknown solver or an invalid pair.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct PlanError {
    what: String,
    hint: String,
}

impl Hint for PlanError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.hint))
    }
}

/// The sessions of a run, in order.
pub fn plan(settings: &Settings, selection: &Selection) -> Result<Vec<PlannedSession>, PlanError> {
    let seed = Seed(settings.run.seed);
    let mut sessions: Vec<PlannedSession> = selected_pairs(settings, selection)?
        .into_iter()
        .flat_map(|pair| {
            (0..settings.run.samples).map(move |sample| SessionId { pair: pair.clone(), sample })
        })
        .map(|id| plan_session(seed, id))
        .collect();
    order(settings.run.order, seed, &mut sessions);
    if let Some(shard) = selection.shard {
        sessions.retain(|session| shard.contains(&session.id));
    }
    sessions.truncate(selection.limit.unwrap_or(usize::MAX));
    Ok(sessions)
}

/// The pairs of a selection, in the order of the solvers.
pub fn selected_pairs(settings: &Settings, selection: &Selection) -> Result<Vec<PairId>, PlanError> {
    let names: Vec<&str> = settings.solvers.iter().map(|solver| solver.model.as_str()).collect();
    let selected = selection.pairs.iter().map(|text| named_solvers(text, &names));
    let selected = selected.collect::<Result<Vec<_>, _>>()?;
    let fits = |pair: &PairId| {
        let within = |named: &Vec<&str>| named.iter().all(|name| pair.both().contains(name));
        selected.is_empty() || selected.iter().any(within)
    };
    Ok(PairId::all(&names).filter(fits).collect())
}

/// A session with its solvers assigned to Model 1 and Model 2.
pub fn plan_session(seed: Seed, id: SessionId) -> PlannedSession {
    PlannedSession { solvers: id.solvers(seed), id }
}

/// Sorts sessions. Pairs are shuffled within a sample, so that concurrent sessions use different solvers.
fn order(order: Order, seed: Seed, sessions: &mut [PlannedSession]) {
    let shuffled = |session: &PlannedSession| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.0.to_le_bytes());
        hasher.update(session.id.to_string().as_bytes());
        *hasher.finalize().as_bytes()
    };
    match order {
        Order::Balanced => sessions.sort_by_cached_key(|session| (session.id.sample, shuffled(session))),
        Order::ByPair => {}
        Order::Shuffled => sessions.sort_by_cached_key(shuffled),
    }
}

/// The solvers that `a:b` or `a` names; pairs with all of them are selected.
fn named_solvers<'t>(text: &'t str, names: &[&str]) -> Result<Vec<&'t str>, PlanError> {
    if let Some(name) = text.split(':').find(|name| !names.contains(name)) {
        let hint = did_you_mean(
            name,
            names.iter().copied(),
            format!("the boundary solvers are {}", names.join(", ")),
        );
        let what = format!("--pairs {text}: `{name}` is not a boundary solver of this run");
        return Err(PlanError { what, hint });
    }
    if text.contains(':') {
        text.parse::<PairId>().map_err(|error| PlanError {
            what: format!("--pairs: {error}"),
            hint: "a single name stands for every pair with that solver".to_owned(),
        })?;
    }
    Ok(text.split(':').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_config::Layers;
    use std::collections::HashSet;

    fn paper() -> Settings {
        Layers::load(Some("paper-bench"), std::iter::empty(), &[]).unwrap().settings().unwrap()
    }

    #[test]
    fn the_papers_plan_has_190_pairs_and_1900_sessions() {
        let sessions = plan(&paper(), &Selection::default()).unwrap();
        assert_eq!(sessions.len(), 1900);
        assert_eq!(sessions.iter().map(|s| &s.id.pair).collect::<HashSet<_>>().len(), 190);
        assert_eq!(sessions.iter().map(|s| &s.id).collect::<HashSet<_>>().len(), 1900);
    }

    #[test]
    fn balanced_runs_every_pair_once_before_any_pair_twice() {
        let sessions = plan(&paper(), &Selection::default()).unwrap();
        for (round, sessions) in sessions.chunks(190).enumerate() {
            assert!(sessions.iter().all(|s| s.id.sample as usize == round));
        }
    }

    #[test]
    fn each_solver_of_a_pair_is_model_1_in_half_of_the_samples() {
        let sessions = plan(&paper(), &Selection::default()).unwrap();
        let first = |s: &&PlannedSession| s.solvers[0] == s.id.pair.both()[0];
        for pair in sessions.iter().map(|s| &s.id.pair).collect::<HashSet<_>>() {
            assert_eq!(sessions.iter().filter(|s| s.id.pair == *pair).filter(first).count(), 5);
        }
        let begins = sessions[..190].iter().filter(first).count();
        assert!((60..130).contains(&begins), "the coin is fair: {begins} of 190");
    }

    #[test]
    fn shards_are_disjoint_and_complete() {
        let settings = paper();
        let all: HashSet<_> =
            plan(&settings, &Selection::default()).unwrap().into_iter().map(|s| s.id).collect();
        let mut joined = HashSet::new();
        for part in 1..=8 {
            let shard = Some(format!("{part}/8").parse().unwrap());
            let sessions = plan(&settings, &Selection { shard, ..Selection::default() }).unwrap();
            assert!((180..300).contains(&sessions.len()), "about an eighth of 1900: {}", sessions.len());
            for session in sessions {
                assert!(joined.insert(session.id));
            }
        }
        assert_eq!(joined, all);
        for wrong in ["0/8", "9/8", "1", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_session_stays_in_its_shard_when_the_run_grows() {
        let mut settings = paper();
        let shard = Some("2/5".parse().unwrap());
        let part =
            |settings: &Settings| plan(settings, &Selection { shard, ..Selection::default() }).unwrap();
        let before = part(&settings);
        settings.run.samples += 1;
        settings.solvers.push(settings.check.clone());
        let after: HashSet<_> = part(&settings).into_iter().map(|session| session.id).collect();
        assert!(before.len() < after.len() && before.iter().all(|session| after.contains(&session.id)));
    }

    #[test]
    fn more_samples_or_solvers_keep_the_sessions_that_were_there() {
        let mut settings = paper();
        let before = plan(&settings, &Selection::default()).unwrap();
        settings.run.samples += 2;
        let newcomer = settings.check.clone();
        settings.solvers.insert(0, newcomer);
        let after: HashSet<_> =
            plan(&settings, &Selection::default()).unwrap().into_iter().map(|s| (s.id, s.solvers)).collect();
        assert_eq!(after.len(), 21 * 20 / 2 * 12);
        assert!(before.into_iter().all(|s| after.contains(&(s.id, s.solvers))));
    }

    #[test]
    fn pairs_can_be_chosen_by_pair_or_by_solver() {
        let choose = |pairs: &[&str]| {
            let pairs = pairs.iter().map(ToString::to_string).collect();
            plan(&paper(), &Selection { pairs, ..Selection::default() })
        };
        assert_eq!(choose(&["qwen3-4b:qwen3-8b"]).unwrap().len(), 10);
        assert_eq!(choose(&["qwen3-4b"]).unwrap().len(), 190);
        let error = choose(&["qwen3-4b:qwen3-8"]).unwrap_err();
        assert_eq!(error.hint, "did you mean `qwen3-8b`?");
        assert!(choose(&["qwen3-4b:qwen3-4b"]).is_err());
    }
}
