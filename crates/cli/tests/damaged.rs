//! Folders that are damaged, read-only or made to do harm: told with their reason, in bounded time, and without
//! keeping the others from being read.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up what it damages has failed")]

mod common;

use common::{Config, Ran, World, finish, server, wait_until};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Nothing that is refused may take longer, on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(20);

fn world() -> World {
    let server = server(0);
    let world = World::with(&Config::new(&server, &[20, 50, 80]));
    world.expect(0, &["bench", "--run", "good"]);
    world
}

fn copy(world: &World, into: &str) {
    let copied = Command::new("cp").arg("-r").arg(world.path("good")).arg(world.path(into)).status().unwrap();
    assert!(copied.success());
}

/// Runs the program to its end, which must come soon.
fn soon(world: &World, code: i32, arguments: &[&str]) -> Ran {
    let begun = Instant::now();
    let ran = world.expect(code, arguments);
    assert!(begun.elapsed() < AT_ONCE, "{arguments:?} took {:?}", begun.elapsed());
    ran
}

/// The program as a user who may write nothing of this folder.
fn read_only(world: &World, folder: &str, arguments: &[&str]) -> Ran {
    let set = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    set(&world.path(""), 0o755);
    for path in world.folder(folder).files() {
        set(&path, 0o444);
    }
    set(&world.path(folder).join("grades"), 0o555);
    set(&world.path(folder), 0o555);
    let program = world.command(arguments);
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = if root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(program.get_program()).args(program.get_args()).current_dir(world.path(""));
        command
    } else {
        program
    };
    let ran = finish(common::start(&mut command));
    set(&world.path(folder).join("grades"), 0o755);
    set(&world.path(folder), 0o755);
    ran
}

#[test]
fn one_damaged_folder_does_not_stop_the_report_on_the_others() {
    let world = world();
    copy(&world, "bad");
    let records = world.read("bad/records.jsonl");
    world.write("bad/records.jsonl", &format!("{{\n{records}"));
    let ran = world.expect(1, &["report", "bad", "good"]);
    assert!(ran.stdout.contains("calibrated (95%"), "the good one is shown: {ran}");
    assert!(ran.stderr.contains("not shown: bad\nerror: bad/records.jsonl:1: "), "{ran}");
    assert!(ran.stderr.contains("`aske repair` with this folder"), "{ran}");
    let told = world.expect(1, &["report", "good", "bad", "nothing", "--json"]).json();
    assert_eq!(told["runs"].as_array().unwrap().len(), 1);
    assert_eq!(told["damaged"][0]["run"], json!("bad"));
    assert_eq!(told["damaged"][1]["error"], json!("nothing does not exist"));
    world.expect(1, &["report", "good", "bad", "--html", "page.html"]);
    assert!(world.path("page.html").exists());
    world.expect(2, &["report", "bad"]);
    world.expect(2, &["report", "bad", "nothing"]);
    world.expect(0, &["repair", "bad"]);
    world.expect(0, &["report", "bad", "good"]);
}

#[test]
fn a_run_whose_stored_replies_are_damaged_is_shown_with_that_reason() {
    let world = world();
    copy(&world, "bad");
    let calls = world.path("bad/calls.sqlite");
    let mut bytes = std::fs::read(&calls).unwrap();
    bytes[100..4000].fill(0xaa);
    std::fs::write(&calls, bytes).unwrap();
    let ran = world.expect(1, &["report", "bad", "good"]);
    assert!(ran.stderr.contains("stored replies cannot be read: bad/calls.sqlite: "), "{ran}");
    let told = world.expect(1, &["report", "bad", "good", "--json", "--html", "page.html"]).json();
    assert_eq!(told["runs"][0]["outcomes"], told["runs"][1]["outcomes"]);
    assert!(told["runs"][0]["trouble"].as_str().unwrap().contains("malformed"));
    assert_eq!(told["runs"][1]["trouble"], json!(null));
}

