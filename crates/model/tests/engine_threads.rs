//! An engine computes on the threads it was given and on no others.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "engine/tiny.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod tiny;

use aske_model::{EngineOptions, GenerationRequest};
use std::collections::BTreeMap;
use std::fs;

/// The threads of this process by name, and the clock ticks that each has used.
fn threads() -> BTreeMap<String, u64> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let named = tasks.map(|task| {
        let stat = fs::read_to_string(task.join("stat")).unwrap();
        let (head, tail) = stat.rsplit_once(") ").unwrap();
        let ticks = tail.split(' ').nth(11).unwrap().parse().unwrap();
        (format!("{} {}", head.split_once('(').unwrap().1, task.display()), ticks)
    });
    named.collect()
}

#[test]
fn only_the_threads_of_the_engine_are_started() {
    let before = threads().len();
    let engine = tiny::engine(&EngineOptions { threads: 2, ..EngineOptions::default() });
    let requests = (0..32).map(|seed| {
        let request = GenerationRequest {
            prompt: vec![9; 20],
            max_tokens: 400,
            seed,
            ignore_eos: true,
            ..GenerationRequest::default()
        };
        engine.generate(request)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let replies = runtime.block_on(futures_util::future::join_all(requests));
    assert!(replies.iter().all(|reply| reply.as_ref().unwrap().tokens.len() == 400));
    let after = threads();
    let own: Vec<u64> =
        after.iter().filter(|(name, _)| name.starts_with("engine-")).map(|(_, ticks)| *ticks).collect();
    assert_eq!((after.len(), own.len()), (before + 2, 2), "{after:?}");
    assert!(own.iter().all(|ticks| *ticks > 0), "both threads work: {after:?}");
}
