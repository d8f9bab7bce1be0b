//! A rollout of somebody else's environment, read as a session.

use crate::fields::{Key, Map};
use crate::rollout::{Rollout, Said};
use crate::shown::answers;
use crate::{Gap, Options};
use aske_chat::{ChatRole, Finish, Reply, Usd};
use aske_record::{RoleUsage, StoredCall};
use aske_session::{Domain, Pack, Role, Side, Slot, SolverAnswer, Transcript, Turn, split_thinking};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the asker asked and what it is known to have got.
pub(crate) fn transcript(rollout: &Rollout, options: &Options, gaps: &mut Vec<Gap>) -> Transcript {
    let places = rollout.turns();
    let mut turns: Vec<Turn> = Vec::with_capacity(places.len());
    let mut unseen = false;
    for (at, place) in places.iter().enumerate() {
        let said = &rollout.messages[*place];
        let finish = said.call.as_ref().map_or(Finish::Other, |call| call.finish);
        let mut turn = Turn::read(&split_thinking(&said.text).visible, finish, options.question_words);
        if let (Some(next), Some(_)) = (places.get(at + 1), &turn.question) {
            let shown = shown(&options.packs, &rollout.messages[*place..*next]);
            turn.solved = shown.map(|both| both.map(|text| solved(text, &options.domain)));
            unseen |= turn.solved.is_none();
        }
        turns.push(turn);
    }
    if unseen {
        gaps.push(Gap::Probing);
    }
    let mut transcript = Transcript { turns, check: Vec::new() };
    if transcript.answers().question.is_some() {
        finals(&mut transcript, &rollout.fields, options, gaps);
    }
    transcript
}

/// The answers to the final question, as far as the fields tell them.
fn finals(transcript: &mut Transcript, fields: &Value, options: &Options, gaps: &mut Vec<Gap>) {
    let Options { map, domain, .. } = options;
    let told = [Key::AnswerOne, Key::AnswerTwo].map(|key| map.find(fields, key, |value| told(value, domain)));
    match (told, transcript.turns.last_mut()) {
        ([Some(one), Some(two)], Some(last)) => last.solved = Some([one, two]),
        _ => gaps.push(Gap::Final),
    }
    match check(map, fields, domain) {
        Some(check) => transcript.check = check,
        None => gaps.push(Gap::Check),
    }
}

fn check(map: &Map, fields: &Value, domain: &Domain) -> Option<Vec<Option<String>>> {
    let answer = |value: &Value| told(value, domain).map(|solved| solved.answer);
    map.find(fields, Key::Check, |value| match value {
        Value::Array(list) if list.is_empty() => None,
        Value::Array(list) => list.iter().map(answer).collect(),
        Value::Null => None,
        one => Some(vec![answer(one)?]),
    })
}

/// The answer in a field: a box, a line that is the answer itself, or what a longer reply ends with. `null` is known to
/// be no answer; anything else that is no text and no number is not understood.
fn told(value: &Value, domain: &Domain) -> Option<SolverAnswer> {
    let answer = match value {
        Value::Null => None,
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => {
            let parts = split_thinking(text);
            let visible = parts.visible.trim();
            let plain = parts.boxed().is_none() && !visible.contains('\n');
            let itself = || Some(visible.to_owned()).filter(|text| !text.is_empty());
            if plain { itself() } else { domain.read(&parts) }
        }
        _ => return None,
    };
    Some(SolverAnswer { answer, finish: Finish::Other })
}

/// What the asker was shown between two of its turns.
fn shown<'m>(packs: &[Pack], between: &'m [Said]) -> Option<[&'m str; 2]> {
    between.iter().filter(|said| said.role == ChatRole::User).find_map(|said| answers(packs, &said.text))
}

/// A solver's answer by what the asker was shown of it. A box is always shown; a text without one holds no answer, and
/// may be a placeholder.
fn solved(shown: &str, domain: &Domain) -> SolverAnswer {
    let parts = split_thinking(shown);
    let answer = parts.boxed().is_some().then(|| domain.read(&parts)).flatten();
    SolverAnswer { answer, finish: Finish::Other }
}

/// The replies that are known: the asker's, and of the solvers' what the asker was shown.
pub(crate) fn calls(
    rollout: &Rollout,
    packs: &[Pack],
    asker: &str,
    solvers: &[String; 2],
) -> Vec<(Slot, StoredCall)> {
    let places = rollout.turns();
    let mut calls = Vec::new();
    for ((at, place), turn) in places.iter().enumerate().zip(1..) {
        let said = &rollout.messages[*place];
        let took = said.call.clone().unwrap_or_default();
        let (content, reasoning) = (said.text.clone(), took.reasoning);
        let reply = Reply { content, reasoning, finish: took.finish, usage: took.usage, trace: None };
        calls.push((Slot::first(turn, Role::Asker), stored(asker, reply, took.latency, took.cost)));
        let between = places.get(at + 1).map_or(&[][..], |next| &rollout.messages[*place..*next]);
        for (side, text) in Side::BOTH.into_iter().zip(shown(packs, between).into_iter().flatten()) {
            let reply = Reply { finish: Finish::Other, ..Reply::text(text) };
            let call = stored(&solvers[side.index()], reply, Duration::ZERO, Usd(0.0));
            calls.push((Slot::first(turn, Role::Solver(side)), call));
        }
    }
    calls
}

/// A reply in the store. Its request is not known, so it has no hash.
fn stored(model: &str, reply: Reply, latency: Duration, cost: Usd) -> StoredCall {
    StoredCall { model: model.to_owned(), request: [0; 16], reply, latency, attempts: 1, cost }
}

/// What the calls took, by role.
pub(crate) fn used(rollout: &Rollout, calls: &[(Slot, StoredCall)]) -> BTreeMap<String, RoleUsage> {
    let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
    for (slot, call) in calls {
        let one = RoleUsage { calls: 1, usage: call.reply.usage, usd: call.cost };
        used.entry(slot.role.as_str().to_owned()).or_default().add(&one);
    }
    if let Some(asker) = used.get_mut(Role::Asker.as_str()) {
        asker.usage += rollout.usage;
    }
    used
}
