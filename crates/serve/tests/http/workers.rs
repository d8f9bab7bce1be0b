//! One history of questions for all workers, also after a restart.

use crate::support::{Server, World};
use serde_json::{Value, json};

async fn novelty(server: &Server, step: u32, key: Option<&str>, questions: &[&str]) -> (Vec<f64>, u64) {
    let mut body = json!({ "step": step, "questions": questions });
    if let Some(key) = key {
        body["key"] = key.into();
    }
    let said = server.post("/v1/diversity", &body).await;
    assert_eq!(said.status, 200, "{said:?}");
    let each = said.body["novelty"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    (each, said.body["remembered"].as_u64().unwrap())
}

#[tokio::test]
async fn the_history_is_shared_by_all_workers_and_survives_a_restart() {
    let world = World::new("check");
    let server = world.usual().await;
    let same = ["How many primes are below 50?"];
    let calls = (0..8).map(|_| novelty(&server, 1, None, &same));
    let mut all: Vec<f64> =
        futures_util::future::join_all(calls).await.into_iter().flat_map(|(each, _)| each).collect();
    all.sort_by(f64::total_cmp);
    // Whoever came first had nothing to be compared with; all others ask what was asked.
    assert!((all[7] - 1.0).abs() < 1e-9 && all[..7].iter().all(|novelty| novelty.abs() < 1e-6), "{all:?}");
    let keyed = novelty(&server, 2, Some("rank 3"), &["Name a square above 90."]).await;
    assert_eq!(keyed.1, 9);
    server.stop().await;
    let server = world.usual().await;
    assert_eq!(novelty(&server, 2, Some("rank 3"), &["Name a square above 90."]).await, keyed, "repeated");
    let (again, remembered) = novelty(&server, 2, None, &same).await;
    assert!(again[0].abs() < 1e-6 && remembered == 10, "{again:?} {remembered}");
    // A session of before is not known, and its name is not given again.
    let (_, created) = server.create(&json!({})).await;
    assert_eq!(created["sample"], 0);
    server.stop().await;
}
