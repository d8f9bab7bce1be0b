//! The transcript of a session.

use crate::number::count;
use crate::text::{self, cut, plain, rich};
use aske_chat::{Finish, Reply};
use aske_record::{SessionRecord, StoredCall};
use aske_session::{Grade, Role, Side, Slot, SolverAnswer, Turn, TurnError};
use maud::{Markup, html};
use std::cell::Cell;
use std::collections::HashMap;

/// Maximum characters of an answer.
const MAX_ANSWER: usize = 200;

/// A session with its record, replies and grade.
pub(super) struct SessionText {
    pub(super) record: SessionRecord,
    pub(super) replies: HashMap<Slot, StoredCall>,
    pub(super) grade: Option<Grade>,
}

/// Maximum characters of each kind of text.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    question: usize,
    final_reply: usize,
    probe_reply: usize,
    asker: usize,
    /// Render mathematics in replies too, while bytes are left; otherwise only in questions.
    math: bool,
}

/// Bytes that are left for rendered replies, which are much longer than their source.
type BytesLeft = Cell<usize>;

impl Limits {
    /// From the most to the least text.
    pub(super) const SHRINKING: [Self; 5] = [
        Self { question: 4_000, final_reply: 8_000, probe_reply: 4_000, asker: 8_000, math: true },
        Self { question: 4_000, final_reply: 8_000, probe_reply: 2_000, asker: 4_000, math: true },
        Self { question: 4_000, final_reply: 8_000, probe_reply: 2_000, asker: 4_000, math: false },
        Self { question: 2_000, final_reply: 4_000, probe_reply: 600, asker: 1_000, math: false },
        Self { question: 500, final_reply: 800, probe_reply: 200, asker: 200, math: false },
    ];
}

pub(super) fn transcript(session: &SessionText, limits: Limits, bytes: usize) -> Markup {
    let left = BytesLeft::new(if limits.math { bytes / 4 } else { 0 });
    let turns = &session.record.transcript.turns;
    let one = |(index, turn): (usize, &Turn)| {
        let last = index + 1 == turns.len();
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        html! {
            section.turn.final[last] {
                h4 { @if last { "Final question" } @else { "Round " (number) } }
                (asker(session, number, limits, &left))
                (question(turn, limits))
                @if let Some(solved) = &turn.solved { (solvers(session, number, solved, last, limits, &left)) }
            }
        }
    };
    // The final question matters most, so it is rendered first.
    let mut shown: Vec<Markup> = turns.iter().enumerate().rev().map(one).collect();
    shown.reverse();
    html! { @for turn in &shown { (turn) } (check(session, turns.len(), limits, &left)) }
}

fn asker(session: &SessionText, turn: u32, limits: Limits, left: &BytesLeft) -> Markup {
    html! {
        @if let Some(call) = session.replies.get(&Slot::first(turn, Role::Asker)) {
            details.asker {
                summary { "Full reply of " bdi { (plain(&session.record.asker)) } }
                (thinking(&call.reply, limits.asker / 2))
                (body(&call.reply.content, limits.asker, left))
            }
        }
    }
}

fn question(turn: &Turn, limits: Limits) -> Markup {
    html! {
        @match &turn.question {
            Some(text) => {
                @let (shown, more) = cut(text, limits.question);
                blockquote.question dir="auto" { (rich(shown)) (rest(more)) }
                @if turn.cut { p.aside { "The question was cut off at the word limit." } }
            }
            None => p.aside {
                @match turn.error {
                    Some(TurnError::Truncated) => "No question: the reply was cut off at the token limit.",
                    _ => "No question: its tag is missing.",
                }
            },
        }
    }
}

fn solvers(
    session: &SessionText,
    turn: u32,
    solved: &[SolverAnswer; 2],
    last: bool,
    limits: Limits,
    left: &BytesLeft,
) -> Markup {
    let right = session.grade.as_ref().and_then(|grade| grade.right).filter(|_| last);
    html! {
        div.pair {
            @for side in Side::BOTH {
                div.solver {
                    p.who { b { bdi { (plain(&session.record.solvers[side.index()])) } } span.aside { " Model " (side.index() + 1) } }
                    p.answer {
                        "Answer: " (answer(solved[side.index()].answer.as_deref()))
                        @if let Some(right) = right {
                            @if right[side.index()] { span.right { " ✓ right" } } @else { span.wrong { " ✗ wrong" } }
                        }
                        @if solved[side.index()].finish == Finish::Length { span.aside { " (cut off at the token limit)" } }
                    }
                    @if let Some(call) = session.replies.get(&Slot::first(turn, Role::Solver(side))) {
                        @let limit = if last { limits.final_reply } else { limits.probe_reply };
                        @if last {
                            (thinking(&call.reply, limits.probe_reply))
                            (body(&call.reply.content, limit, left))
                        } @else {
                            details { summary { "Reply" } (body(&call.reply.content, limit, left)) }
                        }
                    }
                }
            }
        }
    }
}

fn check(session: &SessionText, turns: usize, limits: Limits, left: &BytesLeft) -> Markup {
    let turn = u32::try_from(turns).unwrap_or(u32::MAX);
    let answers = &session.record.transcript.check;
    html! {
        @if !answers.is_empty() {
            p.check {
                b { "Cross-check answers: " }
                @for (index, one) in answers.iter().enumerate() {
                    @if index > 0 { ", " }
                    (answer(one.as_deref()))
                }
            }
            @if let Some(call) = session.replies.get(&Slot::first(turn, Role::Check)) {
                details { summary { "First solution" } (body(&call.reply.content, limits.probe_reply, left)) }
            }
        }
    }
}

fn answer(answer: Option<&str>) -> Markup {
    html! {
        @match answer {
            Some(text) => {
                @let (shown, more) = cut(text, MAX_ANSWER);
                bdi.said { (text::answer(shown)) } (rest(more))
            }
            None => span.aside { "none" },
        }
    }
}

fn thinking(reply: &Reply, limit: usize) -> Markup {
    html! {
        @if let Some(thinking) = reply.reasoning.as_deref().filter(|thinking| !thinking.trim().is_empty()) {
            details { summary { "Thinking" } (body(thinking, limit, &BytesLeft::new(0))) }
        }
    }
}

fn body(text: &str, limit: usize, left: &BytesLeft) -> Markup {
    let (shown, more) = cut(text.trim_end(), limit);
    let shown = if left.get() > 0 { rich(shown) } else { plain(shown) };
    left.set(left.get().saturating_sub(shown.0.len()));
    html! { div.reply dir="auto" { (shown) (rest(more)) } }
}

fn rest(more: usize) -> Markup {
    html! { @if more > 0 { span.more { " … " (count(more as u64)) " more characters" } } }
}
