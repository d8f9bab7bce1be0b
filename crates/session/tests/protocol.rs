//! The rules of a session, one test for each, with scripted replies.

mod common;

use aske_chat::{ChatRole, Finish, Reply};
use aske_session::{
    Call, Domain, FeedError, Need, Outcome, Pack, Protocol, Reward, Role, Section, Session, Slot, Transcript,
    Turn, TurnError,
};
use common::{ONE, Played, TWO, calls, cut, last, play, prompt, rounds, session, turn};
use std::collections::HashSet;

/// A whole session of mathematics with these asker replies, one for each turn; everyone else answers 1.
fn asked(turns: &[Reply]) -> Played {
    let mut turns = turns.iter();
    let protocol = rounds(u32::try_from(turns.len()).unwrap_or(0) - 1);
    play(session(protocol, Domain::math()), |call| match call.slot.role {
        Role::Asker => turns.next().cloned().unwrap_or_default(),
        _ => Reply::text(r"\boxed{1}"),
    })
}

/// What a session without probing makes of this asker reply: the one question, as forwarded.
fn forwarded(reply: &Reply) -> Option<String> {
    let played = asked(std::slice::from_ref(reply));
    let suffix = prompt("solver_final_suffix.txt");
    let sent = played.to(ONE).first().map(|call| last(call).to_owned());
    let sent = sent.map(|text| text.strip_suffix(&format!("\n\n{suffix}")).unwrap_or("no suffix").to_owned());
    assert_eq!(sent, played.transcript.turns[0].question);
    sent
}

/// The asker's next message after one round in which the solvers gave these replies.
fn next_message(one: &Reply, two: &Reply, next_is_final: bool) -> String {
    let played = play(session(rounds(if next_is_final { 1 } else { 2 }), Domain::math()), |call| {
        match (call.slot.turn, call.slot.role) {
            (_, Role::Asker) => turn("What is 1 + 1?"),
            (1, ONE) => one.clone(),
            (1, TWO) => two.clone(),
            _ => Reply::text(r"\boxed{2}"),
        }
    });
    last(played.to(Role::Asker)[1]).to_owned()
}

/// What the asker is shown of a solver's reply.
fn shown(reply: &Reply) -> String {
    let message = next_message(reply, &Reply::text(r"\boxed{2}"), false);
    let (_, message) = message.split_once("Answer from Model 1:\n").unwrap_or_default();
    let (shown, _) = message.split_once("\n\nAnswer from Model 2:\n\\boxed{2}\n\n").unwrap_or_default();
    shown.to_owned()
}

/// A session without probing whose final question got these answers.
fn answered(one: &str, two: &str, check: [&str; 3]) -> Played {
    play(session(rounds(0), Domain::math()), |call| match call.slot.role {
        Role::Asker => turn("What is 1 + 1?"),
        ONE => Reply::text(one),
        TWO => Reply::text(two),
        _ => Reply::text(check[call.slot.draw as usize]),
    })
}

#[test]
fn a_session_is_k_probing_rounds_and_one_final_turn() {
    assert_eq!((Protocol::default().rounds, Protocol::training().rounds), (4, 3));
    let replies = [
        turn("What is 1 + 1?"),
        Reply::text("I would rather not."),
        Reply::default(),
        cut("#Reasoning#\nLet me see"),
        cut("<think>endless"),
    ];
    for (reply, k) in replies.iter().flat_map(|reply| (0..=5).map(move |k| (reply, k))) {
        let played = play(session(rounds(k), Domain::math()), |call| match call.slot.role {
            Role::Asker => reply.clone(),
            _ => Reply::text(r"\boxed{2}"),
        });
        let turns: Vec<u32> = played.to(Role::Asker).iter().map(|call| call.slot.turn).collect();
        assert_eq!(turns, (1..=k + 1).collect::<Vec<_>>(), "{reply:?}");
        assert_eq!(played.transcript.turns.len() as u64, u64::from(k) + 1);
        let has_question = played.transcript.turns[0].question.is_some();
        let expected = if has_question { rounds(k).calls() } else { u64::from(k) + 1 };
        assert_eq!(played.calls.len() as u64, expected, "{reply:?} {k}");
    }
}

