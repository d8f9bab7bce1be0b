//! Where the metrics of a training are reported: event files, and the clients of other trackers.

use crate::common::{Ran, World};
use crate::{killed, small, tiny};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Each tag's values by step.
type Series = BTreeMap<String, Vec<(u64, f32)>>;

/// CRC-32C by polynomial division, most significant bit first, of the reflected bytes.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for byte in bytes {
        remainder ^= u32::from(byte.reverse_bits()) << 24;
        for _ in 0..8 {
            let carry = remainder >> 31;
            remainder = (remainder << 1) ^ (carry * 0x1edc_6f41);
        }
    }
    !remainder.reverse_bits()
}

/// The fields of a protocol buffer message: number, and bytes; varints and fixed numbers as little-endian bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(message: &mut &[u8]) -> u64 {
        let end = message.iter().position(|byte| byte & 0x80 == 0).unwrap();
        let (number, rest) = message.split_at(end + 1);
        *message = rest;
        number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let bytes = match tag & 7 {
            0 => varint(&mut message).to_le_bytes().to_vec(),
            wire_type => {
                let length = match wire_type {
                    1 => 8,
                    2 => usize::try_from(varint(&mut message)).unwrap(),
                    5 => 4,
                    other => panic!("wire type {other}"),
                };
                let (bytes, rest) = message.split_at(length);
                message = rest;
                bytes.to_vec()
            }
        };
        found.push((tag >> 3, bytes));
    }
    found
}

/// The bytes of each field with this number.
fn all(message: &[u8], number: u64) -> Vec<Vec<u8>> {
    fields(message).into_iter().filter(|(at, _)| *at == number).map(|(_, bytes)| bytes).collect()
}

/// Reads the only event file of a training: its scalars, and its texts.
fn events(folder: &Path) -> (Series, BTreeMap<String, String>) {
    let folder = folder.join("tensorboard");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("events.out.tfevents."), "{name}");
    let bytes = std::fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let (mut series, mut texts) = (Series::new(), BTreeMap::new());
    let mut first = true;
    while !rest.is_empty() {
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let mask = |crc: u32| crc.rotate_right(15).wrapping_add(0xa282_ead8);
        let length = usize::try_from(u64::from_le_bytes(rest[..8].try_into().unwrap())).unwrap();
        assert_eq!(number(&rest[8..12]), mask(crc32c(&rest[..8])));
        let event = &rest[12..12 + length];
        assert_eq!(number(&rest[12 + length..16 + length]), mask(crc32c(event)));
        rest = &rest[16 + length..];
        let version = all(event, 3);
        assert_eq!(version.first().map(Vec::as_slice), first.then_some(&b"brain.Event:2"[..]));
        first = false;
        let time = f64::from_le_bytes(all(event, 1)[0].as_slice().try_into().unwrap());
        assert!(time > 1.7e9, "{time}");
        let step = u64::from_le_bytes(all(event, 2)[0].as_slice().try_into().unwrap());
        for value in all(event, 5).iter().flat_map(|summary| all(summary, 1)) {
            let tag = String::from_utf8(all(&value, 1).remove(0)).unwrap();
            if let Some(scalar) = all(&value, 2).first() {
                let scalar = f32::from_le_bytes(scalar.as_slice().try_into().unwrap());
                series.entry(tag).or_default().push((step, scalar));
            } else {
                let text = all(&all(&value, 8)[0], 8).remove(0);
                texts.insert(tag, String::from_utf8(text).unwrap());
            }
        }
    }
    (series, texts)
}

