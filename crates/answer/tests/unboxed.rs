//! Replies without a box, labelled before the search for their answers was written: whether the answer that each states
//! equals the gold answer.

use aske_answer::{Place, Verdict, compare, find_answer};
use serde::Deserialize;

#[derive(Deserialize)]
struct Labelled {
    kind: String,
    gold: String,
    label: String,
    reply: String,
}

#[test]
fn answers_of_replies_without_a_box() {
    let replies: Vec<Labelled> = include_str!("data/unboxed.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(replies.len(), 314);
    let mut missed = Vec::new();
    let mut accepted = Vec::new();
    for Labelled { kind, gold, label, reply } in &replies {
        let found = find_answer(reply, &Place::ORDER);
        let equal = compare(gold, found.as_deref().unwrap_or(reply)).verdict == Verdict::Equal;
        let line = || format!("{kind}: {gold} | {found:?} | {reply:?}");
        match (label.as_str(), equal) {
            ("right", false) => missed.push(line()),
            ("wrong" | "none", true) => accepted.push(line()),
            _ => {}
        }
    }
    assert!(accepted.is_empty(), "{accepted:#?}");
    assert!(missed.len() <= 2, "{missed:#?}");
}