#[test]
fn the_asker_keeps_the_whole_conversation() {
    let turns = [turn("One?"), Reply::text("no tags"), turn("Three?"), cut("cut"), turn("Five?")];
    let played = asked(&turns);
    let asks = played.to(Role::Asker);
    let speakers: Vec<ChatRole> = asks[0].messages.iter().map(|message| message.role).collect();
    assert_eq!(speakers, [ChatRole::System, ChatRole::User]);
    for (pair, reply) in asks.windows(2).zip(&turns) {
        let (before, after) = (&pair[0].messages, &pair[1].messages);
        assert_eq!(after.len(), before.len() + 2);
        assert!(after.starts_with(before));
        let [said, next] = &after[before.len()..] else { unreachable!() };
        assert_eq!((said.role, next.role), (ChatRole::Assistant, ChatRole::User));
        assert_eq!(said.content.as_ref(), reply.content.trim());
    }
}

#[test]
fn solvers_see_one_question_and_nothing_else() {
    let ask = |n: u32| format!("#Reasoning#\nNOTE{n}\n#Draft#\nDRAFT{n}\n#Question#\nASK{n}?");
    let played = play(session(rounds(2), Domain::math()), |call| match call.slot.role {
        Role::Asker => Reply::text(ask(call.slot.turn)),
        role => Reply::text(format!("#Summary#\nSAID{} by {role} \\boxed{{1}}", call.slot.turn)),
    });
    let solving: Vec<&Call> = played.calls.iter().filter(|call| call.slot.role != Role::Asker).collect();
    assert_eq!(solving.len(), 2 + 2 + 5);
    for call in solving {
        let (system, suffix) = match call.slot.turn {
            3 => (prompt("solver_final_system.txt"), prompt("solver_final_suffix.txt")),
            _ => (prompt("solver_system.txt"), prompt("solver_suffix.txt")),
        };
        let sent: Vec<(ChatRole, &str)> =
            call.messages.iter().map(|message| (message.role, message.content.as_ref())).collect();
        let question = format!("ASK{}?\n\n{suffix}", call.slot.turn);
        assert_eq!(sent, [(ChatRole::System, system.as_str()), (ChatRole::User, question.as_str())]);
    }
}

#[test]
fn only_what_follows_the_last_question_tag_is_forwarded() {
    let reply =
        "#Question#\nFirst?\n#Reasoning#\nsecret #Question# below\n#Draft#\nd\n#Question#\n\n  Last? \n ";
    assert_eq!(forwarded(&Reply::text(reply)).as_deref(), Some("Last?"));
    assert_eq!(forwarded(&Reply::text("Question: What is 1 + 1?")), None);
}

#[test]
fn a_question_is_cut_to_200_words() {
    for (words, kept, is_cut) in [(199, 199, false), (200, 200, false), (201, 200, true), (5000, 200, true)] {
        let long = (1..=words).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" \n");
        let played = asked(&[turn(&long)]);
        let turn = &played.transcript.turns[0];
        let question = turn.question.as_deref().unwrap();
        assert!(question.starts_with("w1 \nw2") && question.ends_with(&format!("w{kept}")));
        assert_eq!((question.split_whitespace().count(), turn.cut), (kept, is_cut));
        assert_eq!(forwarded(&common::turn(&long)).as_deref(), Some(question));
    }
}

