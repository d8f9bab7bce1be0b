//! `aske verify` from outside: verdicts as exit status, lines in order, errors with a hint.

#![expect(clippy::expect_used, reason = "a program that cannot be started ends its test")]

use assert_cmd::Command;
use serde_json::{Value, json};
use std::process::Output;

fn aske(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("aske").expect("the program is built");
    command.arg("verify").args(arguments);
    command
}

fn verify(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = aske(arguments).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("it writes UTF-8");
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

#[test]
fn the_exit_status_is_the_verdict() {
    assert_eq!(verify(&[r"\frac{1}{2}", r"50\%"]), (0, "equal (exact)\n".to_owned(), String::new()));
    assert_eq!(verify(&["-5", "5"]), (1, "different (exact)\n".to_owned(), String::new()));
    let deep = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(verify(&[&deep, "1"]), (4, "undecided (bounds)\n".to_owned(), String::new()));
    assert_eq!(verify(&["1"]).0, 2);
}

#[test]
fn lines_come_back_in_order_with_what_else_was_in_them() {
    let lines = [
        json!({"gold": "1", "pred": "1.0", "id": 7}),
        json!({"gold": r"\sqrt{12}", "pred": r"2\sqrt3"}),
        json!({"gold": "x", "pred": "y"}),
        json!({"gold": "(".repeat(5_000) + "1", "pred": "1"}),
    ];
    let input = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let output = aske(&["--jsonl", "--timing"]).write_stdin(input).output().expect("it starts");
    assert!(output.status.success());
    let found: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(found.len(), lines.len());
    assert_eq!(found[0], json!({"gold": "1", "pred": "1.0", "id": 7, "equal": true, "method": "exact"}));
    assert_eq!(found[1]["equal"], json!(true));
    assert_eq!(found[2]["equal"], json!(false));
    assert_eq!(found[3]["pred"], json!("1"));
    let timing: Value = serde_json::from_slice(&output.stderr).expect("a line of JSON");
    assert_eq!(timing["pairs"], json!(4));
}

/// Each wrong line gives one error with its number; the lines around it are compared.
#[test]
fn a_wrong_line_is_named_and_the_others_are_compared() {
    let good: &[u8] = br#"{"gold":"1","pred":"1.0"}"#;
    let wrong: [(&[u8], &str); 7] = [
        (br#"{"gold":"1","pred":"\ud800"}"#, "surrogate"),
        (br#"{"gold":"\udc00x","pred":"1"}"#, "surrogate"),
        (br#"{"gold":"1","pred":null}"#, "\"pred\" is null, not a string"),
        (br#"{"gold":1,"pred":"1"}"#, "\"gold\" is a number, not a string"),
        (br#"{"gold":"1"}"#, "no \"pred\""),
        (br#"["1","1"]"#, "expected an object, found a list"),
        (b"{\"gold\":\"1\",\"pred\":\"\xff\"}", "invalid unicode"),
    ];
    let mut input = good.to_vec();
    for (line, _) in wrong {
        input.extend([b"\n", line, b"\n", good].concat());
    }
    let output = aske(&["--jsonl", "--timing"]).write_stdin(input).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let found: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(found.len(), 2 * wrong.len() + 1);
    for (at, line) in found.iter().enumerate() {
        if at % 2 == 0 {
            assert_eq!(line["equal"], json!(true), "{line}");
        } else {
            let reason = wrong[at / 2].1;
            assert_eq!(line["line"], json!(at + 1), "{line}");
            assert!(line["error"].as_str().is_some_and(|error| error.contains(reason)), "{reason}: {line}");
            assert_eq!(line.get("equal"), None, "{line}");
        }
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(r#""pairs":8"#), "{stderr}");
    assert!(
        stderr.contains("line 2: ") && stderr.contains("7 such lines") && stderr.contains("hint:"),
        "{stderr}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_its_name() {
    let (status, stdout, stderr) = verify(&["--jsonl", "no-such-file.jsonl"]);
    assert!(status == 2 && stdout.is_empty(), "{stderr}");
    assert!(stderr.contains("no-such-file.jsonl") && stderr.contains("pipe them in"), "{stderr}");
}

#[test]
fn a_policy_changes_one_thing() {
    assert_eq!(verify(&[r"5\text{ cm}", "5"]).0, 0);
    assert_eq!(verify(&[r"5\text{ cm}", "5", "--policy", "unit_optional=false"]).0, 1);
    let (status, _, stderr) = verify(&["1", "1", "--policy", "unit=false"]);
    assert!(status == 2 && stderr.contains("unit_optional") && stderr.contains("hint:"), "{stderr}");
    assert!(verify(&["--policies"]).1.contains("percent_as_number=true"));
}

/// The verdicts are math-verify 0.9.0's: a right side of an equation counts, a chain is a set only on one side.
#[test]
fn compat_gives_the_other_programs_verdict() {
    assert_eq!(verify(&["3", "x^2+2=3"]).0, 1);
    assert_eq!(verify(&["3", "x^2+2=3", "--compat", "math-verify"]).0, 0);
    assert_eq!(verify(&["(1,2)", "1<x<2"]).0, 0);
    assert_eq!(verify(&["(1,2)", "1<x<2", "--compat", "math-verify"]).0, 1);
    assert_eq!(verify(&["No solution", r"\emptyset", "--compat", "math-verify"]).0, 1);
    assert_eq!(verify(&["No solution", r"\emptyset", "--compat", "paper"]).0, 0);
}

#[test]
fn an_explanation_shows_both_readings() {
    let (status, stdout, _) = verify(&[r"\sqrt{12}", r"2\sqrt3", "--explain"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(stdout, @r"
    gold  expression √12  canonical 2*sqrt(3)
    pred  expression 2·√3  canonical 2*sqrt(3)
    equal (exact)
    ");
}
