//! Laws that hold whatever the models write.

mod common;

use aske_chat::{ChatRole, Finish, Reply};
use aske_session::{Domain, Pack, Role, Session, Slot, split_thinking};
use common::{last, play, rounds};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

/// Marks where a summary begins and ends; no reply holds one.
const EDGE: char = '\u{e000}';

/// Stands in thinking only.
const SECRET: &str = "SECRET";

const FRAGMENTS: &[&str] = &[
    "#Reasoning#",
    "#Draft#",
    "#Question#",
    "**#question#**",
    "# Question #:",
    "#Summary#",
    "`#Output#`",
    "<think>",
    "</think>",
    "<THINK>SECRET #Question# #Summary# SECRET</think>",
    "\\boxed{",
    "\\boxed{1}",
    "\\boxed{\\frac{1}{2}}",
    "{{structure}}",
    "{{boundary_a_answer}}",
    "}",
    "#",
    "**",
    "<",
    "\\",
    "\n",
    " ",
    "What is 1 + 1?",
    "The answer is B. 42",
];

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(FRAGMENTS).prop_map(str::to_owned),
        2 => any::<String>().prop_map(|text| text.replace(EDGE, "")),
        1 => (select(&["w ", "é", "long\u{3000}", "}", "\\boxed{9"][..]), 0..2500_usize)
            .prop_map(|(text, times)| text.repeat(times)),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let finish = select(&[Finish::Stop, Finish::Length, Finish::Filtered, Finish::Other][..]);
    (prop::collection::vec(fragment(), 0..8), any::<bool>(), finish).prop_map(|(parts, sections, finish)| {
        let lead = if sections { "#Reasoning#\nr\n#Draft#\nd\n#Summary#\n#Question#\n" } else { "" };
        let reasoning = Some(format!("{SECRET} #Question# #Summary# \\boxed{{{SECRET}}}"));
        Reply { reasoning, finish, ..Reply::text(lead.to_owned() + &parts.concat()) }
    })
}

fn domain() -> impl Strategy<Value = Domain> {
    let number = Domain::Number { tolerance: 0.01 };
    select(vec![Domain::math(), Domain::Choice, number, Domain::Text])
}

/// The shipped pack with summaries between edges.
#[expect(clippy::unwrap_used, reason = "a pack that is refused has failed the test")]
fn edged(domain: &Domain) -> Pack {
    let mut files = Pack::builtin_files(domain);
    for name in ["asker_next.txt", "asker_final.txt"] {
        let text = format!("{EDGE}{{{{boundary_a_answer}}}}{EDGE}{{{{boundary_b_answer}}}}{EDGE}");
        files.insert(name.to_owned(), text);
    }
    Pack::parse(&files).unwrap()
}

proptest! {
    #[test]
    fn any_session_ends_within_its_bounds(
        k in 0..=4_u32,
        domain in domain(),
        replies in prop::collection::vec(reply(), 18),
    ) {
        let mut given = Vec::new();
        let mut next = replies.into_iter();
        let played = play(Session::new(rounds(k), Arc::new(edged(&domain)), domain), |call| {
            let reply = next.next().unwrap_or_default();
            given.push((call.slot, reply.clone()));
            reply
        });
        let turns = &played.transcript.turns;
        prop_assert_eq!(played.to(Role::Asker).len() as u64, u64::from(k) + 1);
        prop_assert_eq!(turns.len() as u64, u64::from(k) + 1);
        prop_assert!(played.calls.len() as u64 <= rounds(k).calls());

        for (turn, at) in turns.iter().zip(1..) {
            let solving = played.calls.iter().filter(|call| call.slot.turn == at);
            let solving = solving.filter(|call| call.slot.role != Role::Asker);
            let calls = if at <= k { 2 } else { 5 };
            prop_assert_eq!(solving.clone().count(), if turn.question.is_some() { calls } else { 0 });
            prop_assert_eq!(turn.question.is_some(), turn.solved.is_some() && turn.error.is_none());
            for call in solving {
                let question = turn.question.as_deref().unwrap_or_default();
                prop_assert!(last(call).starts_with(question));
                prop_assert!(!question.trim().is_empty() && question.trim() == question);
                prop_assert!(question.split_whitespace().count() <= 200);
                prop_assert!(!question.contains(SECRET));
            }
        }

        for call in played.to(Role::Asker) {
            let said = call.messages.iter().filter(|message| message.role == ChatRole::Assistant);
            prop_assert!(said.clone().all(|message| !message.content.contains(SECRET)));
            prop_assert_eq!(call.messages.len() as u64, u64::from(call.slot.turn) * 2);
            let shown: Vec<&str> = last(call).split(EDGE).collect();
            if let [_, one, two, _] = shown[..] {
                for (text, role) in [(one, common::ONE), (two, common::TWO)] {
                    let place = Slot::first(call.slot.turn - 1, role);
                    let from = given.iter().find(|(slot, _)| *slot == place);
                    let content = from.map_or("", |(_, reply)| &reply.content);
                    let parts = split_thinking(content);
                    let with_box = |answer: &str| r"\boxed{}".len() + answer.chars().count().min(2000) + 1;
                    let limit = 2000 + parts.boxed().map_or(0, with_box);
                    prop_assert!(!text.is_empty());
                    prop_assert!(text.chars().count() <= limit);
                }
            }
        }
        played.grade(&domain);
    }
}