#[test]
fn an_askers_thinking_is_never_parsed_for_tags_or_forwarded() {
    let hidden = "SECRET #Reasoning# #Draft# #Question# SECRET?";
    for content in [
        format!("<think>{hidden}</think>no tags"),
        format!("{hidden}</think>no tags"),
        format!("no tags <think>{hidden}"),
        format!("<think>{hidden}"),
        format!("<THINK>{hidden}</Think>"),
    ] {
        for finish in [Finish::Stop, Finish::Length] {
            let reply = Reply { finish, reasoning: Some(hidden.into()), ..Reply::text(content.as_str()) };
            let played = asked(&[reply.clone(), reply]);
            for turn in &played.transcript.turns {
                assert_eq!(
                    (&turn.question, turn.missing.as_slice()),
                    (&None, Section::ALL.as_slice()),
                    "{content}"
                );
            }
            assert!(played.calls.iter().all(|call| !format!("{call:?}").contains("SECRET")), "{content}");
        }
    }
    let open = turn("Open?").content;
    for content in [
        format!("<think>{hidden}</think>{open}"),
        format!("{hidden}</think>{open}"),
        format!("{open}<think>{hidden}</think>"),
        format!("{open}<think>{hidden}"),
        open.clone(),
    ] {
        let reply = Reply { reasoning: Some(hidden.into()), ..Reply::text(content.as_str()) };
        assert_eq!(forwarded(&reply).as_deref(), Some("Open?"), "{content}");
        let played = asked(&[reply.clone(), reply]);
        assert!(played.calls.iter().all(|call| !format!("{call:?}").contains("SECRET")), "{content}");
    }
}

#[test]
fn a_solvers_thinking_is_never_parsed_for_tags_or_forwarded() {
    let hidden = "SECRET #Summary# SECRET #Output# SECRET";
    let nothing = prompt("no_answer.txt");
    for (content, expected) in [
        (format!("<think>{hidden}</think>"), nothing.as_str()),
        (format!("<think>{hidden}"), nothing.as_str()),
        (format!("{hidden}</think>It is 5."), nothing.as_str()),
        (format!("{hidden}</think>#Summary#\n\\boxed{{5}} added"), r"\boxed{5} added"),
        (format!("#Summary#\n\\boxed{{5}} added <think>{hidden}</think>"), r"\boxed{5} added"),
        (format!("#Summary#\n\\boxed{{5}} added <think>{hidden}"), r"\boxed{5} added"),
        (format!("<think>{hidden} \\boxed{{4}}</think>#Summary#\n\\boxed{{5}}"), r"\boxed{5}"),
        (format!("<think>{hidden} \\boxed{{4}}</think>"), r"\boxed{4}"),
        ("It is 5.".to_owned(), nothing.as_str()),
    ] {
        let reasoning = Some(format!("{hidden} \\boxed{{9}}"));
        assert_eq!(shown(&Reply { reasoning, ..Reply::text(content.as_str()) }), expected, "{content}");
    }
}

#[test]
fn an_answer_is_looked_for_in_thinking_only_when_the_visible_reply_has_no_box() {
    let in_a_field = Reply { reasoning: Some(r"\boxed{8}".into()), ..Reply::text("So it is 9.") };
    let played = play(session(rounds(0), Domain::math()), |call| match (call.slot.role, call.slot.draw) {
        (Role::Asker, _) => turn("What is 1 + 1?"),
        (ONE, _) => Reply::text(r"<think>\boxed{1}</think>So \boxed{2}, I think."),
        (TWO, _) => Reply::text(r"<think>\boxed{1}</think>So it is 2."),
        (_, 0) => cut(r"<think>\boxed{3} but wait"),
        (_, 1) => in_a_field.clone(),
        _ => Reply { reasoning: Some(r"\boxed{8}".into()), ..Reply::default() },
    });
    let answers = played.transcript.answers();
    assert_eq!(answers.solvers, [Some("2"), Some("1")]);
    assert_eq!(answers.check, [Some("3"), Some("9"), None]);
}

#[test]
fn tags_tolerate_case_spaces_and_markdown_emphasis() {
    for tag in [
        "#Question#",
        "#question#",
        "#QUESTION#",
        "# Question #",
        "#\tquestion #:",
        "**#Question#**",
        "*# question #*",
        "__#Question#__",
        "***#Question#***",
        "`#Question#`",
        "**#Question#:**",
        "#**Question**#",
        "### #Question#",
        "### **#Question#**",
        "### Question ###",
    ] {
        let reply = Reply::text(format!("#Reasoning#\nr\n#Draft#\nd\n{tag}\nWhat is *x*?"));
        assert_eq!(forwarded(&reply).as_deref(), Some("What is *x*?"), "{tag}");
        assert!(asked(&[reply]).transcript.turns[0].missing.is_empty(), "{tag}");
        for name in ["Summary", "Output"] {
            let tag = tag.to_ascii_lowercase().replace("question", name);
            assert_eq!(shown(&Reply::text(format!("work\n{tag}\nI added."))), "I added.", "{tag}");
        }
    }
}

