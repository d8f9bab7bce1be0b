//! A run that is killed again and again loses nothing that was stored, and pays for nothing twice.
#![cfg(unix)]

mod common;

use common::{Config, World, server, settled, wait_until};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const KILLS: usize = 20;
/// Decides the moments of the kills.
const SEED: u64 = 7;
/// Sessions in flight at most; the final turn of each has two solvers and three cross-checks under way.
const SESSIONS_AT_ONCE: u32 = 6;
const CALLS_AT_ONCE: u64 = SESSIONS_AT_ONCE as u64 * 5;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

#[test]
fn a_run_killed_twenty_times_ends_as_if_nothing_had_happened() {
    let calm = server(0);
    let config = Config { rounds: 4, samples: 8, ..Config::new(&calm, &[10, 30, 50, 70, 90, 100]) };
    let undisturbed = World::with(&config);
    undisturbed.expect(0, &["bench", "--run", "run"]);
    let expected = undisturbed.folder("run");
    assert_eq!(expected.records().len(), config.sessions());
    let calls = calm.stats().good;
    assert_eq!(expected.stored(), calls);

    let server = server(4);
    let config = Config { urls: vec![server.url()], concurrency: SESSIONS_AT_ONCE, ..config };
    let world = World::with(&config);
    let folder = world.folder("run");
    let mut dice = Dice(SEED);
    let (mut lost, mut kept) = (0, folder.replies());
    for kill in 1..=KILLS {
        let context = format!("kill {kill} of {KILLS}, seed {SEED}");
        let mut child = world
            // A probe is never repeated: each has another seed.
            .command(&["bench", "--run", "run", "--no-probe"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // One in four dies by the clock, perhaps before it has begun; the others after some more replies, so
        // that a slow machine does not move all kills to the beginning, nor a quick one beyond the end.
        if dice.below(4) > 0 {
            let target = server.stats().good + 1 + dice.below(calls / 25);
            wait_until(&context, || {
                assert_eq!(child.try_wait().unwrap(), None, "the run ended before {context}");
                server.stats().good >= target
            });
        }
        thread::sleep(Duration::from_micros(dice.below(20_000)));
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before {context}");
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "{context}");

        let now = folder.replies();
        for (place, reply) in &kept {
            assert_eq!(now.get(place), Some(reply), "{place:?} was stored before {context}");
        }
        let good = settled(&server).good;
        let lost_before = lost;
        lost =
            good.checked_sub(now.len() as u64).unwrap_or_else(|| panic!("{context}: a reply from nowhere"));
        assert!(lost >= lost_before, "{context}: {lost_before} replies were lost before, {lost} now");
        assert!(
            lost - lost_before <= CALLS_AT_ONCE,
            "{context}: {} replies lost, and {CALLS_AT_ONCE} were in flight at most",
            lost - lost_before
        );
        kept = now;
    }
    world.expect(0, &["bench", "--run", "run"]);

    assert_eq!(folder.records().len(), config.sessions(), "every session once; seed {SEED}");
    assert_eq!(folder.grades(), expected.grades(), "seed {SEED}");
    assert_eq!(folder.records(), expected.records(), "seed {SEED}");
    assert_eq!(folder.replies(), expected.replies(), "seed {SEED}");
    // A reply on its way when the process died is asked for again; one that was stored never is.
    let stats = settled(&server);
    assert_eq!(stats.good, folder.stored() + lost, "seed {SEED}");
    assert_eq!(stats.distinct_good, folder.stored(), "seed {SEED}");
    assert_eq!(stats.repeated_good, lost, "seed {SEED}");
    assert!(lost > 0, "no kill met a call in flight, so this showed nothing; seed {SEED}");
    let after = world.expect(0, &["bench", "--run", "run"]);
    assert!(after.stderr.contains("all finished before"), "{after}");
    assert_eq!(server.stats().requests, stats.requests);
}

#[test]
fn lines_torn_by_a_crash_are_made_again_from_the_stored_replies() {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 50, 80]));
    world.expect(0, &["bench", "--run", "run"]);
    let folder = world.folder("run");
    let (records, grades) = (folder.records(), folder.grades());
    for (name, whole) in [("run/records.jsonl", 3), ("run/grades/standard.jsonl", 1)] {
        let text = world.read(name);
        let mut lines = text.split_inclusive('\n');
        let kept: String = lines.by_ref().take(whole).collect();
        let torn = lines.next().unwrap();
        world.write(name, &format!("{kept}{}", &torn[..torn.len() / 2]));
    }
    let requests = server.stats().requests;
    world.expect(0, &["bench", "--run", "run"]);
    assert_eq!(folder.records(), records);
    assert_eq!(folder.grades(), grades);
    assert_eq!(server.stats().requests, requests, "nothing is asked again");
}