/// A metric of `metrics.jsonl`, in single precision.
fn stored(world: &World, run: &str, key: &str) -> Vec<(u64, f32)> {
    let text = world.read(&format!("{run}/seed-0/metrics.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    #[expect(clippy::cast_possible_truncation, reason = "event files have single precision")]
    let point = |line: Value| (line["step"].as_u64().unwrap(), line[key].as_f64().unwrap() as f32);
    lines.map(point).collect()
}

#[test]
fn the_checksum_of_this_reader_is_crc32c() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn the_event_file_has_each_step_once_after_a_kill_and_an_extension() {
    let world = World::new();
    killed(&world, &small(&["--steps", "6", "--run", "a"]), "a", 20, 3);
    let old = world.path("a/seed-0/tensorboard/events.out.tfevents.0000000001.aske");
    std::fs::write(&old, b"of an earlier start").unwrap();
    std::fs::write(world.path("a/seed-0/tensorboard/.keep"), b"").unwrap();
    world.expect(0, &small(&["--steps", "6", "--run", "a"]));
    // Files of others are left alone.
    std::fs::remove_file(world.path("a/seed-0/tensorboard/.keep")).unwrap();
    world.expect(0, &small(&["--steps", "7", "--run", "a"]));
    let (series, texts) = events(&world.path("a/seed-0"));
    for (tag, key) in [
        ("reward/mean", "reward"),
        ("outcome/calibrated", "calibrated"),
        ("watch/oracle_agreement", "truth"),
        ("tokens/total", "read"),
        ("loss/policy", "loss"),
        ("time/step_s", "step_s"),
    ] {
        assert_eq!(series[tag], stored(&world, "a", key), "{tag}");
        assert_eq!(series[tag].iter().map(|(step, _)| *step).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    }
    assert!(texts["config"].contains("train.learning_rate = 0.0003"), "{texts:?}");
    assert!(texts["config"].contains("models.nano-15k.") && !texts["config"].contains("gpt"), "{texts:?}");
}

#[test]
fn an_event_file_that_cannot_be_written_is_reported_and_ends_nothing() {
    let world = World::new();
    std::fs::create_dir_all(world.path("a/seed-0")).unwrap();
    std::fs::write(world.path("a/seed-0/tensorboard"), b"a file").unwrap();
    let ran = world.expect(0, &tiny(&["--steps", "2", "--run", "a"]));
    assert_eq!(ran.stderr.matches("training continues").count(), 1, "{ran}");
    assert!(ran.stderr.contains("tensorboard: "), "{ran}");
    assert_eq!(stored(&world, "a", "reward").len(), 2);
}

/// A stand-in for Python, as a shell script.
fn stand_in(world: &World, script: &str) -> String {
    let path = world.path("python");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    format!("train.tracker_python={}", path.display())
}

/// Trains two steps with this stand-in as the client of W&B.
fn train_with(world: &World, script: &str, key: &str) -> Ran {
    let python = stand_in(world, script);
    let flags = ["-o", "train.report_to=wandb", "-o", &python, "-o", "train.tracker_timeout_s=2"];
    let arguments = tiny(&[&["--steps", "2", "--run", "a"], &flags[..]].concat());
    let mut command = world.command(&arguments);
    crate::common::finish(crate::common::start(command.env("WANDB_API_KEY", key)))
}

/// The third argument is `check` before a training and `run` in it.
const CHECKED: &str = "[ \"$3\" = check ] && exit 0";

#[test]
fn a_tracker_that_crashes_hangs_or_prints_garbage_is_reported_once_and_ends_nothing() {
    // What never answers is noticed at a step or at the end, by how long the steps take.
    let scripts = [
        ("exit 1", "exit status: 1"),
        ("cat > /dev/null; exit 3", "exit status: 3|no answer for 2 s"),
        ("echo \"bad key $WANDB_API_KEY\" >&2; exec 0<&-; exit 1", "bad key ***"),
        ("exec sleep 600", "did not finish within 2 s|no answer for 2 s"),
        ("yes no | head -c 3000000; exec yes >&2", "wandb: y; training continues"),
        ("head -c 3000000 /dev/zero >&2; exit 1", "training continues"),
        (
            "echo '{\"failed\": \"no network for hunter2-hunter2\"}'; cat > /dev/null; exit 1",
            "no network for ***",
        ),
    ];
    for (script, said) in scripts {
        let world = World::new();
        let begun = Instant::now();
        let ran = train_with(&world, &format!("{CHECKED}\n{script}"), "hunter2-hunter2").ended(0);
        assert!(begun.elapsed() < Duration::from_mins(1), "{script}");
        assert_eq!(ran.stderr.matches("wandb: ").count(), 1, "{script}: {ran}");
        let said = said.split('|').any(|said| ran.stderr.contains(said));
        assert!(said && ran.stderr.contains("training continues"), "{script}: {ran}");
        assert!(!ran.stderr.contains("hunter2"), "{script}: {ran}");
        assert_eq!(stored(&world, "a", "reward").len(), 2, "{script}");
    }
}

#[test]
fn a_tracker_that_cannot_be_used_is_refused_before_anything_is_asked() {
    let cases = [
        ("exit 3", "no package wandb", "-m pip install wandb"),
        ("echo 'no API key for hunter2-hunter2' >&2; exit 1", "no API key for ***", "train.report_to"),
        ("exec sleep 600", "did not end within 2 s", "train.report_to"),
    ];
    for (script, said, hint) in cases {
        let world = World::new();
        let ran = train_with(&world, script, "hunter2-hunter2").ended(2);
        assert!(ran.stderr.contains(said) && ran.stderr.contains("hint: "), "{ran}");
        assert!(ran.stderr.contains(hint) && !world.path("a").exists(), "{ran}");
    }
    let world = World::new();
    for (key, value, said) in [
        ("tracker_python", "/no/python", "/no/python does not start"),
        ("report_to", "comet", "hint: known here: tensorboard, wandb, mlflow, trackio"),
        ("tracker_timeout_s", "0", "must be above 0"),
    ] {
        let given = format!("train.{key}={value}");
        let flags = ["--steps", "1", "--run", "a", "-o", "train.report_to=[\"wandb\"]", "-o", &given];
        let ran = world.expect(2, &tiny(&flags));
        assert!(ran.stderr.contains(said), "{given}: {ran}");
    }
    // Always written, so there is nothing to check.
    world.expect(0, &tiny(&["--steps", "1", "--run", "a", "-o", "train.report_to=tensorboard"]));
}

/// Packages that write every call to a file instead of sending it.
const TRACKIO: &str = r#"
import json, os
def write(*call):
    with open(os.environ["CALLS"], "a") as file:
        file.write(json.dumps(call) + "\n")
class Run:
    def log(self, metrics, step):
        if step == 2 and not os.path.exists(os.environ["CALLS"] + ".failed"):
            open(os.environ["CALLS"] + ".failed", "w")
            raise ConnectionError("the network is down")
        write("log", step, metrics)
    def finish(self):
        write("finish")
def init(**arguments):
    config = arguments.pop("config")
    write("init", arguments, config["train.learning_rate"])
    return Run()
"#;

#[test]
fn a_tracker_gets_each_step_once_in_one_run_however_often_the_training_starts() {
    let world = World::new();
    std::fs::create_dir(world.path("packages")).unwrap();
    world.write("packages/trackio.py", TRACKIO);
    let train = |arguments: &[&str]| {
        let arguments = [&tiny(&["--run", "a", "-o", "train.report_to=trackio"]), arguments].concat();
        let mut command = world.command(&arguments);
        command.env("PYTHONPATH", world.path("packages")).env("CALLS", world.path("calls"));
        command.env_remove("TRACKIO_PROJECT");
        crate::common::finish(crate::common::start(&mut command)).ended(0)
    };
    let ran = train(&["--steps", "3"]);
    // The step that failed was sent again with the next one.
    assert!(
        ran.stderr.contains("trackio: ConnectionError: the network is down; training continues"),
        "{ran}"
    );
    assert!(ran.stderr.contains("trackio: run a-seed-0-"), "{ran}");
    train(&["--steps", "4"]);
    // Nothing is new, so no run is opened.
    train(&["--steps", "4"]);
    let text = world.read("calls");
    let calls: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| calls.iter().filter(|call| call[0] == name).collect::<Vec<_>>();
    let steps: Vec<u64> = named("log").iter().map(|call| call[1].as_u64().unwrap()).collect();
    assert_eq!((steps, named("finish").len()), (vec![1, 2, 3, 4], 2), "{text}");
    let [first, second] = named("init")[..] else { panic!("{text}") };
    assert_eq!(first, second);
    assert_eq!(
        (&first[1]["project"], &first[1]["group"], &first[2]),
        (&"aske".into(), &"a".into(), &3e-4.into())
    );
    let rewards = stored(&world, "a", "reward");
    let given: Vec<f64> = named("log").iter().map(|call| call[2]["reward/mean"].as_f64().unwrap()).collect();
    #[expect(clippy::cast_possible_truncation, reason = "event files have single precision")]
    let given: Vec<(u64, f32)> = (1..).zip(given.into_iter().map(|reward| reward as f32)).collect();
    assert_eq!(given, rewards);
}