#[test]
fn emphasis_around_a_tag_may_hold_spaces_and_heading_marks() {
    for tag in ["** #Question# **", "**## Question ##**", "**### #Question#**"] {
        assert_eq!(
            forwarded(&Reply::text(format!("{tag}\nWhat is x?"))).as_deref(),
            Some("What is x?"),
            "{tag}"
        );
        assert_eq!(forwarded(&Reply::text(tag)), None, "{tag}");
    }
}

#[test]
fn an_empty_question_is_no_question() {
    for empty in [
        "#Question#",
        "#Question# \n\t ",
        "**#Question#**\n",
        "#Question#:\n",
        "#Question#\nOld?\n#Question#",
    ] {
        let played = asked(&[Reply::text(empty), cut(empty)]);
        let errors: Vec<_> = played.transcript.turns.iter().map(|turn| turn.error).collect();
        assert_eq!(errors, [Some(TurnError::Malformed), Some(TurnError::Truncated)], "{empty}");
        assert_eq!(played.calls.len(), 2, "{empty}");
    }
}

#[test]
fn a_turn_without_a_question_is_recovered_by_how_it_failed_and_what_comes_next() {
    let mut seen = HashSet::new();
    let recoveries = [
        (Reply::text("#Reasoning#\nhm"), 1, "recover_probing_malformed.txt"),
        (cut("#Reasoning#\nhm"), 1, "recover_probing_truncated.txt"),
        (Reply::text("#Reasoning#\nhm"), 2, "recover_final_malformed.txt"),
        (cut("#Reasoning#\nhm"), 2, "recover_final_truncated.txt"),
    ];
    for (faulty, at, name) in recoveries {
        let mut turns = vec![turn("What is 1 + 1?"); 3];
        turns[at - 1] = faulty;
        let played = asked(&turns);
        let asks = played.to(Role::Asker);
        let message = last(asks[at]);
        let expected = prompt(name)
            .replace("{{next_question_num}}", &(at + 1).to_string())
            .replace("{{num_probing}}", "2")
            .replace("{{structure}}", &prompt("structure.txt"));
        assert_eq!(message, expected, "{name}");
        assert!(seen.insert(message.to_owned()), "{name} is the same as another");
        assert!(["#Reasoning#", "#Draft#", "#Question#"].iter().all(|tag| message.contains(tag)), "{name}");
        assert!(!message.to_ascii_lowercase().contains("solution#"), "{name}");
        assert!(
            played.calls.iter().all(|call| call.slot.turn as usize != at || call.slot.role == Role::Asker)
        );
        assert_eq!((asks.len(), played.transcript.turns.len()), (3, 3), "{name}");
        assert_eq!(played.transcript.turns[at - 1].solved, None);
        assert_eq!(played.grade(&Domain::math()).outcome, Outcome::TooEasy);
    }
}

#[test]
fn a_reply_that_was_cut_after_its_question_tag_is_no_trouble() {
    let reply = Reply { finish: Finish::Length, ..turn("What is 1 +") };
    assert_eq!(forwarded(&reply).as_deref(), Some("What is 1 +"));
}

#[test]
fn no_question_on_the_final_turn_ends_the_session() {
    for silent in [Reply::text("I give up."), cut("<think>hm"), Reply::default()] {
        let played = asked(&[turn("What is 1 + 1?"), silent]);
        assert!(played.calls.iter().all(|call| call.slot.turn == 1 || call.slot.role == Role::Asker));
        assert_eq!(played.calls.len(), 1 + 2 + 1);
        assert!(played.to(Role::Check).is_empty() && played.transcript.check.is_empty());
        let grade = played.grade(&Domain::math());
        assert_eq!((grade.outcome, grade.right), (Outcome::NoQuestion, None));
    }
}

