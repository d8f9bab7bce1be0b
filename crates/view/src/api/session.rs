//! `/api/session`: one session whole, with every reply.

use crate::filter::Filter;
use crate::flags::Flag;
use crate::params::Params;
use crate::problem::Problem;
use crate::runs::{Runs, Shelf};
use crate::shown::{Shown, whole};
use aske_evidence::Session;
use aske_record::{RoleUse, StoredCall};
use aske_session::{Grade, Role, Section, Side, Slot, Trouble, Turn, split_thinking};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Serialize)]
pub(crate) struct Whole {
    name: String,
    asker: String,
    /// The smaller solver first; so are all lists of two below.
    pair: [String; 2],
    /// Which model each was to the asker: 1 or 2.
    models: [u8; 2],
    sample: u32,
    grade: Option<Grade>,
    right: Option<[bool; 2]>,
    flags: Vec<Flag>,
    turns: Vec<ShownTurn>,
    check: Vec<Draw>,
    used: BTreeMap<String, RoleUse>,
    around: Around,
}

/// The session's neighbours under the filter.
#[derive(Serialize)]
struct Around {
    place: Option<usize>,
    total: usize,
    before: Option<String>,
    after: Option<String>,
}

#[derive(Serialize)]
struct ShownTurn {
    question: Option<Shown>,
    cut: bool,
    trouble: Option<Trouble>,
    missing: Vec<Section>,
    asker: Option<Reply>,
    solvers: Option<[Draw; 2]>,
}

/// An answer, and the reply it was read from.
#[derive(Serialize)]
pub(super) struct Draw {
    pub(super) answer: Option<Shown>,
    pub(super) truncated: bool,
    pub(super) reply: Option<Reply>,
}

#[derive(Serialize)]
pub(super) struct Reply {
    model: String,
    text: Shown,
    thinking: Option<Shown>,
    finish: aske_chat::Finish,
    tokens: u64,
    seconds: f64,
    attempts: u32,
    usd: aske_chat::Usd,
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    mut params: Params,
) -> Result<Json<Whole>, Problem> {
    let run = params.number("run", 0)?;
    let name = params.text("name")?.ok_or_else(|| Problem::bad("`name` is needed: which session?"))?;
    let filter = Filter::take(&mut params)?;
    params.end()?;
    let whole = runs.answer(move |shelves| {
        let shelf = shelves.get(run)?;
        let known = shelf.run.session(&name);
        let session = known.ok_or_else(|| Problem::missing("this run has no session of that name"))?;
        of(shelf, session, &name, &filter)
    });
    whole.await.map(Json)
}

fn of(shelf: Shelf<'_>, session: &Session, name: &str, filter: &Filter) -> Result<Whole, Problem> {
    let run = shelf.run;
    let record = run.record(session)?;
    let calls = run.replies(name)?;
    let sides = if session.swapped { [Side::Two, Side::One] } else { Side::BOTH };
    let (turns, check) = (&record.transcript.turns, &record.transcript.check);
    let last = u32::try_from(turns.len()).unwrap_or(u32::MAX);
    let draws = check.iter().zip(0..).map(|(answer, draw)| {
        let call = calls.get(&Slot { turn: last, role: Role::Check, draw });
        let truncated = call.is_some_and(|call| call.reply.finish == aske_chat::Finish::Length);
        Draw { answer: answer.as_deref().map(whole), truncated, reply: call.map(reply) }
    });
    Ok(Whole {
        name: name.to_owned(),
        asker: record.asker.clone(),
        pair: session.pair.map(|place| super::solver(run, place)),
        models: sides.map(|side| if side == Side::One { 1 } else { 2 }),
        sample: session.sample,
        grade: session.grade.clone(),
        right: session.right(),
        flags: Flag::all_of(session, &shelf.about.repeated),
        turns: turns.iter().zip(1..).map(|(turn, number)| shown(turn, number, sides, &calls)).collect(),
        check: draws.collect(),
        used: record.used,
        around: around(shelf, session, filter)?,
    })
}

fn shown(turn: &Turn, number: u32, sides: [Side; 2], calls: &HashMap<Slot, StoredCall>) -> ShownTurn {
    let call = |role: Role| calls.get(&Slot::first(number, role)).map(reply);
    let draw = |side: Side, solved: &[aske_session::Solved; 2]| {
        let solved = &solved[side.index()];
        Draw {
            answer: solved.answer.as_deref().map(whole),
            truncated: solved.finish == aske_chat::Finish::Length,
            reply: call(Role::Solver(side)),
        }
    };
    ShownTurn {
        question: turn.question.as_deref().map(whole),
        cut: turn.cut,
        trouble: turn.trouble,
        missing: turn.missing.clone(),
        asker: call(Role::Asker),
        solvers: turn.solved.as_ref().map(|solved| sides.map(|side| draw(side, solved))),
    }
}

/// A reply with its thinking apart, wherever the model put it.
pub(super) fn reply(call: &StoredCall) -> Reply {
    let parts = split_thinking(&call.reply.content);
    let thinking: Vec<&str> = [call.reply.reasoning.as_deref(), parts.thinking.as_deref()]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    Reply {
        model: call.model.clone(),
        text: whole(&parts.visible),
        thinking: (!thinking.is_empty()).then(|| whole(&thinking.join("\n\n"))),
        finish: call.reply.finish,
        tokens: call.reply.usage.completion,
        seconds: call.latency.as_secs_f64(),
        attempts: call.attempts,
        usd: call.cost,
    }
}

fn around(shelf: Shelf<'_>, session: &Session, filter: &Filter) -> Result<Around, Problem> {
    let run = shelf.run;
    let places = filter.find(shelf)?.places;
    let place = places.iter().position(|place| std::ptr::eq(&raw const run.sessions[*place], session));
    let name = |at: Option<usize>| at.and_then(|at| places.get(at)).map(|at| run.name(&run.sessions[*at]));
    Ok(Around {
        place,
        total: places.len(),
        before: name(place.and_then(|place| place.checked_sub(1))),
        after: name(place.map(|place| place + 1)),
    })
}
