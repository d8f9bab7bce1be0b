//! The free askers through whole sessions, with the prompts of every pack.
#![expect(clippy::unwrap_used, reason = "a session that cannot go on is a failure")]

use aske_chat::{ChatRole, Reply};
use aske_nano::{Family, FreeAsker, SessionGenerator, Strategy, TAUGHT_LEVELS, TeacherKind, parse_question};
use aske_session::{Domain, Need, Pack, Protocol, Role, Session, Side, Transcript};
use std::sync::Arc;

/// A solver is right up to a level, and wrong above it.
fn answer(prompt: &str, up_to: impl Fn(Family) -> u32) -> Reply {
    let question = parse_question(prompt.lines().next().unwrap()).unwrap();
    let answer = question.answer().unwrap();
    let right = question.level().unwrap() <= up_to(question.family());
    let given = if right { answer.to_string() } else { format!("{}", answer.numerator() + 100) };
    Reply::text(format!("#Summary#\n\\boxed{{{given}}}\nDone."))
}

fn play(asker: &FreeAsker, pack: &Arc<Pack>, solvers: [&dyn Fn(Family) -> u32; 2], seed: u32) -> Transcript {
    let mut session = Session::new(Protocol::default(), pack.clone(), Domain::math());
    loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => return transcript.clone(),
        };
        for call in calls {
            let prompt = call.messages.last().unwrap().content.clone();
            let reply = match call.slot.role {
                Role::Asker => Reply::text(asker.turn(&call.messages, seed * 10 + call.slot.turn)),
                Role::Solver(side) => answer(&prompt, solvers[side.index()]),
                _ => answer(&prompt, |_| 8),
            };
            session.feed(call.slot, reply).unwrap();
        }
    }
}

/// Of 40 sessions, how many end with exactly one solver right; every turn must be complete.
fn splits(strategy: Strategy, pack: &Arc<Pack>, solvers: [&dyn Fn(Family) -> u32; 2]) -> usize {
    let asker = FreeAsker::new(strategy, pack.clone(), 4, 5);
    let split = |seed| {
        let transcript = play(&asker, pack, solvers, seed);
        assert_eq!(transcript.turns.len(), 5);
        assert!(transcript.turns.iter().all(|turn| turn.question.is_some() && turn.missing.is_empty()));
        let answers = transcript.answers();
        let right = Side::BOTH.map(|side| answers.solvers[side.index()] == answers.check[0]);
        right[0] != right[1]
    };
    (0..40).filter(|seed| split(*seed)).count()
}

fn packs() -> Vec<Arc<Pack>> {
    let nano = Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap();
    vec![Arc::new(nano), Arc::new(Pack::builtin(&Domain::math()))]
}

#[test]
fn the_staircase_finds_the_gap_between_two_solvers_and_blind_questions_do_not() {
    for pack in packs() {
        // Two levels of five lie between them: blind questions split two times in five.
        let solvers: [&dyn Fn(Family) -> u32; 2] = [&|_| 4, &|_| 2];
        let (blind, guided) =
            (splits(Strategy::Fixed, &pack, solvers), splits(Strategy::Staircase, &pack, solvers));
        assert!((6..=26).contains(&blind), "{blind} of 40");
        assert!(guided >= 36, "{guided} of 40");
    }
}

#[test]
fn the_staircase_finds_a_gap_in_one_family_more_often_than_chance() {
    let pack = &packs()[0];
    let strong = |family: Family| if family == Family::Gcd { 5 } else { 3 };
    let solvers: [&dyn Fn(Family) -> u32; 2] = [&strong, &|_| 3];
    // Two cells of 65 split this pair.
    assert!(splits(Strategy::Staircase, pack, solvers) > splits(Strategy::Fixed, pack, solvers));
}

#[test]
fn a_staircase_with_a_new_final_question_never_repeats_a_probe() {
    let solvers: [&dyn Fn(Family) -> u32; 2] = [&|_| 4, &|_| 2];
    for pack in packs() {
        let asker = FreeAsker::new(Strategy::Staircase, pack.clone(), 4, 5);
        let repeated = |asker: &FreeAsker| {
            let repeats = |seed| {
                let turns = play(asker, &pack, solvers, seed).turns;
                let (last, probes) = turns.split_last().unwrap();
                probes.iter().any(|probe| probe.question == last.question)
            };
            (0..40).filter(|seed| repeats(*seed)).count()
        };
        assert!(repeated(&asker) > 20, "the staircase usually repeats the question that separated the pair");
        assert_eq!(repeated(&asker.with_new_final_question()), 0);
    }
}

#[test]
fn a_turn_follows_from_the_conversation_and_the_seed_alone() {
    let pack = &packs()[0];
    let solvers: [&dyn Fn(Family) -> u32; 2] = [&|_| 4, &|_| 2];
    let questions = |seed| {
        let asker = FreeAsker::new(Strategy::Staircase, pack.clone(), 4, 5);
        play(&asker, pack, solvers, seed).turns.into_iter().map(|turn| turn.question).collect::<Vec<_>>()
    };
    assert_eq!(questions(1), questions(1));
    assert_ne!(questions(1), questions(2));
}

#[test]
fn a_novice_is_taught_by_two_teachers_and_an_asker_by_one() {
    let pack = &packs()[0];
    let hard = |teaching| {
        let classroom = SessionGenerator::new(teaching, pack.clone());
        let is_hard = |seed: &u64| {
            let said = classroom.session(*seed);
            let turn = said.into_iter().find(|message| message.role == ChatRole::Assistant).unwrap();
            let (_, question) = turn.content.rsplit_once("#Question#\n").unwrap();
            parse_question(question).unwrap().level().is_none_or(|level| level > TAUGHT_LEVELS)
        };
        (0..400).filter(is_hard).count()
    };
    assert_eq!(hard(TeacherKind::Good), 0);
    // Three of five sessions are blind, and every second blind question is beyond the lessons: 120 of 400, give or take
    // four times the root of 400 · 3/10 · 7/10.
    let mixed = hard(TeacherKind::Mixed);
    assert!((84..=156).contains(&mixed), "{mixed}");
}