#[test]
fn probing_replies_come_back_as_summaries() {
    let nothing = prompt("no_answer.txt");
    for (reply, expected) in [
        ("Long work.\n#Summary#\n\\boxed{3}\nI added.", "\\boxed{3}\nI added."),
        ("Long work.\n#Output#\n\\boxed{3}", "\\boxed{3}"),
        ("#Summary#\nold\n#Output#\n\\boxed{3} new", "\\boxed{3} new"),
        ("#Output#\nold\n#Summary#\n\\boxed{3} new", "\\boxed{3} new"),
        ("So \\boxed{7}.\n#Summary#\nI added.", "\\boxed{7}\nI added."),
        ("#Summary#\nI gave up.", "I gave up."),
        ("Work, \\boxed{3}, more work, \\boxed{5}. Done.", "\\boxed{5}"),
        ("Long work, and it is 5.", &nothing),
        ("#Summary#\n", &nothing),
        ("", &nothing),
    ] {
        assert_eq!(shown(&Reply::text(reply)), expected, "{reply}");
    }
    for next_is_final in [false, true] {
        let message =
            next_message(&Reply::text("x #Summary# ALPHA"), &Reply::text("y \\boxed{5} z"), next_is_final);
        let expected = "Answer from Model 1:\nALPHA\n\nAnswer from Model 2:\n\\boxed{5}\n\n";
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(message.contains("final"), next_is_final, "{message}");
    }
}

#[test]
fn a_summary_is_cut_to_2000_characters_and_keeps_the_box() {
    let exact = "é".repeat(2000);
    assert_eq!(shown(&Reply::text(format!("#Summary#\n{exact}"))), exact);
    assert_eq!(shown(&Reply::text(format!("#Summary#\n{exact}é"))), exact);
    for boxed in [r"\boxed{\frac{1}{2}}", r"\boxed{12345}"] {
        for summary in [
            format!("{boxed}#Summary#\n{exact}é"),
            format!("#Summary#\n{exact}{boxed}"),
            format!("{boxed}\n#Summary#\n{exact}"),
        ] {
            assert_eq!(shown(&Reply::text(summary.as_str())), format!("{boxed}\n{exact}"));
        }
        // The cut goes through the box, or takes only its last brace.
        for start in [1990, 2001 - boxed.len()].map(|length| "x".repeat(length)) {
            let text = shown(&Reply::text(format!("#Summary#\n{start}{boxed} and so on")));
            assert!(text.starts_with(&format!("{boxed}\n{start}")), "{text}");
            assert_eq!(text.chars().count(), 2000 + 1 + boxed.len());
        }
        // The box fits to the last character.
        let fits = format!("{}{boxed}", "x".repeat(2000 - boxed.len()));
        assert_eq!(shown(&Reply::text(format!("#Summary#\n{fits} and so on"))), fits);
    }
}

#[test]
fn the_final_question_goes_to_both_solvers_and_the_cross_check_in_grading_form() {
    let played = asked(&[turn("What is 1 + 1?"), turn("What is 2 + 2?")]);
    let slots: Vec<Slot> = played.calls[played.calls.len() - 5..].iter().map(|call| call.slot).collect();
    let check = |draw| Slot { turn: 2, role: Role::Check, draw };
    assert_eq!(slots, [Slot::first(2, ONE), Slot::first(2, TWO), check(0), check(1), check(2)]);
    for call in &played.calls[played.calls.len() - 5..] {
        let text = format!("{:?}", call.messages);
        assert!(!text.to_ascii_lowercase().contains("summar"), "{text}");
        assert!(text.contains("What is 2 + 2?") && !text.contains("What is 1 + 1?"), "{text}");
        assert_eq!(call.messages, played.to(Role::Check)[0].messages);
    }
    assert_eq!(played.to(Role::Check).len(), 3);
    let one_draw = play(session(Protocol::training(), Domain::math()), |call| match call.slot.role {
        Role::Asker => turn("What is 1 + 1?"),
        _ => Reply::text(r"\boxed{2}"),
    });
    assert_eq!(one_draw.to(Role::Check).len(), 1);
}

/// Every order of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(largest) = count.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| [&order[..at], &[largest], &order[at..]].concat())
    };
    orders(largest).into_iter().flat_map(insert).collect()
}

