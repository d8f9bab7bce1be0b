//! `/api/session`: one session with every reply.

use crate::filter::SessionFilter;
use crate::flags::Flag;
use crate::render::{RenderedText, TextBudget};
use crate::request::{self, ApiRequest, Cost};
use crate::runs::LoadedRun;
use crate::sections::{Part, sections};
use aske_chat::Finish;
use aske_evidence::{Run, Session};
use aske_http::ApiError;
use aske_record::{Replies, StoredCall};
use aske_session::{Role, Side, Slot, SolverAnswer, Turn, split_thinking};
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Characters of each text that are read.
const MAX_CHARS: u32 = 512 << 10;

/// The stored replies of a record, up to the maximum length.
pub(super) struct Calls<'p> {
    /// The run's id.
    run: String,
    record: String,
    by_slot: HashMap<Slot, (StoredCall, [usize; 2])>,
    budget: &'p TextBudget,
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let name = request.params.required("name")?;
    let filter = SessionFilter::parse(&mut request.params)?;
    request.params.end()?;
    let respond = request.run_json(run, request::Part::Whole, move |loaded: LoadedRun<'_>| {
        let run = loaded.run;
        let cost = page_cost(stored(run, &name)? + find(run, &name)?.place.length + filter.cost(run));
        let session = move |loaded: LoadedRun<'_>| details(loaded, &name, &filter);
        Ok((cost, session))
    });
    respond.await
}

/// The cost of a page that is made from this many bytes.
pub(super) fn page_cost(read_bytes: usize) -> Cost {
    let response_bytes = (64 << 10) + read_bytes.saturating_mul(8).min(2 * TextBudget::TOTAL);
    Cost { read_bytes, response_bytes }
}

pub(super) fn find<'r>(run: &'r Run, name: &str) -> Result<&'r Session, ApiError> {
    run.session(name).ok_or_else(|| ApiError::not_found("this run has no session of that name"))
}

/// Bytes of the stored replies of a record.
pub(super) fn stored(run: &Run, record: &str) -> Result<usize, ApiError> {
    Ok(usize::try_from(Replies::open(&run.path)?.bytes(record)?).unwrap_or(usize::MAX))
}

impl<'p> Calls<'p> {
    pub(super) fn read(
        replies: &Replies,
        (run, record): (&str, &str),
        budget: &'p TextBudget,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            run: run.to_owned(),
            record: record.to_owned(),
            by_slot: replies.truncated(record, MAX_CHARS)?,
            budget,
        })
    }

    /// The asker's reply, with the parts of its text by section.
    fn asker_reply(&self, turn: u32) -> Option<Value> {
        let slot = Slot::first(turn, Role::Asker);
        let parts = split_thinking(&self.by_slot.get(&slot)?.0.reply.content);
        let mut reply = self.reply_with(slot, |text| self.budget.plain(text))?;
        let section =
            |part: &Part<'_>| json!({ "section": part.section, "text": self.budget.render(part.text) });
        reply["sections"] = sections(&parts.visible).iter().map(section).collect();
        Some(reply)
    }

    /// A reply with its thinking split off, wherever the model put it.
    pub(super) fn reply(&self, slot: Slot) -> Option<Value> {
        self.reply_with(slot, |text| self.budget.render(text))
    }

    fn reply_with(&self, slot: Slot, visible: impl Fn(&str) -> RenderedText) -> Option<Value> {
        let (call, [content_left, thinking_left]) = self.by_slot.get(&slot)?;
        let parts = split_thinking(&call.reply.content);
        let thinking: Vec<&str> = [call.reply.reasoning.as_deref(), parts.thinking.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect();
        let with = |mut rendered: RenderedText, left: usize| {
            rendered.left_out += left;
            rendered
        };
        let text = with(visible(&parts.visible), *content_left);
        let thinking =
            (!thinking.is_empty()).then(|| with(self.budget.render(&thinking.join("\n\n")), *thinking_left));
        let cut = text.left_out + thinking.as_ref().map_or(0, |thinking| thinking.left_out) > 0;
        Some(json!({
            "model": call.model,
            "text": text,
            "thinking": thinking,
            "finish": call.reply.finish,
            "tokens": call.reply.usage.completion,
            "prompt": call.reply.usage.prompt,
            "seconds": call.latency.as_secs_f64(),
            "attempts": call.attempts,
            "usd": call.cost,
            // The address of the full text, if a part is left out.
            "full": cut.then(|| super::text::address(&self.run, &self.record, slot)),
        }))
    }

    /// An answer, and the reply it was read from.
    fn draw(&self, answer: Option<&str>, truncated: bool, slot: Slot) -> Value {
        let answer = answer.map(|answer| self.budget.render(answer));
        json!({ "answer": answer, "truncated": truncated, "reply": self.reply(slot) })
    }

    /// Whether a reply was cut off at the token limit.
    fn is_truncated(&self, slot: Slot) -> bool {
        self.by_slot.get(&slot).is_some_and(|(call, _)| call.reply.finish == Finish::Length)
    }
}

