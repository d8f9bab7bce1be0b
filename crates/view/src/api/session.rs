//! `/api/session`: one session with every reply.

use crate::filter::Filter;
use crate::flags::Flag;
use crate::render::{RenderedText, TextBudget};
use crate::request::{ApiRequest, Cost};
use crate::runs::{LoadedRun, LoadedRuns};
use aske_evidence::{Run, Session};
use aske_http::ApiError;
use aske_record::{Replies, RoleUsage, StoredCall};
use aske_session::{Grade, Role, Section, Side, Slot, SolverAnswer, Turn, TurnError, split_thinking};
use axum::response::Response;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

#[derive(Serialize)]
struct SessionDetails {
    name: String,
    asker: String,
    /// The smaller solver first, as in all arrays of two below.
    pair: [String; 2],
    /// The number of each solver as the asker saw it: 1 or 2.
    models: [u8; 2],
    sample: u32,
    grade: Option<Grade>,
    right: Option<[bool; 2]>,
    flags: Vec<Flag>,
    turns: Vec<TurnDetails>,
    check: Vec<Draw>,
    used: BTreeMap<String, RoleUsage>,
    around: Neighbours,
}

/// The previous and next session that match the filter.
#[derive(Serialize)]
struct Neighbours {
    place: Option<usize>,
    total: usize,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Serialize)]
struct TurnDetails {
    question: Option<RenderedText>,
    cut: bool,
    trouble: Option<TurnError>,
    missing: Vec<Section>,
    asker: Option<Reply>,
    solvers: Option<[Draw; 2]>,
}

/// An answer, and the reply it was read from.
#[derive(Serialize)]
pub(super) struct Draw {
    pub(super) answer: Option<RenderedText>,
    pub(super) truncated: bool,
    pub(super) reply: Option<Reply>,
}

#[derive(Serialize)]
pub(super) struct Reply {
    model: String,
    text: RenderedText,
    thinking: Option<RenderedText>,
    finish: aske_chat::Finish,
    tokens: u64,
    seconds: f64,
    attempts: u32,
    usd: aske_chat::Usd,
    /// The address of the full text, if a part is left out.
    full: Option<String>,
}

/// Characters of each text that are read.
const MAX_CHARS: u32 = 512 << 10;

/// The stored replies of a record, up to the maximum length.
pub(super) struct Calls<'p> {
    /// The run's index.
    run: usize,
    record: String,
    by_slot: HashMap<Slot, (StoredCall, [usize; 2])>,
    budget: &'p TextBudget,
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let index = request.params.number("run", 0)?;
    let name = request.params.required("name")?;
    let filter = Filter::parse(&mut request.params)?;
    request.params.end()?;
    let respond = request.json(move |runs| {
        let run = runs.get(index)?.run;
        let cost = page_cost(stored(run, &name)? + find(run, &name)?.place.length + filter.cost(run));
        let session = move |runs: &LoadedRuns| details(runs.get(index)?, index, &name, &filter);
        Ok((cost, session))
    });
    respond.await
}

/// The cost of a page that is made from this many bytes.
pub(super) fn page_cost(read_bytes: usize) -> Cost {
    let response_bytes = (64 << 10) + read_bytes.saturating_mul(8).min(2 * TextBudget::TOTAL);
    Cost { read_bytes, response_bytes }
}

fn find<'r>(run: &'r Run, name: &str) -> Result<&'r Session, ApiError> {
    run.session(name).ok_or_else(|| ApiError::not_found("this run has no session of that name"))
}

/// Bytes of the stored replies of a record.
pub(super) fn stored(run: &Run, record: &str) -> Result<usize, ApiError> {
    Ok(usize::try_from(Replies::open(&run.path)?.bytes(record)?).unwrap_or(usize::MAX))
}

impl<'p> Calls<'p> {
    pub(super) fn read(
        replies: &Replies,
        (run, record): (usize, &str),
        budget: &'p TextBudget,
    ) -> Result<Self, ApiError> {
        Ok(Self { run, record: record.to_owned(), by_slot: replies.beginnings(record, MAX_CHARS)?, budget })
    }