#[test]
fn replies_may_arrive_in_any_order() {
    let mut begun = session(rounds(1), Domain::math());
    begun.feed(Slot::first(1, Role::Asker), turn("What is 1 + 1?")).unwrap();
    let reply = |call: &Call| Reply::text(format!("\\boxed{{{}{}}}", call.slot.role, call.slot.draw));
    let mut forward = begun.clone();
    for call in calls(&begun) {
        forward.feed(call.slot, reply(&call)).unwrap();
    }
    for call in calls(&begun).iter().rev() {
        begun.feed(call.slot, reply(call)).unwrap();
    }
    assert_eq!(calls(&begun), calls(&forward));
    begun.feed(Slot::first(2, Role::Asker), turn("What is 2 + 2?")).unwrap();
    let expected = play(begun.clone(), reply).transcript;
    assert_eq!(expected.answers().solvers, [Some("one0"), Some("two0")]);
    assert_eq!(expected.answers().check, [Some("check0"), Some("check1"), Some("check2")]);
    let all = orders(5);
    assert_eq!(all.len(), 120);
    for order in all {
        let (mut session, open) = (begun.clone(), calls(&begun));
        for (fed, &at) in order.iter().enumerate() {
            assert_eq!(calls(&session).len(), open.len() - fed);
            session.feed(open[at].slot, reply(&open[at])).unwrap();
        }
        assert_eq!(play(session, reply).transcript, expected, "{order:?}");
    }
}

#[test]
fn an_unexpected_or_repeated_reply_is_refused_and_changes_nothing() {
    fn refuse_all_but(session: &mut Session, wanted: &[Slot]) {
        let roles = [Role::Asker, ONE, TWO, Role::Check, Role::Equivalence];
        let before = format!("{session:?}");
        for (turn, role, draw) in (0..=4)
            .flat_map(|turn| roles.map(|role| (turn, role)))
            .flat_map(|(turn, role)| [0, 1, 2, 3, u32::MAX].map(|draw| (turn, role, draw)))
        {
            let slot = Slot { turn, role, draw };
            if !wanted.contains(&slot) {
                assert_eq!(session.feed(slot, reply()), Err(FeedError(slot)));
                assert_eq!(format!("{session:?}"), before, "{slot:?}");
            }
        }
    }
    fn reply() -> Reply {
        turn("What is 3 + 3?")
    }
    let mut session = session(rounds(1), Domain::math());
    for _ in 0..12 {
        let wanted: Vec<Slot> = match session.need() {
            Need::Calls(calls) => calls.iter().map(|call| call.slot).collect(),
            Need::Done(_) => Vec::new(),
        };
        refuse_all_but(&mut session, &wanted);
        // The last of those needed, so that what was fed stays repeatable while others are open.
        if let Some(slot) = wanted.last() {
            session.feed(*slot, reply()).unwrap();
        }
    }
    assert!(matches!(session.need(), Need::Done(transcript) if transcript.turns.len() == 2));
}

#[test]
fn an_answer_is_the_last_balanced_box_else_the_last_word() {
    for (reply, answer) in [
        (r"First \boxed{1}, then \boxed{2}. So 3.", Some("2")),
        (r"\boxed{\frac{1}{2}}", Some(r"\frac{1}{2}")),
        (r"\boxed{3} and then \boxed{4", Some("3")),
        (r"\boxed{\{1, 2\}} holds", Some(r"\{1, 2\}")),
        ("I think that the answer is **42**. !", Some("42")),
        (r"Put it in \boxed{} : -7 .", Some("-7")),
        ("... !", None),
        ("", None),
    ] {
        let answers = answered(reply, "0", [reply; 3]).transcript;
        assert_eq!(answers.answers().solvers, [answer, Some("0")], "{reply}");
        assert_eq!(answers.answers().check, [answer; 3], "{reply}");
    }
}

