//! A session as a transcript.

use crate::number::count;
use crate::text::{self, cut, plain, rich};
use aske_chat::{Finish, Reply};
use aske_record::{SessionRecord, StoredCall};
use aske_session::{Grade, Role, Side, Slot, SolverAnswer, Turn, TurnError};
use maud::{Markup, html};
use std::cell::Cell;
use std::collections::HashMap;

/// An answer is short; more is shown in the reply.
const ANSWER: usize = 200;

/// A session with all that is known of it.
pub(super) struct Opened {
    pub(super) record: SessionRecord,
    pub(super) replies: HashMap<Slot, StoredCall>,
    pub(super) grade: Option<Grade>,
}

/// How many characters are shown of a text.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    question: usize,
    final_reply: usize,
    probe_reply: usize,
    asker: usize,
    /// Mathematics is rendered in replies too, while there is room; else only in questions.
    math: bool,
}

/// Bytes that are left for rendered replies; it is much longer than its source.
type Room = Cell<usize>;

impl Limits {
    /// From generous to sparing.
    pub(super) const SHRINKING: [Self; 5] = [
        Self { question: 4_000, final_reply: 8_000, probe_reply: 4_000, asker: 8_000, math: true },
        Self { question: 4_000, final_reply: 8_000, probe_reply: 2_000, asker: 4_000, math: true },
        Self { question: 4_000, final_reply: 8_000, probe_reply: 2_000, asker: 4_000, math: false },
        Self { question: 2_000, final_reply: 4_000, probe_reply: 600, asker: 1_000, math: false },
        Self { question: 500, final_reply: 800, probe_reply: 200, asker: 200, math: false },
    ];
}

pub(super) fn transcript(opened: &Opened, limits: Limits, room: usize) -> Markup {
    let room = Room::new(if limits.math { room / 4 } else { 0 });
    let turns = &opened.record.transcript.turns;
    let one = |(place, turn): (usize, &Turn)| {
        let last = place + 1 == turns.len();
        let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
        html! {
            section.turn.final[last] {
                h4 { @if last { "Final question" } @else { "Round " (number) } }
                (asker(opened, number, limits, &room))
                (question(turn, limits))
                @if let Some(solved) = &turn.solved { (solvers(opened, number, solved, last, limits, &room)) }
            }
        }
    };
    // The final question matters most, so it has the room first.
    let mut shown: Vec<Markup> = turns.iter().enumerate().rev().map(one).collect();
    shown.reverse();
    html! { @for turn in &shown { (turn) } (check(opened, turns.len(), limits, &room)) }
}

fn asker(opened: &Opened, turn: u32, limits: Limits, room: &Room) -> Markup {
    html! {
        @if let Some(call) = opened.replies.get(&Slot::first(turn, Role::Asker)) {
            details.asker {
                summary { "What " bdi { (plain(&opened.record.asker)) } " wrote" }
                (thinking(&call.reply, limits.asker / 2))
                (body(&call.reply.content, limits.asker, room))
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
                @if turn.cut { p.aside { "The question was cut at the word limit." } }
            }
            None => p.aside {
                @match turn.trouble {
                    Some(TurnError::Truncated) => "No question: the reply was cut at the token limit.",
                    _ => "No question under its tag.",
                }
            },
        }
    }
}

fn solvers(
    opened: &Opened,
    turn: u32,
    solved: &[SolverAnswer; 2],
    last: bool,
    limits: Limits,
    room: &Room,
) -> Markup {
    let right = opened.grade.as_ref().and_then(|grade| grade.right).filter(|_| last);
    html! {
        div.pair {
            @for side in Side::BOTH {
                div.solver {
                    p.who { b { bdi { (plain(&opened.record.solvers[side.index()])) } } span.aside { " Model " (side.index() + 1) } }
                    p.answer {
                        "Answer: " (answer(solved[side.index()].answer.as_deref()))
                        @if let Some(right) = right {
                            @if right[side.index()] { span.right { " ✓ right" } } @else { span.wrong { " ✗ wrong" } }
                        }
                        @if solved[side.index()].finish == Finish::Length { span.aside { " (cut at the token limit)" } }
                    }
                    @if let Some(call) = opened.replies.get(&Slot::first(turn, Role::Solver(side))) {
                        @let limit = if last { limits.final_reply } else { limits.probe_reply };
                        @if last {
                            (thinking(&call.reply, limits.probe_reply))
                            (body(&call.reply.content, limit, room))
                        } @else {
                            details { summary { "Reply" } (body(&call.reply.content, limit, room)) }
                        }
                    }
                }
            }
        }
    }
}

fn check(opened: &Opened, turns: usize, limits: Limits, room: &Room) -> Markup {
    let turn = u32::try_from(turns).unwrap_or(u32::MAX);
    let answers = &opened.record.transcript.check;
    html! {
        @if !answers.is_empty() {
            p.check {
                b { "Cross-check answers: " }
                @for (place, one) in answers.iter().enumerate() {
                    @if place > 0 { ", " }
                    (answer(one.as_deref()))
                }
            }
            @if let Some(call) = opened.replies.get(&Slot::first(turn, Role::Check)) {
                details { summary { "Its first solution" } (body(&call.reply.content, limits.probe_reply, room)) }
            }
        }
    }
}

fn answer(answer: Option<&str>) -> Markup {
    html! {
        @match answer {
            Some(text) => {
                @let (shown, more) = cut(text, ANSWER);
                bdi.said { (text::answer(shown)) } (rest(more))
            }
            None => span.aside { "none" },
        }
    }
}

fn thinking(reply: &Reply, limit: usize) -> Markup {
    html! {
        @if let Some(thinking) = reply.reasoning.as_deref().filter(|thinking| !thinking.trim().is_empty()) {
            details { summary { "Thinking" } (body(thinking, limit, &Room::new(0))) }
        }
    }
}

fn body(text: &str, limit: usize, room: &Room) -> Markup {
    let (shown, more) = cut(text.trim_end(), limit);
    let shown = if room.get() > 0 { rich(shown) } else { plain(shown) };
    room.set(room.get().saturating_sub(shown.0.len()));
    html! { div.reply dir="auto" { (shown) (rest(more)) } }
}

fn rest(more: usize) -> Markup {
    html! { @if more > 0 { span.more { " … " (count(more as u64)) " more characters" } } }
}
