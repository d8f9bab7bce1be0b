//! The counts: they add up, and they agree with what the clients saw.

mod client;

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use aske_testkit::{Fault, Stats, TestServer, TestServerOptions};
use client::{Client, body};

/// Waits until nothing is in flight: a client that leaves is noticed a moment later.
fn settled(server: &TestServer) -> Stats {
    let start = Instant::now();
    loop {
        let stats = server.stats();
        if stats.in_flight == 0 || start.elapsed() > Duration::from_secs(10) {
            return stats;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn counts_agree_with_the_clients_under_faults() {
    let options = TestServerOptions {
        faults: 0.3,
        fault_seed: 11,
        hang: Duration::from_millis(5),
        ..TestServerOptions::default()
    };
    let server = TestServer::start(options);
    let threads: Vec<_> = (0..4)
        .map(|worker| {
            let address = server.address();
            thread::spawn(move || {
                let mut good = 0;
                for seed in 0..200 {
                    let mut client = Client::connect(address);
                    if let Ok(reply) = client.chat(&body("solver-50", "What is 1 + 2?", worker * 100 + seed))
                    {
                        good += u64::from(reply.status == 200 && reply.text().contains("boxed"));
                    }
                }
                good
            })
        })
        .collect();
    let good: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let stats = settled(&server);
    assert_eq!(stats.requests, 800);
    assert_eq!(stats.per_model["solver-50"], 800);
    assert_eq!(stats.good, good);
    assert_eq!(stats.good, stats.distinct_good + stats.repeated_good);
    assert_eq!(stats.requests, stats.good + stats.faults_total());
    assert!(stats.repeated_good > 0 && stats.distinct_good <= 500, "{stats:?}");
    let kinds: HashSet<String> = stats.faults.into_keys().collect();
    assert_eq!(kinds, Fault::all().iter().map(|fault| fault.name()).collect());
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let statuses = |fault_seed| {
        let only_fault = Some(Fault::Status503);
        let server = TestServer::start(TestServerOptions {
            faults: 0.5,
            fault_seed,
            only_fault,
            ..TestServerOptions::default()
        });
        let mut client = Client::new(&server);
        (0..64).map(|_| client.chat(&body("asker", "Go", 1)).unwrap().status).collect::<Vec<_>>()
    };
    assert_eq!(statuses(1), statuses(1));
    assert_ne!(statuses(1), statuses(2));
    assert!(statuses(1).contains(&200) && statuses(1).contains(&503));
}

#[test]
fn requests_in_flight_are_counted_and_lost_ones_are_told() {
    let server = TestServer::start(TestServerOptions {
        latency: Duration::from_millis(300),
        ..TestServerOptions::default()
    });
    let mut clients: Vec<Client> = (0..40).map(|_| Client::new(&server)).collect();
    for (client, seed) in clients.iter_mut().zip(0..) {
        client.send_chat(&body("asker", "Go", seed)).unwrap();
    }
    while server.stats().in_flight < 40 {
        thread::sleep(Duration::from_millis(2));
    }
    drop(clients);
    let stats = settled(&server);
    assert_eq!((stats.in_flight_max, stats.lost, stats.good), (40, 40, 0));
}

#[test]
fn the_dump_has_every_body_on_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.jsonl");
    let server =
        TestServer::start(TestServerOptions { dump: Some(path.clone()), ..TestServerOptions::default() });
    let mut client = Client::new(&server);
    let bodies = [body("asker", "Go\non", 1), body("check", "What is 1 + 1?", 2)];
    for body in &bodies {
        client.chat(body).unwrap();
    }
    client.chat("{\n}").unwrap();
    let stats = server.stop().unwrap();
    assert_eq!((stats.requests, stats.good, stats.refused), (3, 2, 1));
    let expected = format!("{}\n{}\n{{ }}\n", bodies[0], bodies[1]);
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let first = TestServer::start(TestServerOptions::default());
    let options = TestServerOptions { port: first.address().port(), ..TestServerOptions::default() };
    let error = TestServer::try_start(options).err().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    let dump = Some("/nonexistent/folder/dump".into());
    let error =
        TestServer::try_start(TestServerOptions { dump, ..TestServerOptions::default() }).err().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}