#[test]
fn exactly_one_right_is_calibrated() {
    let (four, five, words) = (r"So \boxed{4}.", r"So \boxed{5}.", "The answer is 4.");
    for (one, two, check, outcome, right) in [
        (four, five, [four; 3], Outcome::Calibrated, Some([true, false])),
        (five, words, [four; 3], Outcome::Calibrated, Some([false, true])),
        ("", four, [words; 3], Outcome::Calibrated, Some([false, true])),
        (four, words, [four; 3], Outcome::TooEasy, Some([true, true])),
        (five, five, [four; 3], Outcome::TooHard, Some([false, false])),
        ("", "", [four; 3], Outcome::TooHard, Some([false, false])),
        (four, five, [four, four, five], Outcome::BadCrossCheck, None),
        (four, five, [five, four, four], Outcome::BadCrossCheck, None),
        (four, five, [four, "", four], Outcome::BadCrossCheck, None),
        ("", "", ["", "", ""], Outcome::BadCrossCheck, None),
    ] {
        let grade = answered(one, two, check).grade(&Domain::math());
        assert_eq!((grade.outcome, grade.right), (outcome, right), "{one} {two} {check:?}");
    }
}

#[test]
fn token_budgets_are_those_of_the_benchmark_and_of_training() {
    // asker probing and final, solvers probing and final, cross-check
    for (protocol, budgets) in [
        (Protocol::default(), [6_000, 10_000, 4_000, 6_000, 10_000]),
        (Protocol::training(), [4_000, 4_000, 3_000, 3_000, 3_000]),
    ] {
        let k = protocol.rounds;
        for question in [turn("What is 1 + 1?"), Reply::text("no question")] {
            let played = play(session(protocol.clone(), Domain::math()), |call| match call.slot {
                Slot { role: Role::Asker, turn, .. } if turn <= k => question.clone(),
                Slot { role: Role::Asker, .. } => turn("What is 2 + 2?"),
                _ => Reply::text(r"\boxed{2}"),
            });
            assert_eq!(played.to(Role::Asker).len() as u64, u64::from(k) + 1);
            for call in &played.calls {
                let expected = match (call.slot.role, call.slot.turn <= k) {
                    (Role::Asker, true) => budgets[0],
                    (Role::Asker, false) => budgets[1],
                    (Role::Check, _) => budgets[4],
                    (_, true) => budgets[2],
                    (_, false) => budgets[3],
                };
                assert_eq!(call.max_tokens, expected, "{:?}", call.slot);
            }
        }
    }
    assert_eq!((Protocol::default().check_draws, Protocol::training().check_draws), (3, 1));
    assert_eq!((Protocol::default().calls(), Protocol::training().calls()), (18, 13));
}

#[test]
fn rewards_are_those_of_the_paper() {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let clean = Transcript::default();
    for (outcome, calibration, diversity) in [
        (Outcome::Calibrated, 1.0, 0.3),
        (Outcome::TooEasy, 0.2, 0.06),
        (Outcome::TooHard, -0.2, 0.0),
        (Outcome::NoQuestion, -0.2, 0.0),
        (Outcome::BadCrossCheck, -0.2, 0.0),
    ] {
        let reward = Reward::of(outcome, &clean, 0.3);
        assert!(near(reward.calibration, calibration), "{outcome}");
        assert!(near(reward.diversity, diversity) && near(reward.format, 0.0), "{outcome}");
        assert!(near(reward.total(), calibration + diversity), "{outcome}");
    }
}

#[test]
fn each_asker_turn_that_lacks_a_required_tag_costs_the_same() {
    let whole = || turn("What is 1 + 1?");
    for (turns, faulty) in [
        (vec![whole(), whole(), whole(), whole()], 0_u8),
        (vec![whole(), Reply::text("#Question#\nWhat is 1 + 1?"), whole(), whole()], 1),
        (
            vec![
                Reply::text("#Reasoning#\n#Question#\nWhat?"),
                Reply::text("#Draft#\n#Question#\nWhat?"),
                whole(),
            ],
            2,
        ),
        (
            vec![
                Reply::text("nothing"),
                cut("<think>#Reasoning# #Draft# #Question#"),
                Reply::default(),
                whole(),
            ],
            3,
        ),
        (vec![Reply::default(); 4], 4),
    ] {
        let played = asked(&turns);
        let reward = Reward::of(played.grade(&Domain::math()).outcome, &played.transcript, 0.0);
        assert!((reward.format + 0.05 * f64::from(faulty)).abs() < 1e-12, "{faulty}: {reward:?}");
        let lacking = |turn: &&Turn| !turn.missing.is_empty();
        assert_eq!(played.transcript.turns.iter().filter(lacking).count(), usize::from(faulty));
    }
}

