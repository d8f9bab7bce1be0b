//! The equivalence checker in whole sessions: what it is shown, how often, and what its verdicts make of a session.
#![expect(clippy::unwrap_used, reason = "a test that cannot read what was written has failed")]

mod common;

use aske_testkit::{RawServer, RecordedRequest, response};
use common::{Folder, World};
use serde_json::{Value, json};

/// A checker that says yes to everything but `nonsense`, and remembers what it was shown.
fn checker() -> RawServer {
    RawServer::start(|seen| {
        let candidate = if is_probe(seen) { String::new() } else { shown(seen)[1].clone() };
        let verdict = if candidate == "nonsense" { "no" } else { "yes" };
        let message = json!({ "message": { "content": verdict }, "finish_reason": "stop" });
        response(200, "", json!({ "choices": [message] }).to_string().as_bytes())
    })
}

/// Whether this is the call before a run.
fn is_probe(seen: &RecordedRequest) -> bool {
    seen.json()["messages"][0]["content"].as_str().unwrap().contains("connection test")
}

/// The reference and the candidate in a prompt.
fn shown(seen: &RecordedRequest) -> [String; 2] {
    let prompt = seen.json();
    let prompt = prompt["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    ["reference", "candidate"].map(|role| {
        let (_, rest) = prompt.split_once(&format!("<{role}>\n")).unwrap();
        rest.split_once(&format!("\n</{role}>")).unwrap().0.to_owned()
    })
}

fn pair(reference: &str, candidate: &str) -> [String; 2] {
    [reference.to_owned(), candidate.to_owned()]
}

/// All pairs that a checker was shown, in no order.
fn asked(checker: &RawServer) -> Vec<[String; 2]> {
    let requests = checker.requests();
    let mut asked: Vec<_> = requests.iter().filter(|seen| !is_probe(seen)).map(shown).collect();
    asked.sort();
    asked
}

/// A world of scripted models in which the solvers and the cross-check solver say these answers.
fn world(checker: &RawServer, [one, two]: [&str; 2], check: &[&str]) -> World {
    let world = World::new();
    let asker = "#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is the least number of colours?";
    world.write("asker.jsonl", &json!({ "reply": asker }).to_string());
    let boxed = |answer: &str| format!("#Summary#\nI counted.\n\\boxed{{{answer}}}");
    world.write("one.jsonl", &json!({ "reply": boxed(one) }).to_string());
    world.write("two.jsonl", &json!({ "reply": boxed(two) }).to_string());
    let replies: Vec<String> = check.iter().map(|answer| boxed(answer)).collect();
    world.write("check.jsonl", &json!({ "replies": replies }).to_string());
    let scripted = ["asker", "one", "two", "check"]
        .map(|name| format!("[models.{name}]\nprovider = \"scripted\"\nscript = \"{name}.jsonl\"\n"));
    world.write(
        "aske.toml",
        &format!(
            "[protocol]\nrounds = 1\n[asker]\nmodel = \"asker\"\n[boundary]\nsolvers = [\"one\", \"two\"]\n\
             [check]\nmodel = \"check\"\ndraws = 3\n[run]\nsamples = 1\n[equivalence]\nmodel = \"equiv\"\n\
             [models.equiv]\nprovider = \"openai\"\nurl = \"{}\"\n{}",
            checker.url(),
            scripted.concat()
        ),
    );
    world
}

fn grade(folder: &Folder) -> Value {
    let lines = std::fs::read_to_string(folder.path().join("grades/standard.jsonl")).unwrap();
    serde_json::from_str(lines.lines().last().unwrap()).unwrap()
}

#[test]
fn the_cross_check_answer_is_the_reference_whichever_comes_first_in_the_alphabet() {
    for reference in ["zebra", "aardvark"] {
        let checker = checker();
        let world = world(&checker, ["middle", "nonsense"], &[reference]);
        world.expect(0, &["bench", "--run", "run"]);
        assert_eq!(asked(&checker), [pair(reference, "middle"), pair(reference, "nonsense")]);
        let grade = grade(&world.folder("run"));
        assert_eq!(grade["outcome"], "calibrated", "{grade}");
        assert_eq!(grade["promoted"], true, "{grade}");
        assert_eq!(grade["checker"], "roles", "a grade names the rule by which the checker was asked");

        world.expect(0, &["bench", "--run", "run"]);
        assert_eq!(checker.requests().len(), 2 + 1, "no verdict is asked for twice, and it was probed once");
    }
}

