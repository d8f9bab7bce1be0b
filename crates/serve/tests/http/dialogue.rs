//! Whole episodes over HTTP, against scripted solvers.

use crate::support::{World, asks};
use aske_chat::{Finish, Reply};
use aske_record::{STANDARD, read_grades, read_records};
use aske_session::{Need, Outcome, Reward, Role, Session, Side, grade};
use serde_json::{Value, json};

/// The reward of these asker replies through the session machine alone; solver i of the pair answers by its script.
fn by_machine(world: &World, weak: Side, replies: &[String], novelty: f64) -> (Outcome, Reward, Value) {
    let settings = world.layers().settings().unwrap();
    let mut session = Session::new(settings.protocol, settings.pack, settings.domain);
    let mut replies = replies.iter();
    let mut last = Value::Null;
    while let Need::Calls(calls) = session.need() {
        for call in calls {
            let hard = call.messages.last().unwrap().content.contains("hard");
            let reply = match call.slot.role {
                Role::Asker => {
                    last = json!(call.messages);
                    Reply::text(replies.next().unwrap().as_str())
                }
                Role::Solver(side) if side == weak && hard => Reply::text("#Summary#\n\\boxed{1}"),
                _ => Reply::text("#Summary#\n\\boxed{42}"),
            };
            session.feed(call.slot, reply).unwrap();
        }
    }
    let Need::Done(transcript) = session.need() else { unreachable!() };
    let graded = grade(&transcript.answers(), &settings.domain, None).unwrap();
    // The configuration's alpha is 0.5.
    (graded.outcome, Reward::of(graded.outcome, transcript, 0.5 * novelty), last)
}

#[tokio::test]
async fn an_episode_has_the_reward_that_the_session_machine_gives_it() {
    let world = World::new("check");
    let server = world.usual().await;
    for (question, novelty) in [("a hard one", 0.75), ("an easy one", 0.5), ("", 0.0)] {
        // The first turn lacks its sections.
        let replies = ["#Question#\na hard probe".to_owned(), asks(question)];
        let (session, created) = server.create(&json!({ "pair": "strong:weak" })).await;
        assert_eq!((&created["need"], &created["turn"]), (&json!("ask"), &json!(1)));
        assert_eq!((&created["max_tokens"], &created["final"]), (&json!(6000), &json!(false)));
        assert_eq!(created["messages"].as_array().unwrap().len(), 2);
        let next = server.step(&session, 1, &replies[0]).await.body;
        assert_eq!(
            (&next["need"], &next["final"], &next["max_tokens"]),
            (&json!("ask"), &json!(true), &json!(10_000))
        );
        let early = server.get(&format!("/v1/sessions/{session}/reward")).await;
        assert_eq!((early.status, early.body["failure"].is_null()), (409, true));
        let done = server.step(&session, 2, &replies[1]).await;
        assert_eq!(done.body, json!({ "need": "done" }), "{done:?}");
        let told = server.get(&format!("/v1/sessions/{session}/reward?novelty={novelty}")).await.body;
        let weak = if told["solvers"][0] == "weak" { Side::One } else { Side::Two };
        let (outcome, reward, messages) = by_machine(&world, weak, &replies, novelty);
        assert_eq!(next["messages"], messages);
        assert_eq!(told["outcome"], json!(outcome));
        assert_eq!(told["reward"], json!(reward));
        assert_eq!(told["total"], json!(reward.total()));
    }
    server.stop().await;
    // 1 + 0.5 × 0.75 − 0.05 for the first, by the paper's reward; the run folder tells the same.
    let run = world.path().join("run");
    let grades = read_grades(&run, STANDARD).unwrap();
    let outcomes: Vec<Outcome> = grades.iter().map(|line| line.grade.outcome).collect();
    assert_eq!(outcomes, [Outcome::Calibrated, Outcome::TooEasy, Outcome::NoQuestion]);
    let records = read_records(&run).unwrap();
    let samples: Vec<u32> = records.iter().map(|record| record.session().unwrap().sample).collect();
    assert_eq!(samples, [0, 1, 2]);
    assert_eq!(records[0].session().unwrap().used["asker"].calls, 2);
}

#[tokio::test]
async fn where_the_asker_is_its_own_check_the_trainer_judges() {
    let world = World::new("policy");
    let server = world.usual().await;
    let (session, created) = server.create(&json!({})).await;
    assert_eq!(created["judge"], "trainer");
    server.step(&session, 1, &asks("a probe")).await;
    let next = server.step(&session, 2, &asks("a hard one")).await.body;
    assert_eq!(
        (&next["need"], &next["draws"], &next["temperature"]),
        (&json!("judge"), &json!(1), &json!(0.0))
    );
    assert!(next["messages"][1]["content"].as_str().unwrap().contains("a hard one"), "{next}");
    let judge = format!("/v1/sessions/{session}/judge");
    let few = server.post(&judge, &json!({ "answers": [] })).await;
    assert_eq!(few.status, 400, "{few:?}");
    // The policy agrees with the weak solver, so the strong one is wrong: calibrated all the same.
    let answers = json!({ "answers": [{ "content": "\\boxed{1}", "finish_reason": "length" }] });
    assert_eq!(server.post(&judge, &answers).await.body, json!({ "need": "done" }));
    assert_eq!(server.post(&judge, &answers).await.body, json!({ "need": "done" }), "repeated");
    let told = server.get(&format!("/v1/sessions/{session}/reward")).await.body;
    let right = if told["solvers"][0] == "weak" { [true, false] } else { [false, true] };
    assert_eq!(
        (&told["outcome"], &told["right"], &told["check"]),
        (&json!("calibrated"), &json!(right), &json!(["1"]))
    );
    server.stop().await;
    let calls = aske_record::Replies::open(&world.path().join("run")).unwrap();
    let stored = calls.of_record("strong:weak/0").unwrap();
    // Two turns of the asker, two questions to two solvers, one answer of the judge.
    assert_eq!(stored.len(), 2 + 4 + 1);
    let cut = stored.iter().find(|(slot, _)| slot.role == Role::Check).unwrap();
    assert_eq!(cut.1.reply.finish, Finish::Length);
}

#[tokio::test]
async fn a_repeated_step_gets_the_same_answer_and_asks_nobody_again() {
    let world = World::new("check");
    let server = world.usual().await;
    let (session, _) = server.create(&json!({ "pair": "weak:strong", "sample": 3, "seed": 9 })).await;
    // At once: the second waits for the first.
    let (reply, other) = (asks("a probe"), asks("another"));
    let (one, two) = tokio::join!(server.step(&session, 1, &reply), server.step(&session, 1, &reply));
    assert_eq!((one.status, &one.body), (200, &two.body));
    let changed = server.step(&session, 1, &other).await;
    assert_eq!((changed.status, changed.body["failure"].is_null()), (409, true), "{changed:?}");
    assert!(changed.body["hint"].is_string());
    assert_eq!(server.step(&session, 3, &other).await.status, 409);
    let taken = server.post("/v1/sessions", &json!({ "pair": "weak:strong", "sample": 3 })).await;
    assert_eq!(taken.status, 409, "{taken:?}");
    server.stop().await;
    let stored = aske_record::Replies::open(&world.path().join("run")).unwrap();
    assert_eq!(stored.of_record("strong:weak/3").unwrap().len(), 3, "an asker's turn and two answers");
}
