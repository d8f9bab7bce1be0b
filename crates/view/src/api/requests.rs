//! `/api/requests`: the exact requests of a session; `/api/eval-call`: the one of a sample; `/api/raw`: a session's record.

use super::session::{find, page_cost, stored};
use crate::dialogue::{self, Rebuilt, Verdict};
use crate::render::TextBudget;
use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use aske_chat::Message;
use aske_http::ApiError;
use aske_record::{Replies, StoredCall, read_line_at};
use aske_session::{Role, Slot};
use axum::response::Response;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Bytes of the longest record that is shown as JSON.
const MAX_RAW: usize = 2 << 20;
/// Bytes of the stored replies from which requests are rebuilt at most.
const MAX_REPLIES: usize = 64 << 20;

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let name = request.params.required("name")?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        find(loaded.run, &name)?;
        // The asker's conversation is built once for each of its turns.
        let bytes = stored(loaded.run, &name)?;
        let cost = Cost { read_bytes: bytes.saturating_mul(8), ..page_cost(bytes) };
        Ok((cost, move |loaded: LoadedRun<'_>| calls(loaded, &name)))
    });
    respond.await
}

fn calls(loaded: LoadedRun<'_>, name: &str) -> Result<Value, ApiError> {
    let run = loaded.run;
    let record = run.record(find(run, name)?)?;
    let replies = Replies::open(&run.path)?;
    let settings = match dialogue::settings(run) {
        Ok(_) if replies.bytes(name)? > MAX_REPLIES as u64 => {
            Err(format!("its replies have more than {} MB", MAX_REPLIES >> 20))
        }
        settings => settings,
    };
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => {
            let trouble = format!("The requests cannot be rebuilt: {error}");
            return Ok(json!({ "trouble": trouble, "conversation": [], "calls": [], "verdicts": [] }));
        }
    };
    let stored = replies.of_record(name)?;
    let budget = TextBudget::new();
    let rebuilt = dialogue::rebuild(&settings, &record, &stored);
    // The messages of each of the asker's calls begin with those of the call before.
    let asked = rebuilt.iter().filter(|call| call.slot.role == Role::Asker);
    let conversation = asked.map(|call| &call.messages).max_by_key(|messages| messages.len());
    let mut conversation = conversation.cloned().unwrap_or_default();
    let calls: Vec<Value> = rebuilt
        .iter()
        .map(|call| {
            let mut shown = request_json(call);
            if call.slot.role == Role::Asker && conversation.starts_with(&call.messages) {
                shown["conversation"] = json!(call.messages.len());
            } else {
                shown["messages"] = messages(&call.messages, &budget);
            }
            shown["reply"] = stored.get(&call.slot).map(|stored| reply(stored, &budget)).into();
            shown
        })
        .collect();
    let verdict = |verdict: Verdict| {
        let mut shown = request_json(&verdict.request);
        shown["messages"] = messages(&verdict.request.messages, &budget);
        shown["reply"] = reply(&verdict.call, &budget);
        shown["equal"] = json!(verdict.equal);
        shown["pair"] = json!({
            "reference": crate::render::excerpt_plain(&verdict.pair.reference, 200),
            "candidate": crate::render::excerpt_plain(&verdict.pair.candidate, 200),
        });
        shown
    };
    let verdicts = dialogue::verdicts(&settings, &record.transcript, &replies)?;
    let unasked = calls.len() < stored.len();
    Ok(json!({
        "conversation": messages(&std::mem::take(&mut conversation), &budget),
        "calls": calls,
        "verdicts": verdicts.into_iter().map(verdict).collect::<Vec<_>>(),
        "trouble": unasked.then_some(
            "Some stored replies do not follow from run.toml, so their requests cannot be rebuilt.",
        ),
    }))
}

fn request_json(call: &Rebuilt) -> Value {
    let Slot { turn, role, draw } = call.slot;
    json!({
        "turn": turn,
        "role": role.as_str(),
        "draw": draw,
        "model": call.model,
        "max_tokens": call.max_tokens,
        "seed": call.seed,
        "sampling": call.sampling,
        // Whether the stored hash is that of this request.
        "exact": call.exact,
    })
}

fn messages(messages: &[Message], budget: &TextBudget) -> Value {
    let one = |message: &Message| json!({ "role": message.role, "content": budget.plain(&message.content) });
    messages.iter().map(one).collect()
}

fn reply(stored: &StoredCall, budget: &TextBudget) -> Value {
    let usage = stored.reply.usage;
    json!({
        "text": budget.plain(&dialogue::whole(&stored.reply)),
        "prompt": usage.prompt,
        "cached": usage.cached,
        "tokens": usage.completion,
        "reasoning": usage.reasoning,
        "seconds": stored.latency.as_secs_f64(),
        "attempts": stored.attempts,
        "usd": stored.cost,
        "finish": stored.reply.finish,
    })
}

pub(super) async fn sample(mut request: ApiRequest) -> Result<Response, ApiError> {
    let params = &mut request.params;
    let run = params.run()?;
    let [dataset, problem] = [params.required("dataset")?, params.required("problem")?];
    let sample: u32 = params.number("sample", 0)?;
    params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        let name = format!("eval/{dataset}/{problem}/{sample}");
        let cost = page_cost(stored(loaded.run, &name)?);
        let call = move |loaded: LoadedRun<'_>| {
            let run = loaded.run;
            let record = run.evals.iter().rev().find(|record| record.id() == name);
            let record = record.ok_or_else(|| ApiError::not_found("this run has no such sample"))?;
            let stored = Replies::open(&run.path)?.of_record(&name)?;
            let Some(stored) = stored.get(&Slot::first(0, Role::Panel)) else {
                return Ok(json!({ "trouble": "The reply is not stored." }));
            };
            Ok(match dialogue::eval_messages(run, record, stored) {
                Ok(Some(call)) => {
                    let mut shown = request_json(&call);
                    let budget = TextBudget::new();
                    shown["messages"] = messages(&call.messages, &budget);
                    shown["reply"] = reply(stored, &budget);
                    json!({ "call": shown })
                }
                Ok(None) => json!({}),
                Err(error) => json!({ "trouble": format!("The request cannot be rebuilt: {error}") }),
            })
        };
        Ok((cost, call))
    });
    respond.await
}

pub(super) async fn raw(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let name = request.params.required("name")?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        let length = find(loaded.run, &name)?.place.length;
        let raw = move |loaded: LoadedRun<'_>| {
            let session = find(loaded.run, &name)?;
            let file = loaded.run.path.join("records.jsonl");
            let record = if session.place.length > MAX_RAW {
                None
            } else {
                let line = read_line_at(&file, session.place)?;
                String::from_utf8(line).ok().and_then(|text| RawValue::from_string(text).ok())
            };
            let trouble = record.is_none().then(|| {
                let bytes = session.place.length;
                format!(
                    "The record has {bytes} bytes, at byte {} of {}.",
                    session.place.offset,
                    file.display()
                )
            });
            Ok(json!({
                "record": record,
                "grade": session.grade,
                "grader": loaded.run.grader,
                "audit": loaded.run.audited().get(name.as_str()),
                "trouble": trouble,
            }))
        };
        Ok((Cost { read_bytes: length, response_bytes: (64 << 10) + 2 * length.min(MAX_RAW) }, raw))
    });
    respond.await
}