fn details(loaded: LoadedRun<'_>, name: &str, filter: &SessionFilter) -> Result<Value, ApiError> {
    let run = loaded.run;
    let session = find(run, name)?;
    let record = run.record(session)?;
    let budget = TextBudget::new();
    let calls = Calls::read(&Replies::open(&run.path)?, (loaded.id, name), &budget)?;
    let sides = if session.swapped { [Side::Two, Side::One] } else { Side::BOTH };
    let (turns, check) = (&record.transcript.turns, &record.transcript.check);
    let last = u32::try_from(turns.len()).unwrap_or(u32::MAX);
    let draws = check.iter().zip(0..).map(|(answer, draw)| {
        let slot = Slot { turn: last, role: Role::Check, draw };
        calls.draw(answer.as_deref(), calls.is_truncated(slot), slot)
    });
    // The final question first: long texts of earlier turns must not use up what may be sent.
    let numbered: Vec<(&Turn, u32)> = turns.iter().zip(1..).collect();
    let from_last =
        numbered.into_iter().rev().map(|(turn, number)| turn_details(turn, number, sides, &calls));
    let mut turns: Vec<Value> = from_last.collect();
    turns.reverse();
    Ok(json!({
        "name": name,
        "asker": record.asker,
        // The smaller solver first, as in all arrays of two below.
        "pair": super::pair_names(run, session),
        // The number of each solver as the asker saw it.
        "models": sides.map(|side| if side == Side::One { 1 } else { 2 }),
        "sample": session.sample,
        "grade": session.grade,
        "right": session.right(),
        // The answer that the cross-check agreed on.
        "reference": session.right().and_then(|_| Some(budget.render(session.check.first()?.as_deref()?))),
        "audit": audit(loaded, session, name, &budget),
        "flags": Flag::all_of(session, &loaded.status.duplicates),
        "turns": turns,
        "check": draws.collect::<Vec<_>>(),
        "used": record.used,
        "around": neighbours(loaded, session, filter)?,
    }))
}

/// The fresh draws of an audit: those of the pair, the smaller solver first, and those of other solvers.
fn audit(loaded: LoadedRun<'_>, session: &Session, name: &str, budget: &TextBudget) -> Option<Value> {
    let audited = loaded.run.audited();
    let panel = audited.get(name)?;
    let right = panel.right.as_ref()?;
    let of = |solver: &String| {
        let (right, answers) = (right.get(solver)?, panel.answers.get(solver)?);
        let full = (0..).take(answers.len()).map(|draw| {
            let record = format!("audit/{name}/{solver}");
            super::text::address(loaded.id, &record, Slot { turn: 0, role: Role::Panel, draw })
        });
        let texts = answers.iter().map(|solved| solved.answer.as_deref().map(|text| budget.render(text)));
        Some(json!({
            "name": solver,
            "right": right,
            "answers": texts.collect::<Vec<_>>(),
            "full": full.collect::<Vec<_>>(),
        }))
    };
    let pair = super::pair_names(loaded.run, session);
    let others = right.keys().filter(|solver| !pair.contains(solver));
    Some(json!({
        "pair": pair.iter().map(of).collect::<Option<Vec<_>>>()?,
        "controls": others.filter_map(of).collect::<Vec<_>>(),
    }))
}

fn turn_details(turn: &Turn, number: u32, sides: [Side; 2], calls: &Calls<'_>) -> Value {
    let solver = |side: Side, answers: &[SolverAnswer; 2]| {
        let SolverAnswer { answer, finish } = &answers[side.index()];
        let slot = Slot::first(number, Role::Solver(side));
        calls.draw(answer.as_deref(), *finish == Finish::Length, slot)
    };
    json!({
        "question": turn.question.as_deref().map(|text| calls.budget.render(text)),
        "cut": turn.cut,
        "trouble": turn.error,
        "missing": turn.missing,
        "asker": calls.asker_reply(number),
        "solvers": turn.solved.as_ref().map(|answers| sides.map(|side| solver(side, answers))),
    })
}

/// The previous and next session that match the filter.
fn neighbours(loaded: LoadedRun<'_>, session: &Session, filter: &SessionFilter) -> Result<Value, ApiError> {
    let run = loaded.run;
    let indices = filter.find(loaded)?.indices;
    let place = indices.iter().position(|index| std::ptr::eq(&raw const run.sessions[*index], session));
    let name = |at: Option<usize>| Some(run.name(&run.sessions[*indices.get(at?)?]));
    Ok(json!({
        "place": place,
        "total": indices.len(),
        "before": name(place.and_then(|place| place.checked_sub(1))),
        "after": name(place.map(|place| place + 1)),
    }))
}
