//! Reads a rollout of another environment as a session.

use crate::feedback::answers;
use crate::fields::{Field, FieldMap};
use crate::rollout::{Rollout, RolloutMessage};
use crate::{ImportOptions, MissingData};
use aske_chat::{ChatRole, Finish, Reply, Usd};
use aske_record::{RoleUsage, StoredCall};
use aske_session::{Domain, Pack, Role, Side, Slot, SolverAnswer, Transcript, Turn, split_thinking};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The transcript: the questions of the asker and the known answers.
pub(crate) fn transcript(
    rollout: &Rollout,
    options: &ImportOptions,
    gaps: &mut Vec<MissingData>,
) -> Transcript {
    let indices = rollout.turns();
    let mut turns: Vec<Turn> = Vec::with_capacity(indices.len());
    let mut answers_missing = false;
    for (at, index) in indices.iter().enumerate() {
        let message = &rollout.messages[*index];
        let finish = message.call.as_ref().map_or(Finish::Other, |call| call.finish);
        let mut turn = Turn::read(&split_thinking(&message.text).visible, finish, options.question_words);
        if let (Some(next), Some(_)) = (indices.get(at + 1), &turn.question) {
            let shown = shown(&options.packs, &rollout.messages[*index..*next]);
            turn.solved = shown.map(|both| both.map(|text| solved(text, &options.domain)));
            answers_missing |= turn.solved.is_none();
        }
        turns.push(turn);
    }
    if answers_missing {
        gaps.push(MissingData::Probing);
    }
    let mut transcript = Transcript { turns, check: Vec::new() };
    if transcript.answers().question.is_some() {
        finals(&mut transcript, &rollout.fields, options, gaps);
    }
    transcript
}

/// Adds the answers to the final question that the fields contain.
fn finals(transcript: &mut Transcript, fields: &Value, options: &ImportOptions, gaps: &mut Vec<MissingData>) {
    let ImportOptions { map, domain, .. } = options;
    let both = [Field::AnswerOne, Field::AnswerTwo]
        .map(|key| map.find(fields, key, |value| field_answer(value, domain)));
    match (both, transcript.turns.last_mut()) {
        ([Some(one), Some(two)], Some(last)) => last.solved = Some([one, two]),
        _ => gaps.push(MissingData::Final),
    }
    match check(map, fields, domain) {
        Some(check) => transcript.check = check,
        None => gaps.push(MissingData::Check),
    }
}

fn check(map: &FieldMap, fields: &Value, domain: &Domain) -> Option<Vec<Option<String>>> {
    let answer = |value: &Value| field_answer(value, domain).map(|solved| solved.answer);
    map.find(fields, Field::Check, |value| match value {
        Value::Array(list) if list.is_empty() => None,
        Value::Array(list) => list.iter().map(answer).collect(),
        Value::Null => None,
        one => Some(vec![answer(one)?]),
    })
}

/// The answer in a field: a box, a single line, or the end of a longer reply. `null` means no answer; `None` if the
/// value is neither text nor a number.
fn field_answer(value: &Value, domain: &Domain) -> Option<SolverAnswer> {
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

/// The solver answers that the asker saw between two of its turns.
fn shown<'m>(packs: &[Pack], between: &'m [RolloutMessage]) -> Option<[&'m str; 2]> {
    between
        .iter()
        .filter(|message| message.role == ChatRole::User)
        .find_map(|message| answers(packs, &message.text))
}

/// The answer of a solver, from what the asker saw of it. Boxes are always shown; text without one has no answer and may
/// be a placeholder.
fn solved(shown: &str, domain: &Domain) -> SolverAnswer {
    let parts = split_thinking(shown);
    let answer = parts.boxed().is_some().then(|| domain.read(&parts)).flatten();
    SolverAnswer { answer, finish: Finish::Other }
}

/// The known replies: the asker's, and what it saw of the solvers'.
pub(crate) fn calls(
    rollout: &Rollout,
    packs: &[Pack],
    asker: &str,
    solvers: &[String; 2],
) -> Vec<(Slot, StoredCall)> {
    let indices = rollout.turns();
    let mut calls = Vec::new();
    for ((at, index), turn) in indices.iter().enumerate().zip(1..) {
        let message = &rollout.messages[*index];
        let call = message.call.clone().unwrap_or_default();
        let (content, reasoning) = (message.text.clone(), call.reasoning);
        let reply = Reply { content, reasoning, finish: call.finish, usage: call.usage, trace: None };
        calls.push((Slot::first(turn, Role::Asker), stored(asker, reply, call.latency, call.cost)));
        let between = indices.get(at + 1).map_or(&[][..], |next| &rollout.messages[*index..*next]);
        for (side, text) in Side::BOTH.into_iter().zip(shown(packs, between).into_iter().flatten()) {
            let reply = Reply { finish: Finish::Other, ..Reply::text(text) };
            let call = stored(&solvers[side.index()], reply, Duration::ZERO, Usd(0.0));
            calls.push((Slot::first(turn, Role::Solver(side)), call));
        }
    }
    calls
}

/// A reply as it is stored. Its request is unknown, so it has no hash.
fn stored(model: &str, reply: Reply, latency: Duration, cost: Usd) -> StoredCall {
    StoredCall { model: model.to_owned(), request: [0; 16], reply, latency, attempts: 1, cost }
}

/// Usage of the calls by role.
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
