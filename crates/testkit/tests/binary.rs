//! The program: one line on standard output, and a clean end on SIGTERM.

mod client;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use client::{Client, body};

#[test]
fn it_announces_its_port_and_stops_on_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_aske-testserver"))
        .args(["--pad-words", "5", "--dump"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening on http://").unwrap().strip_suffix("/v1\n").unwrap();

    let sent = body("solver-100", "What is 2 + 2?", 1);
    let reply = Client::connect(address.parse().unwrap()).chat(&sent).unwrap();
    assert!(reply.text().contains("boxed{4}"));

    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(child.wait().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{sent}\n"));
}

#[test]
fn it_refuses_what_makes_no_sense() {
    let run =
        |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_aske-testserver")).args(args).output().unwrap();
    let output = run(&["--faults", "1.5"]);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("not between 0 and 1"));
    let output = run(&["--only-fault", "boredom"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("half-body"));
}
