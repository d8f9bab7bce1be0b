//! `/api/session`: one session whole, with every reply.

use crate::filter::Filter;
use crate::flags::Flag;
use crate::params::Params;
use crate::problem::Problem;
use crate::reply::{Http, Work};
use crate::runs::{Runs, Shelf, Shelves};
use crate::shown::{Room, Shown};
use aske_evidence::{Run, Session};
use aske_record::{Replies, RoleUsage, StoredCall};
use aske_session::{Grade, Role, Section, Side, Slot, Turn, TurnError, split_thinking};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Serialize)]
struct Whole {
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
    used: BTreeMap<String, RoleUsage>,
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
    trouble: Option<TurnError>,
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
    /// Where the whole text is, when a part was left out.
    full: Option<String>,
}

/// Characters of each text that are read.
const MOST: u32 = 512 << 10;

/// The replies of a record as far as they are shown.
pub(super) struct Calls<'p> {
    /// The run's place, and the record's name.
    pub(super) run: usize,
    pub(super) record: String,
    by_slot: HashMap<Slot, (StoredCall, [usize; 2])>,
    pub(super) room: &'p Room,
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let place = params.number("run", 0)?;
    let name = params.text("name")?.ok_or_else(|| Problem::bad("`name` is needed: which session?"))?;
    let filter = Filter::take(&mut params)?;
    params.end()?;
    let measure = move |shelves: &Shelves| {
        let run = shelves.get(place)?.run;
        let cost = stored(run, &name)? + named(run, &name)?.place.length + filter.cost(run);
        Ok((cost, name, filter))
    };
    let (cost, name, filter) = runs.measure(&http, measure).await?;
    let whole = move |shelves: &Shelves| {
        let shelf = shelves.get(place)?;
        of(shelf, place, named(shelf.run, &name)?, &name, &filter)
    };
    runs.json(&http, page(cost), whole).await
}

/// The work of a page that is made from so many bytes.
pub(super) fn page(cost: usize) -> Work {
    Work { cost, most: (64 << 10) + cost.saturating_mul(8).min(2 * Room::PAGE) }
}

fn named<'r>(run: &'r Run, name: &str) -> Result<&'r Session, Problem> {
    run.session(name).ok_or_else(|| Problem::missing("this run has no session of that name"))
}

/// Bytes of the replies to a record.
pub(super) fn stored(run: &Run, record: &str) -> Result<usize, Problem> {
    Ok(usize::try_from(Replies::open(&run.path)?.bytes(record)?).unwrap_or(usize::MAX))
}

impl<'p> Calls<'p> {
    pub(super) fn read(
        replies: &Replies,
        (run, record): (usize, &str),
        room: &'p Room,
    ) -> Result<Self, Problem> {
        Ok(Self { run, record: record.to_owned(), by_slot: replies.beginnings(record, MOST)?, room })
    }

    /// A reply with its thinking apart, wherever the model put it.
    pub(super) fn reply(&self, slot: Slot) -> Option<Reply> {
        let (call, [content_left, thinking_left]) = self.by_slot.get(&slot)?;
        let parts = split_thinking(&call.reply.content);
        let thinking: Vec<&str> = [call.reply.reasoning.as_deref(), parts.thinking.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect();
        let shown = |text: &str, left: usize| {
            let mut shown = self.room.whole(text);
            shown.left_out += left;
            shown
        };
        let text = shown(&parts.visible, *content_left);
        let thinking = (!thinking.is_empty()).then(|| shown(&thinking.join("\n\n"), *thinking_left));
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

    /// Whether a reply was cut off at its limit.
    fn is_truncated(&self, slot: Slot) -> bool {
        self.by_slot.get(&slot).is_some_and(|(call, _)| call.reply.finish == aske_chat::Finish::Length)
    }
}

fn of(
    shelf: Shelf<'_>,
    place: usize,
    session: &Session,
    name: &str,
    filter: &Filter,
) -> Result<Whole, Problem> {
    let run = shelf.run;
    let record = run.record(session)?;
    let room = Room::new();
    let calls = Calls::read(&Replies::open(&run.path)?, (place, name), &room)?;
    let sides = if session.swapped { [Side::Two, Side::One] } else { Side::BOTH };
    let (turns, check) = (&record.transcript.turns, &record.transcript.check);
    let last = u32::try_from(turns.len()).unwrap_or(u32::MAX);
    let draws = check.iter().zip(0..).map(|(answer, draw)| {
        let slot = Slot { turn: last, role: Role::Check, draw };
        let answer = answer.as_deref().map(|answer| room.whole(answer));
        Draw { answer, truncated: calls.is_truncated(slot), reply: calls.reply(slot) }
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

fn shown(turn: &Turn, number: u32, sides: [Side; 2], calls: &Calls<'_>) -> ShownTurn {
    let call = |role: Role| calls.reply(Slot::first(number, role));
    let draw = |side: Side, solved: &[aske_session::SolverAnswer; 2]| {
        let solved = &solved[side.index()];
        Draw {
            answer: solved.answer.as_deref().map(|answer| calls.room.whole(answer)),
            truncated: solved.finish == aske_chat::Finish::Length,
            reply: call(Role::Solver(side)),
        }
    };
    ShownTurn {
        question: turn.question.as_deref().map(|question| calls.room.whole(question)),
        cut: turn.cut,
        trouble: turn.trouble,
        missing: turn.missing.clone(),
        asker: call(Role::Asker),
        solvers: turn.solved.as_ref().map(|solved| sides.map(|side| draw(side, solved))),
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
