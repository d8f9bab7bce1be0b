//! Ending: all of it, and nothing else.

use crate::support::{World, model, plan};
use aske_chat::Hint;
use aske_fleet::{FleetError, FleetState, ProcessIdentity, SupervisorOptions, down};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

#[tokio::test]
async fn one_that_does_not_listen_and_what_it_started_end_too() {
    let world = World::new();
    let options = SupervisorOptions { grace: Duration::from_secs(1), ..world.options() };
    let supervisor = world.up(&[model("stubborn"), model("parent")], options).await.unwrap();
    supervisor.close().await;
    world.nothing_runs();
}

/// A fleet whose supervisor is gone without a word, as after a power cut of its terminal.
fn orphaned(world: &World, hubs: &[&str]) -> FleetState {
    let models: Vec<_> = hubs.iter().map(|hub| model(hub)).collect();
    std::thread::scope(|scope| {
        let keep = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            std::mem::forget(runtime.block_on(world.up(&models, world.options())).unwrap());
        };
        scope.spawn(keep).join().unwrap();
    });
    let mut state = FleetState::read(&world.path("fleet")).unwrap().unwrap();
    // This process goes on, so the file must not name it.
    state.supervisor = ProcessIdentity { pid: std::process::id(), started: "another time".to_owned() };
    write(world, &state);
    state
}

fn write(world: &World, state: &FleetState) {
    std::fs::write(world.path("fleet/state.json"), serde_json::to_vec(state).unwrap()).unwrap();
}

#[tokio::test]
async fn down_ends_what_a_lost_keeper_has_started() {
    let world = World::new();
    orphaned(&world, &["good", "parent"]);
    let other = world.supervisor(plan(&[model("good")], "1x141"), world.options());
    assert!(matches!(other, Err(FleetError::OrphanedServers { .. })));
    let mut stopped = down(&world.path("fleet"), Duration::from_secs(2)).await.unwrap();
    stopped.sort();
    assert_eq!(stopped, ["good", "parent"]);
    world.until("all have ended", || world.running().is_empty()).await;
    assert!(down(&world.path("fleet"), Duration::from_secs(1)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_number_that_came_back_is_left_alone() {
    let world = World::new();
    let mut stranger = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
    // Beginnings are told in hundredths of a second.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut state = orphaned(&world, &["good"]);
    let real = state.clone();
    // The number of our server now belongs to somebody else.
    let server = &mut state.servers[0];
    server.process =
        Some(ProcessIdentity { pid: stranger.id(), started: server.process.clone().unwrap().started });
    write(&world, &state);
    down(&world.path("fleet"), Duration::from_secs(1)).await.unwrap();
    assert!(stranger.try_wait().unwrap().is_none(), "a stranger was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    write(&world, &real);
    down(&world.path("fleet"), Duration::from_secs(2)).await.unwrap();
    world.until("ours has ended", || world.running().is_empty()).await;
}

#[tokio::test]
async fn a_second_fleet_in_the_same_folder_is_refused() {
    let world = World::new();
    let supervisor = world.up(&[model("good")], world.options()).await.unwrap();
    let Err(error) = world.supervisor(plan(&[model("good")], "1x141"), world.options()) else {
        panic!("two fleets")
    };
    assert!(error.to_string().contains("already runs from this folder"), "{error}");
    assert!(error.hint().unwrap().contains("aske fleet down"));
    supervisor.close().await;
}

#[tokio::test]
async fn servers_that_are_tied_end_with_the_process_that_started_them() {
    let world = World::new();
    let options = SupervisorOptions { kill_on_exit: true, grace: Duration::from_secs(1), ..world.options() };
    let models = [model("good"), model("stubborn"), model("parent")];
    std::thread::scope(|scope| {
        let keep = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            std::mem::forget(runtime.block_on(world.up(&models, options)).unwrap());
            // Each server has noted its start and an answer, and one its child.
            assert_eq!(world.running().len(), 7);
        };
        // Nobody stops them: what is dropped with the runtime is the end of the pipe.
        scope.spawn(keep).join().unwrap();
    });
    world.until("all have ended", || world.running().is_empty()).await;
}