#[test]
fn prompts_keep_their_instructions() {
    for domain in Domain::NAMES.map(|name| name.parse::<Domain>().unwrap()) {
        for (k, faulty) in [(0, None), (1, None), (4, None), (3, Some(turn(""))), (3, Some(cut("hm")))] {
            let played = play(session(rounds(k), domain), |call| match call.slot.role {
                Role::Asker if call.slot.turn <= k => faulty.clone().unwrap_or_else(|| turn("What?")),
                Role::Asker => turn("What?"),
                _ => Reply::text("#Summary#\n\\boxed{2}\nI added."),
            });
            for call in &played.calls {
                for message in &call.messages {
                    assert!(
                        !message.content.contains("{{") && !message.content.contains("}}"),
                        "{message:?}"
                    );
                    assert!(!message.content.trim().is_empty());
                }
                let system = call.messages[0].content.as_ref();
                if call.slot.role == Role::Asker {
                    for text in [system, last(call)] {
                        assert!(
                            ["#Reasoning#", "#Draft#", "#Question#"].iter().all(|tag| text.contains(tag))
                        );
                    }
                    assert!(system.contains(r"\boxed") && system.contains("calibrated"));
                    assert!(k == 0 || system.contains(&format!("probing rounds you have: {k}.")), "{system}");
                } else {
                    assert!(last(call).contains(r"\boxed{}") && system.contains(r"\boxed{}"));
                    let probing = call.slot.turn <= k;
                    assert_eq!(last(call).contains("#Summary#"), probing);
                    assert_eq!(system.contains("#Summary#"), probing);
                }
            }
        }
        for message in Pack::builtin(&domain).equivalence("ALPHA", "BETA") {
            assert!(!message.content.contains("{{"));
            assert!(
                message.role == ChatRole::System
                    || ["ALPHA", "BETA"].iter().all(|a| message.content.contains(a))
            );
        }
    }
}

#[test]
fn all_turns_of_an_asker_share_one_token_limit() {
    // Two rounds and a final turn of at most 6,000, 6,000 and 10,000 tokens; each reply takes all it may.
    let budgets = |total: Option<u64>| {
        let protocol = Protocol { asker_total_tokens: total, ..rounds(2) };
        play(session(protocol, Domain::math()), |call| match call.slot.role {
            Role::Asker => {
                let mut reply = turn("What is 1 + 1?");
                reply.usage.completion = call.max_tokens.into();
                reply
            }
            _ => Reply::text(r"\boxed{2}"),
        })
    };
    let limits =
        |played: &Played| -> Vec<u32> { played.to(Role::Asker).iter().map(|call| call.max_tokens).collect() };
    let cases: [(Option<u64>, &[u32]); 6] = [
        (None, &[6_000, 6_000, 10_000]),
        (Some(22_000), &[6_000, 6_000, 10_000]),
        (Some(12_001), &[6_000, 6_000, 1]),
        (Some(12_000), &[6_000, 6_000]),
        (Some(5), &[5]),
        (Some(0), &[]),
    ];
    for (total, expected) in cases {
        let played = budgets(total);
        assert_eq!(limits(&played), expected, "{total:?}");
        let turns = &played.transcript.turns;
        assert_eq!(turns.len(), 3, "{total:?}");
        // Turns without a token are truncated, and a session that ends with one has no question.
        let truncated = turns.iter().filter(|turn| turn.error == Some(TurnError::Truncated)).count();
        assert_eq!(truncated, 3 - expected.len(), "{total:?}");
        let outcome = played.grade(&Domain::math()).outcome;
        let ended = if truncated > 0 { Outcome::NoQuestion } else { Outcome::TooEasy };
        assert_eq!(outcome, ended, "{total:?}");
    }
}
