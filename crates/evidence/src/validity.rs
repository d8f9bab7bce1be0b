//! The validity panel: what could make the results misleading.

use crate::text::{Fingerprint, HASHES};
use crate::{AskerTurns, Flag, Run, Session, SolverReplies, Validity};
use aske_session::Outcome;
use rayon::prelude::*;
use std::collections::HashSet;
use std::num::NonZeroU32;

/// Maximum number of examples.
const EXAMPLES: usize = 5;
/// Minimum similarity of near-duplicates.
const SIMILAR: f64 = 0.75;
/// Hashes of a band in locality-sensitive hashing.
const BAND: usize = 2;

/// Maximum number of candidates per band, which bounds the time for runs with one template.
const MAX_CANDIDATES: usize = 64;

/// The panel of a run.
pub(crate) fn validity(run: &Run) -> Validity {
    let asked = || run.sessions.iter().filter(|session| session.question.is_some());
    let graded = || run.sessions.iter().filter(|session| session.grade.is_some());
    let flagged = |of: u64, sessions: &mut dyn Iterator<Item = &Session>| {
        let mut flag = Flag { sessions: 0, of, examples: Vec::new() };
        for session in sessions {
            flag.sessions += 1;
            if flag.examples.len() < EXAMPLES {
                flag.examples.push(run.name(session));
            }
        }
        flag
    };
    let (asked_count, graded_count) = (asked().count() as u64, graded().count() as u64);
    let grade = |test: fn(&aske_session::Grade) -> bool| {
        flagged(graded_count, &mut graded().filter(move |session| session.grade.as_ref().is_some_and(test)))
    };
    let (same, alike) = repeats(&run.sessions);
    let these = |places: &HashSet<usize>| {
        let mut sessions =
            run.sessions.iter().enumerate().filter(|(i, _)| places.contains(i)).map(|(_, s)| s);
        flagged(asked_count, &mut sessions)
    };
    Validity {
        solvers: solvers(run),
        asker: asker(run),
        disagreed: grade(|grade| grade.outcome == Outcome::BadCrossCheck),
        promoted: grade(|grade| grade.promoted),
        folded: grade(|grade| grade.folded),
        undecided: grade(|grade| grade.undecided),
        duplicates: these(&same),
        near_duplicates: these(&alike),
        from_probing: flagged(asked_count, &mut asked().filter(|session| session.notes.from_probing)),
        leaked: flagged(asked_count, &mut asked().filter(|session| session.notes.leaked)),
    }
}

fn solvers(run: &Run) -> Vec<SolverReplies> {
    let named = |name: &str| SolverReplies { name: name.to_owned(), ..SolverReplies::default() };
    let mut solvers: Vec<SolverReplies> = run.solvers.iter().map(|solver| named(&solver.name)).collect();
    for session in &run.sessions {
        for (place, counts) in session.pair.into_iter().zip(session.notes.replies) {
            let solver = &mut solvers[usize::from(place)];
            solver.replies += u64::from(counts.all);
            solver.truncated += u64::from(counts.truncated);
            solver.unanswered += u64::from(counts.unanswered);
        }
    }
    solvers
}

fn asker(run: &Run) -> AskerTurns {
    let mut asker = AskerTurns::default();
    for counts in run.sessions.iter().map(|session| session.notes.turns) {
        asker.turns += u64::from(counts.all);
        asker.without_question += u64::from(counts.without_question);
        asker.truncated += u64::from(counts.truncated);
        asker.cut += u64::from(counts.cut);
    }
    asker
}

/// Sessions whose final question repeats an earlier one: word for word, and nearly.
///
/// Candidates for near-duplicates are found by locality-sensitive hashing: two questions are compared if they share two
/// neighbouring minimum hashes. Questions with [`SIMILAR`] in common miss all 15 such pairs with a chance of
/// (1 − 0.75²)^15 at most, below one in 200,000.
fn repeats(sessions: &[Session]) -> (HashSet<usize>, HashSet<usize>) {
    let (mut same, mut alike) = (HashSet::new(), HashSet::new());
    let mut seen: HashSet<u64> = HashSet::new();
    let prints: Vec<Option<Fingerprint>> =
        sessions.par_iter().map(|session| session.question.as_deref().map(Fingerprint::of)).collect();
    let (places, count) = shared_bands(&prints);
    let mut bands: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (i, session) in sessions.iter().enumerate() {
        let Some(print) = &prints[i] else { continue };
        if !seen.insert(session.notes.words) {
            same.insert(i);
            continue;
        }
        let own = || places.iter().filter_map(|of_band| of_band[i]).map(|place| place.get() as usize - 1);
        let near = |other: &u32| {
            prints[*other as usize].as_ref().is_some_and(|other| print.likeness(other) >= SIMILAR)
        };
        if own().any(|band| bands[band].iter().any(near)) {
            alike.insert(i);
        } else {
            for band in own() {
                if bands[band].len() < MAX_CANDIDATES {
                    bands[band].extend(u32::try_from(i));
                }
            }
        }
    }
    (same, alike)
}

/// Numbers the values that several questions share, for each pair of neighbouring hashes, from 1. Returns the number for
/// each pair and question (usually none), and how many numbers there are.
fn shared_bands(prints: &[Option<Fingerprint>]) -> (Vec<Vec<Option<NonZeroU32>>>, usize) {
    let mut count = 0;
    let of_band = |at: usize| {
        let key = |print: &Fingerprint| u64::from(print.0[at]) << 32 | u64::from(print.0[at + 1]);
        let numbered = prints.iter().zip(0_u32..).filter_map(|(print, i)| Some((key(print.as_ref()?), i)));
        let mut keys: Vec<(u64, u32)> = numbered.collect();
        keys.par_sort_unstable();
        let mut places = vec![None; prints.len()];
        for shared in keys.chunk_by(|one, two| one.0 == two.0).filter(|shared| shared.len() > 1) {
            count += 1;
            for (_, i) in shared {
                places[*i as usize] = NonZeroU32::new(count);
            }
        }
        places
    };
    let places = (0..=HASHES - BAND).map(of_band).collect();
    (places, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The numbers name the same questions as the hashes themselves do, where a question shares them.
    #[test]
    fn questions_share_a_number_exactly_where_they_share_two_neighbouring_hashes() {
        let mut rng = fastrand::Rng::with_seed(3);
        let print = |rng: &mut fastrand::Rng| {
            let question: Vec<String> = (0..12).map(|_| format!("word{}", rng.u8(0..4))).collect();
            (rng.u8(0..10) > 0).then(|| Fingerprint::of(&question.join(" ")))
        };
        let prints: Vec<Option<Fingerprint>> = (0..400).map(|_| print(&mut rng)).collect();
        let (places, count) = shared_bands(&prints);
        let mut shared = 0;
        for (at, of_band) in places.iter().enumerate() {
            let mut by_hash: HashMap<[u32; BAND], Vec<usize>> = HashMap::new();
            for (i, print) in prints.iter().enumerate() {
                if let Some(print) = print {
                    by_hash.entry([print.0[at], print.0[at + 1]]).or_default().push(i);
                }
            }
            for same in by_hash.values() {
                let number = of_band[same[0]];
                assert_eq!(number.is_some(), same.len() > 1);
                assert!(same.iter().all(|i| of_band[*i] == number));
                shared += usize::from(same.len() > 1);
            }
        }
        assert!(shared > 0 && count == shared, "{shared} shared, {count} numbers");
    }
}