#[test]
fn between_two_cross_check_answers_the_earlier_is_the_reference() {
    let checker = checker();
    let world = world(&checker, ["middle", "nonsense"], &["aardvark", "zebra", "monkey", "beetle", "yak"]);
    world.expect(0, &["bench", "--run", "run"]);
    let folder = world.folder("run");
    let records = folder.records();
    let check: Vec<&str> = records["one:two/0"]["check"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer.as_str().unwrap())
        .collect();
    assert_eq!(check.len(), 3);
    let mut expected = Vec::new();
    for (i, earlier) in check.iter().enumerate() {
        expected.extend(check[i + 1..].iter().map(|later| pair(earlier, later)));
        expected.extend(["middle", "nonsense"].map(|answer| pair(earlier, answer)));
    }
    // An answer is the same as itself without a checker.
    expected.retain(|[reference, candidate]| reference != candidate);
    expected.sort();
    expected.dedup();
    assert!(expected.len() > 2, "the draws differ: {check:?}");
    assert_eq!(asked(&checker), expected);
}

/// Makes the grades of a folder those of a version that sorted the pair and did not say so.
fn age(world: &World, name: &str, outcome: &str) {
    let path = format!("run/grades/{name}.jsonl");
    let mut grade: Value = serde_json::from_str(world.read(&path).lines().last().unwrap()).unwrap();
    grade["outcome"] = outcome.into();
    grade.as_object_mut().unwrap().remove("checker").unwrap();
    world.write(&path, &format!("{grade}\n"));
}

#[test]
fn grades_of_a_version_that_sorted_the_pair_are_read_and_made_anew() {
    let checker = checker();
    let world = world(&checker, ["middle", "nonsense"], &["zebra"]);
    world.expect(0, &["bench", "--run", "run"]);
    age(&world, "standard", "too_hard");
    let report = world.expect(0, &["report", "run", "--json"]);
    assert!(report.stderr.contains("run: 1 of 1 session graded by earlier rules"), "{report}");
    let report = report.json();
    let outcome = |report: &Value| {
        let shares = report["runs"][0]["outcomes"].as_array().unwrap().clone();
        shares.iter().find(|share| share["sessions"] == 1).unwrap()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome(&report), "too_hard", "an old grade is read as it is");

    let before = checker.requests().len();
    let ran = world.expect(0, &["bench", "--run", "run"]);
    assert!(ran.stderr.contains("1 session was graded by earlier rules; they are graded again"), "{ran}");
    assert_eq!(checker.requests().len(), before, "its verdicts on these roles are stored");
    let (grade, lines) = (grade(&world.folder("run")), world.read("run/grades/standard.jsonl"));
    assert_eq!((&grade["outcome"], &grade["checker"]), (&"calibrated".into(), &"roles".into()));
    assert_eq!(lines.lines().count(), 2, "the old grade stays in the file");
    assert_eq!(outcome(&world.expect(0, &["report", "run", "--json"]).json()), "calibrated");
    let again = world.expect(0, &["bench", "--run", "run"]);
    assert!(again.stderr.contains("all finished before"), "{again}");

    world.expect(0, &["regrade", "run", "--check", "check"]);
    age(&world, "check", "too_hard");
    let ran = world.expect(0, &["regrade", "run", "--check", "check"]);
    assert!(ran.stderr.contains("1 session was graded by earlier rules; they are graded again"), "{ran}");
    let anew: Value =
        serde_json::from_str(world.read("run/grades/check.jsonl").lines().last().unwrap()).unwrap();
    assert_eq!((&anew["outcome"], &anew["checker"]), (&"calibrated".into(), &"roles".into()));
}

#[test]
fn grades_by_two_rules_are_not_merged() {
    let checker = checker();
    let world = world(&checker, ["middle", "nonsense"], &["zebra"]);
    for run in ["run", "other"] {
        world.expect(0, &["bench", "--run", run, "--samples", if run == "run" { "1" } else { "2" }]);
    }
    age(&world, "standard", "too_hard");
    let ran = world.expect(2, &["merge", "whole", "run", "other"]);
    assert!(ran.stderr.contains("hint: "), "{ran}");
    assert!(!world.path("whole").exists());
    world.expect(0, &["bench", "--run", "run", "--samples", "1"]);
    world.expect(0, &["merge", "whole", "run", "other"]);
    let outcomes = world.folder("whole").grades();
    assert_eq!(outcomes.len(), 2);
    assert!(outcomes.values().all(|grade| grade["outcome"] == "calibrated"), "{outcomes:?}");
}
