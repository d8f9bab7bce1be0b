use super::*;
use aske_session::{Domain, Outcome, Pack, Protocol};
use std::sync::Arc;

fn episode(rounds: u32, judge: Judge) -> Episode {
    let protocol = Protocol { rounds, ..Protocol::training() };
    let domain = Domain::math();
    Episode::new(Session::new(protocol, Arc::new(Pack::builtin(&domain)), domain), judge)
}

fn asks(question: &str) -> Reply {
    Reply::text(format!("#Reasoning#\nr\n#Draft#\nd\n#Question#\n{question}"))
}

/// Answers a post as the environment would, with solvers that always say 2.
fn answer(episode: &mut Episode) -> Next {
    let (mut session, used) = episode.state();
    for (call, reply) in episode.submitted_calls() {
        session.feed(call.slot, reply).unwrap();
    }
    while let Pending::Calls(calls) = episode.pending(&session) {
        for call in calls {
            session.feed(call.slot, Reply::text(r"\boxed{2}")).unwrap();
        }
    }
    let grade = Grade {
        outcome: Outcome::TooEasy,
        right: Some([true; 2]),
        undecided: false,
        promoted: false,
        folded: false,
    };
    let over = matches!(session.need(), Need::Done(_));
    episode.complete(session, used, over.then_some(grade))
}

fn step(episode: &mut Episode, submission: Submission) -> Next {
    assert_eq!(episode.submit(submission), Ok(None));
    answer(episode)
}

#[test]
fn turns_follow_each_other_and_the_check_answers_by_itself() {
    let mut episode = episode(1, Judge::Check);
    assert!(matches!(episode.next(), Next::Ask { turn: 1, last: false, max_tokens: 4000, .. }));
    let next = step(&mut episode, Submission::Turn(1, asks("1 + 1?")));
    let Next::Ask { turn: 2, last: true, messages, .. } = next else { panic!("{next:?}") };
    assert!(messages.len() == 4 && messages[3].content.contains(r"\boxed{2}"));
    assert!(episode.finished().is_none());
    assert_eq!(step(&mut episode, Submission::Turn(2, asks("2 + 2?"))), Next::Done);
    let (transcript, _) = episode.finished().unwrap();
    assert_eq!(transcript.check, [Some("2".to_owned())]);
}

#[test]
fn a_trainer_that_judges_is_asked_for_its_answers() {
    let mut episode = episode(0, Judge::Trainer);
    let next = step(&mut episode, Submission::Turn(1, asks("1 + 1?")));
    let Next::Judge { draws: 1, max_tokens: 3000, temperature: 0.0, messages } = next else {
        panic!("{next:?}")
    };
    assert!(messages.last().unwrap().content.contains("1 + 1?"));
    let wrong = episode.submit(Submission::Answers(vec![Reply::text("2"), Reply::text("2")]));
    assert_eq!(wrong, Err(EpisodeError::AnswerCount { found: 2, expected: 1 }));
    let answers = Submission::Answers(vec![Reply::text(r"\boxed{3}")]);
    assert_eq!(step(&mut episode, answers.clone()), Next::Done);
    assert_eq!(episode.finished().unwrap().0.check, [Some("3".to_owned())]);
    assert_eq!(episode.submit(answers), Ok(Some(Next::Done)));
    assert_eq!(episode.submit(Submission::Answers(vec![Reply::text("4")])), Err(EpisodeError::OtherAnswers));
}

#[test]
fn a_repeated_post_gets_the_same_answer_and_another_is_refused() {
    let mut episode = episode(2, Judge::Check);
    let first = Submission::Turn(1, asks("1 + 1?"));
    let next = step(&mut episode, first.clone());
    assert_eq!(episode.submit(first), Ok(Some(next)));
    assert_eq!(episode.submit(Submission::Turn(1, asks("other?"))), Err(EpisodeError::OtherReply(1)));
    assert_eq!(
        episode.submit(Submission::Turn(3, asks("x?"))),
        Err(EpisodeError::WrongTurn { submitted: 3, open: 2 })
    );
    assert_eq!(
        episode.submit(Submission::Answers(Vec::new())),
        Err(EpisodeError::Unexpected("the asker's reply"))
    );
}

#[test]
fn a_post_that_could_not_be_answered_is_taken_again_and_no_other_in_its_place() {
    let mut episode = episode(1, Judge::Check);
    let first = Submission::Turn(1, asks("1 + 1?"));
    assert_eq!(episode.submit(first.clone()), Ok(None));
    // A solver failed here: nothing was answered.
    assert_eq!(episode.submit(Submission::Turn(1, asks("other?"))), Err(EpisodeError::OtherReply(1)));
    assert!(matches!(step(&mut episode, first), Next::Ask { turn: 2, .. }));
}
