//! Servers that come up, and those that do not.

use crate::support::{World, model};
use aske_chat::Hint;
use aske_fleet::{FleetError, FleetState, Model, ServerError, ServerEvent, ServerStatus, SupervisorOptions};
use std::time::Duration;

#[tokio::test]
async fn servers_start_one_after_the_other_on_a_gpu_and_are_warm() {
    let world = World::new();
    let models = [model("good-1"), model("slow-1"), model("good-2")];
    let supervisor = world.up(&models, world.options()).await.unwrap();
    let state = FleetState::read(&world.path("fleet")).unwrap().unwrap();
    assert!(state.servers.iter().all(|server| server.status == ServerStatus::Ready));
    assert!(state.servers.iter().all(|server| server.process.as_ref().unwrap().is_alive()));
    for name in ["good-1", "slow-1", "good-2"] {
        assert_eq!((world.count("start", name), world.count("answer", name)), (1, 1), "{name}");
    }
    let first = &world.events()[0];
    assert_eq!(first["gpus"], "0");
    assert!(first["arguments"].as_array().unwrap().contains(&"--gpu-memory-utilization".into()));
    supervisor.close().await;
    world.nothing_runs();
    assert!(FleetState::read(&world.path("fleet")).unwrap().is_none());
}

/// The one error of a fleet with this model.
async fn error(world: &World, hub: &str, options: SupervisorOptions) -> FleetError {
    let Err(error) = world.up(&[model("good"), model(hub)], options).await else { panic!("{hub} came up") };
    world.nothing_runs();
    error
}

fn cause(error: &FleetError) -> &ServerError {
    let FleetError::Server { source, .. } = error else { panic!("{error}") };
    source
}

#[tokio::test]
async fn one_that_refuses_its_arguments_is_not_tried_again() {
    let world = World::new();
    let error = error(&world, "refuse", world.options()).await;
    assert_eq!(*cause(&error), ServerError::InvalidArguments);
    assert_eq!(world.count("start", "refuse"), 1);
    let text = error.to_string();
    assert!(text.starts_with("`refuse` failed: it rejected its arguments\n  | "), "{text}");
    assert!(text.contains("unrecognized arguments: --nonsense"), "{text}");
    assert!(error.hint().unwrap().contains("--flag"));
}

#[tokio::test]
async fn one_that_runs_out_of_memory_is_tried_once_more() {
    let world = World::new();
    let error = error(&world, "oom", world.options()).await;
    assert_eq!(*cause(&error), ServerError::OutOfMemory);
    assert_eq!(world.count("start", "oom"), 2);
    assert!(error.to_string().contains("CUDA out of memory"), "{error}");
    assert!(error.hint().unwrap().contains("--sequences"));
}

#[tokio::test]
async fn one_that_may_not_be_downloaded_asks_for_a_token() {
    let world = World::new();
    let error = error(&world, "gated", world.options()).await;
    assert_eq!((cause(&error), world.count("start", "gated")), (&ServerError::AccessDenied, 1));
    assert!(error.hint().unwrap().contains("HF_TOKEN"));
}

#[tokio::test]
async fn one_without_a_model_or_with_too_long_a_context_is_not_tried_again() {
    for (hub, expected, line, hint) in [
        ("missing", ServerError::ModelNotFound, "Invalid repository ID or local directory", "config.json"),
        ("long", ServerError::ContextTooLong, "User-specified max_model_len (4096) is greater", "--length"),
    ] {
        let world = World::new();
        let error = error(&world, hub, world.options()).await;
        assert_eq!((cause(&error), world.count("start", hub)), (&expected, 1));
        // The cause is quoted, not the end of the log.
        let text = error.to_string();
        assert!(text.contains(line) && !text.contains("shutting down"), "{text}");
        assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
    }
}

#[tokio::test]
async fn one_that_is_never_ready_is_late() {
    let world = World::new();
    let options = SupervisorOptions { ready_within: Duration::from_secs(3), ..world.options() };
    let error = error(&world, "never", options).await;
    assert_eq!(*cause(&error), ServerError::NotReady(3));
    assert!(error.hint().unwrap().contains("--ready-minutes"));
}

#[tokio::test]
async fn one_that_cannot_chat_is_mute() {
    let world = World::new();
    let error = error(&world, "mute", world.options()).await;
    assert!(error.to_string().contains("status 400: {\"error\": \"no chat template\"}"), "{error}");
}

#[tokio::test]
async fn one_that_fails_once_comes_up_at_the_second_try() {
    let world = World::new();
    let supervisor = world.up(&[model("once")], world.options()).await.unwrap();
    let told = world.events_seen.lock().unwrap().clone();
    let ended = |event: &ServerEvent| matches!(event, ServerEvent::Exited(_, ServerError::Exited(status), 50) if status == "exit status: 1");
    assert!(told.iter().any(ended), "{told:?}");
    assert_eq!(world.count("start", "once"), 2);
    supervisor.close().await;
    world.nothing_runs();
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let world = World::new();
    let options = SupervisorOptions { program: "/no/such/vllm".into(), ..world.options() };
    let Err(error) = world.up(&[model("good")], options).await else { panic!("it came up") };
    assert!(error.to_string().starts_with("`good` failed: cannot start /no/such/vllm: "), "{error}");
    assert!(error.hint().unwrap().contains("--vllm"));
}

#[tokio::test]
async fn a_port_of_another_program_is_left_alone() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let models: [Model; 1] = [model("good")];
    let gpus = "1x141".parse().unwrap();
    let plan =
        aske_fleet::Plan::new(&models, &[], gpus, &[], port, aske_fleet::SearchBudget::default()).unwrap();
    let mut supervisor = world.supervisor(plan, world.options()).unwrap();
    let error = supervisor.enter(0).await.unwrap_err();
    assert_eq!(*cause(&error), ServerError::PortInUse(port));
    supervisor.close().await;
    assert_eq!(world.count("start", "good"), 0);
}