#[test]
fn the_viewer_shows_the_others_and_says_what_is_wrong_with_one() {
    use std::io::{BufRead, BufReader, Read, Write};
    let world = world();
    copy(&world, "bad");
    let whole = world.read("bad/records.jsonl");
    world.write("bad/records.jsonl", "nothing\n");
    let mut child = world.start(&["view", "bad", "good", "--port", "0"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let runs = || {
        let mut socket = std::net::TcpStream::connect(&address).unwrap();
        write!(socket, "GET /api/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        serde_json::from_str::<serde_json::Value>(&body.unwrap_or_default()).unwrap_or(json!(null))
    };
    let shown = runs();
    let trouble = shown["runs"][0]["trouble"].as_str().unwrap_or_default().to_owned();
    let good = shown["runs"][1]["sessions"].clone();
    // Once it is mended it is shown, without a new start.
    world.write("bad/records.jsonl", &whole);
    wait_until("the mended folder is shown", || runs()["runs"][0]["sessions"] == json!(6));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(trouble.starts_with("bad/records.jsonl:1: ") && trouble.contains("aske repair"), "{shown}");
    assert_eq!(good, json!(6), "{shown}");
}

#[test]
fn a_read_only_folder_is_read() {
    let world = world();
    let usual = world.expect(0, &["report", "good", "--json"]).json();
    let ran = read_only(&world, "good", &["report", "good", "--json"]).ended(0);
    assert_eq!(ran.json(), usual);
    std::fs::create_dir(world.path("out")).unwrap();
    std::fs::set_permissions(world.path("out"), PermissionsExt::from_mode(0o777)).unwrap();
    read_only(&world, "good", &["export", "good", "--out", "out/bank"]).ended(0);
    read_only(&world, "good", &["merge", "out/merged", "good"]).ended(0);
    read_only(&world, "good", &["report", "good", "--html", "out/page.html"]).ended(0);
    let ran = read_only(&world, "good", &["repair", "good"]).ended(1);
    assert!(ran.stderr.contains("hint: check who may read and write"), "{ran}");
}

#[test]
fn a_read_only_folder_of_a_killed_run_is_read_with_its_log() {
    let server = server(3);
    let world = World::with(&Config { samples: 20, concurrency: 4, ..Config::new(&server, &[20, 50, 80]) });
    let mut child = world.start(&["bench", "--run", "live"]);
    wait_until("some replies are stored", || server.stats().good > 60);
    child.kill().unwrap();
    child.wait().unwrap();
    let log = std::fs::metadata(world.path("live/calls.sqlite-wal")).unwrap().len();
    assert!(log > 0, "there is a log");
    for (name, files) in [
        ("both", &["run.toml", "records.jsonl", "calls.sqlite", "calls.sqlite-wal", "calls.sqlite-shm"][..]),
        ("without-index", &["run.toml", "records.jsonl", "calls.sqlite", "calls.sqlite-wal"]),
    ] {
        std::fs::create_dir_all(world.path(name).join("grades")).unwrap();
        for file in files {
            std::fs::copy(world.path("live").join(file), world.path(name).join(file)).unwrap();
        }
        std::fs::copy(
            world.path("live/grades/standard.jsonl"),
            world.path(name).join("grades/standard.jsonl"),
        )
        .unwrap();
        let read = read_only(&world, name, &["report", name, "--json"]).ended(0).json();
        let stored: u64 =
            read["runs"][0]["used"].as_object().unwrap().values().map(|u| u["calls"].as_u64().unwrap()).sum();
        assert_eq!(stored, world.folder("live").stored(), "{name}");
        assert!(stored >= 20, "{name}: {stored}");
        let out = format!("merged-{name}");
        std::fs::set_permissions(world.path(""), PermissionsExt::from_mode(0o777)).unwrap();
        world.expect(0, &["merge", &out, name]);
        assert_eq!(world.folder(&out).stored(), stored, "{name}");
    }
}

#[test]
fn hints_match_their_cause() {
    let world = world();
    world.write("file", "text");
    let ran = world.expect(2, &["report", "file"]);
    assert_eq!(ran.stderr, "error: file is not a folder\nhint: name a run folder, not a file\n");
    let ran = world.expect(2, &["bench", "--run", "file"]);
    assert_eq!(ran.stderr, "error: file is not a folder\nhint: name a run folder, not a file\n");

    copy(&world, "text");
    std::fs::write(world.path("text/run.toml"), b"schema = 1\naske = \"\xff\"\n").unwrap();
    let ran = world.expect(2, &["report", "text"]);
    assert!(ran.stderr.starts_with("error: text/run.toml: not UTF-8 text: "), "{ran}");
    assert!(ran.stderr.contains("hint: restore run.toml"), "{ran}");

    copy(&world, "calls");
    world.write("calls/calls.sqlite", "this is not a database, although it is long enough to be one");
    let ran = world.expect(1, &["bench", "--run", "calls"]);
    assert!(ran.stderr.contains("error: calls/calls.sqlite: file is not a database"), "{ran}");
    assert!(ran.stderr.contains("hint: the database is damaged; restore it from a copy"), "{ran}");

    let ran = world.expect(2, &["export", "good", "--out", "missing/exam.parquet"]);
    assert!(ran.stderr.contains("hint: the file or its folder is missing"), "{ran}");
    let ran = world.expect(2, &["report", "good", "--html", "missing/page.html"]);
    assert!(ran.stderr.contains("hint: name a file in an existing folder"), "{ran}");
}

#[test]
fn a_fifo_or_a_device_in_the_place_of_a_file_is_refused_at_once() {
    let world = world();
    let files = [
        "run.toml",
        "records.jsonl",
        "grades/standard.jsonl",
        "calls.sqlite",
        "calls.sqlite-wal",
        "draws.jsonl",
        "lock",
    ];
    for (number, file) in files.iter().enumerate() {
        for (kind, what) in [("fifo", "a FIFO"), ("device", "a device")] {
            let name = format!("{kind}-{number}");
            copy(&world, &name);
            let path = world.path(&name).join(file);
            let _ = std::fs::remove_file(&path);
            if kind == "fifo" {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            }
            let expected = format!("{name}/{file} is {what}, not a file");
            let ran = world.run(&["bench", "--run", &name]);
            assert!(ran.stderr.contains(&expected) || *file == "draws.jsonl", "{file}: {ran}");
            assert!(ran.code == Some(2) || *file == "draws.jsonl", "{file}: {ran}");
            let begun = Instant::now();
            let ran = world.run(&["report", &name, "good"]);
            assert!(begun.elapsed() < AT_ONCE, "{file}: {:?}", begun.elapsed());
            // The lock is not read.
            let code = i32::from(*file != "lock");
            assert_eq!(ran.code, Some(code), "{file}: {ran}");
            assert!(*file == "lock" || ran.stderr.contains(&expected), "{file}: {ran}");
            let ran = soon(&world, 2, &["repair", &name]);
            assert!(ran.stderr.contains(&expected), "{file}: {ran}");
        }
    }
}

#[test]
fn a_hostile_database_ends_in_a_clear_error() {
    let world = world();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let columns = "'m' AS model, x'00' AS request, 'c' AS content, NULL AS reasoning, 'stop' AS finish, 1 AS prompt_tokens,
        1 AS cached_tokens, 1 AS completion_tokens, 1 AS reasoning_tokens, 1.0 AS latency_ms, 1 AS attempts, 1.0 AS usd";
    for (name, sql, what) in [
        (
            "calls",
            format!("DROP VIEW replies; DROP TABLE calls;
                CREATE VIEW calls AS {endless} SELECT 1 AS number, i AS turn, 'asker' AS role, 0 AS draw, {columns} FROM n"),
            Some("calls is a view"),
        ),
        (
            "records",
            format!("DROP VIEW replies; DROP TABLE records; CREATE VIEW records AS {endless} SELECT i AS number, 'r' || i AS record FROM n"),
            Some("records is a view"),
        ),
        // Only people read this view, so nothing is wrong with the run.
        (
            "replies",
            format!("DROP VIEW replies; CREATE VIEW replies AS {endless} SELECT i AS number, 'r' AS record, 1 AS turn, 'asker' AS role, 0 AS draw, {columns} FROM n"),
            None,
        ),
        (
            "trigger",
            format!("CREATE TRIGGER t AFTER INSERT ON calls BEGIN INSERT INTO records (record) {endless} SELECT 'x' || i FROM n; END"),
            Some("has a trigger"),
        ),
    ] {
        copy(&world, name);
        rusqlite::Connection::open(world.path(name).join("calls.sqlite")).unwrap().execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
        let Some(what) = what else {
            soon(&world, 0, &["report", name]);
            soon(&world, 0, &["bench", "--run", name]);
            continue;
        };
        let expected = format!("{name}/calls.sqlite: {what}");
        for (code, arguments) in [
            (1, &["report", name, "good"][..]),
            (2, &["bench", "--run", name]),
            (2, &["merge", "joined", name]),
            (2, &["repair", name]),
        ] {
            let ran = soon(&world, code, arguments);
            assert!(ran.stderr.contains(&expected), "{arguments:?}: {ran}");
        }
    }
}
