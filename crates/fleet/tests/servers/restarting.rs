//! Servers that end by themselves, and plans in phases.

use crate::support::{World, model, plan};
use aske_fleet::{FleetState, Model, ServerError, ServerEvent, SupervisorOptions};
use std::time::Duration;

#[tokio::test]
async fn one_that_dies_is_started_again_with_longer_pauses_and_then_given_up() {
    let world = World::new();
    let mut supervisor = world.up(&[model("crash-0.3"), model("good")], world.options()).await.unwrap();
    let given_up = |event: &ServerEvent| matches!(event, ServerEvent::Failed(name, _) if name == "crash-0.3");
    world.until("it is given up", || world.events_seen.lock().unwrap().iter().any(given_up)).await;
    let told = world.events_seen.lock().unwrap().clone();
    let pauses: Vec<u64> = told
        .iter()
        .filter_map(|event| if let ServerEvent::Exited(_, _, pause) = event { Some(*pause) } else { None })
        .collect();
    // Doubled each time, up to the longest of 80.
    assert_eq!(pauses, [50, 80]);
    let last = ServerError::CrashLoop { times: 3, last: "exit status: 3".to_owned() };
    assert!(told.contains(&ServerEvent::Failed("crash-0.3".to_owned(), last)), "{told:?}");
    assert_eq!(world.count("start", "crash-0.3"), 3);
    // The other one is untouched.
    assert_eq!(supervisor.failed(), ["crash-0.3"]);
    assert_eq!(world.count("start", "good"), 1);
    let state = FleetState::read(&world.path("fleet")).unwrap().unwrap();
    assert!(
        state
            .servers
            .iter()
            .any(|server| server.name == "good" && server.process.as_ref().unwrap().is_alive())
    );
    tokio::select! {
        () = supervisor.all_failed() => panic!("one is still there"),
        () = tokio::time::sleep(Duration::from_millis(50)) => {}
    }
    supervisor.close().await;
    world.nothing_runs();
}

#[tokio::test]
async fn one_that_runs_out_of_memory_now_and_then_is_kept() {
    let world = World::new();
    // Each time it has run for long enough, so that earlier times no longer count.
    let options = SupervisorOptions { stable_after: Duration::from_millis(100), ..world.options() };
    let supervisor = world.up(&[model("leak-0.3")], options).await.unwrap();
    world.until("it has been started four times", || world.count("start", "leak-0.3") >= 4).await;
    let told = world.events_seen.lock().unwrap().clone();
    let ended = |event: &&ServerEvent| matches!(event, ServerEvent::Exited(_, ServerError::OutOfMemory, _));
    assert!(told.iter().filter(ended).count() >= 3, "{told:?}");
    assert!(supervisor.failed().is_empty(), "{told:?}");
    supervisor.close().await;
    world.nothing_runs();
}

#[tokio::test]
async fn a_restarted_server_can_be_waited_for_until_it_fails() {
    let world = World::new();
    let options = SupervisorOptions { restarts: 1, ..world.options() };
    let mut supervisor = world.up(&[model("crash-0.5")], options).await.unwrap();
    let exited = |event: &ServerEvent| matches!(event, ServerEvent::Exited(..));
    world.until("it has exited", || world.events_seen.lock().unwrap().iter().any(exited)).await;
    supervisor.enter(0).await.unwrap();
    assert_eq!(world.count("start", "crash-0.5"), 2);
    let error = supervisor.any_failed().await.to_string();
    let expected = "`crash-0.5` failed: it exited 2 times, last with exit status: 3\n  | RuntimeError: CUDA error: an \
                    illegal memory access was encountered";
    assert_eq!(error, expected);
    assert_eq!(supervisor.enter(0).await.unwrap_err().to_string(), expected);
    supervisor.close().await;
}

#[tokio::test]
async fn phases_follow_each_other_on_one_gpu() {
    let world = World::new();
    let models: Vec<Model> =
        (0..4).map(|at| Model { params: Some(25.0), ..model(&format!("good-{at}")) }).collect();
    let plan = plan(&models, "1x141");
    assert_eq!((plan.phases.len() > 1, plan.loads), (true, 7), "six pairs, two at a time: six and one loads");
    let mut supervisor = world.supervisor(plan.clone(), world.options()).unwrap();
    for phase in 0..plan.phases.len() {
        supervisor.enter(phase).await.unwrap();
        let state = FleetState::read(&world.path("fleet")).unwrap().unwrap();
        let mut there: Vec<String> = state.servers.iter().map(|server| server.name.clone()).collect();
        there.sort();
        let expected: Vec<String> =
            plan.running(phase).iter().map(|placed| plan.servers[placed.server].model.name.clone()).collect();
        assert_eq!(there, expected);
    }
    supervisor.close().await;
    let starts: usize = (0..4).map(|at| world.count("start", &format!("good-{at}"))).sum();
    assert_eq!(starts, plan.loads);
    world.nothing_runs();
}