    /// A reply with its thinking split off, wherever the model put it.
    pub(super) fn reply(&self, slot: Slot) -> Option<Reply> {
        let (call, [content_left, thinking_left]) = self.by_slot.get(&slot)?;
        let parts = split_thinking(&call.reply.content);
        let thinking: Vec<&str> = [call.reply.reasoning.as_deref(), parts.thinking.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect();
        let render = |text: &str, left: usize| {
            let mut rendered = self.budget.render(text);
            rendered.left_out += left;
            rendered
        };
        let text = render(&parts.visible, *content_left);
        let thinking = (!thinking.is_empty()).then(|| render(&thinking.join("\n\n"), *thinking_left));
        let cut = text.left_out + thinking.as_ref().map_or(0, |thinking| thinking.left_out) > 0;
        Some(Reply {
            full: cut.then(|| super::text::address(self.run, &self.record, slot)),
            model: call.model.clone(),
            text,
            thinking,
            finish: call.reply.finish,
            tokens: call.reply.usage.completion,
            seconds: call.latency.as_secs_f64(),
            attempts: call.attempts,
            usd: call.cost,
        })
    }

    /// Whether a reply was cut off at the token limit.
    fn is_truncated(&self, slot: Slot) -> bool {
        self.by_slot.get(&slot).is_some_and(|(call, _)| call.reply.finish == aske_chat::Finish::Length)
    }
}

fn details(
    loaded: LoadedRun<'_>,
    index: usize,
    name: &str,
    filter: &Filter,
) -> Result<SessionDetails, ApiError> {
    let run = loaded.run;
    let session = find(run, name)?;
    let record = run.record(session)?;
    let budget = TextBudget::new();
    let calls = Calls::read(&Replies::open(&run.path)?, (index, name), &budget)?;
    let sides = if session.swapped { [Side::Two, Side::One] } else { Side::BOTH };
    let (turns, check) = (&record.transcript.turns, &record.transcript.check);
    let last = u32::try_from(turns.len()).unwrap_or(u32::MAX);
    let draws = check.iter().zip(0..).map(|(answer, draw)| {
        let slot = Slot { turn: last, role: Role::Check, draw };
        let answer = answer.as_deref().map(|answer| budget.render(answer));
        Draw { answer, truncated: calls.is_truncated(slot), reply: calls.reply(slot) }
    });
    Ok(SessionDetails {
        name: name.to_owned(),
        asker: record.asker.clone(),
        pair: super::pair_names(run, session),
        models: sides.map(|side| if side == Side::One { 1 } else { 2 }),
        sample: session.sample,
        grade: session.grade.clone(),
        right: session.right(),
        flags: Flag::all_of(session, &loaded.status.duplicates),
        turns: turns
            .iter()
            .zip(1..)
            .map(|(turn, number)| turn_details(turn, number, sides, &calls))
            .collect(),
        check: draws.collect(),
        used: record.used,
        around: neighbours(loaded, session, filter)?,
    })
}

fn turn_details(turn: &Turn, number: u32, sides: [Side; 2], calls: &Calls<'_>) -> TurnDetails {
    let reply = |role: Role| calls.reply(Slot::first(number, role));
    let render = |text: &Option<String>| text.as_deref().map(|text| calls.budget.render(text));
    let draw = |side: Side, answers: &[SolverAnswer; 2]| {
        let SolverAnswer { answer, finish } = &answers[side.index()];
        let truncated = *finish == aske_chat::Finish::Length;
        Draw { answer: render(answer), truncated, reply: reply(Role::Solver(side)) }
    };
    TurnDetails {
        question: render(&turn.question),
        cut: turn.cut,
        trouble: turn.trouble,
        missing: turn.missing.clone(),
        asker: reply(Role::Asker),
        solvers: turn.solved.as_ref().map(|answers| sides.map(|side| draw(side, answers))),
    }
}

fn neighbours(loaded: LoadedRun<'_>, session: &Session, filter: &Filter) -> Result<Neighbours, ApiError> {
    let run = loaded.run;
    let indices = filter.find(loaded)?.indices;
    let place = indices.iter().position(|index| std::ptr::eq(&raw const run.sessions[*index], session));
    let name = |at: Option<usize>| Some(run.name(&run.sessions[*indices.get(at?)?]));
    Ok(Neighbours {
        place,
        total: indices.len(),
        before: name(place.and_then(|place| place.checked_sub(1))),
        after: name(place.map(|place| place + 1)),
    })
}
