//! Reads a line of `traces.jsonl` of verifiers 0.4: one episode, with a trace per agent.

use crate::SkipReason;
use crate::fields::aske_data;
use crate::rollout::{CallInfo, Rollout, RolloutMessage, chat_role, reasoning, text};
use aske_chat::{Finish, Usage, Usd};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Name of the asker in an environment with several agents.
const ASKER: &str = "asker";

/// The rollouts of the asker in an episode: the traces of our own environment, or else of the agent `asker`, or else the
/// only one.
pub(crate) fn episode(mut episode: Value) -> Result<Vec<Result<Rollout, SkipReason>>, String> {
    let Some(Value::Array(traces)) = episode.get_mut("traces").map(Value::take) else {
        return Ok(Vec::new());
    };
    let name = |trace: &Value| trace.get("agent")?.get("name")?.as_str().map(str::to_owned);
    let chosen: Vec<Value> = if traces.iter().any(|trace| aske_data(trace).is_some()) {
        traces.into_iter().filter(|trace| aske_data(trace).is_some()).collect()
    } else if traces.len() > 1 {
        traces.into_iter().filter(|trace| name(trace).as_deref() == Some(ASKER)).collect()
    } else if traces.is_empty() {
        return Ok(vec![Err(SkipReason::Failed)]);
    } else {
        traces
    };
    if chosen.is_empty() {
        return Ok(vec![Err(SkipReason::NoAskerAgent)]);
    }
    chosen.into_iter().map(|trace| self::trace(trace).map(Ok)).collect()
}

/// Reads a trace: the messages of its last branch.
pub(crate) fn trace(mut trace: Value) -> Result<Rollout, String> {
    let Some(Value::Array(nodes)) = trace.get_mut("nodes").map(Value::take) else {
        return Err("a trace without `nodes`".to_owned());
    };
    let calls = match trace.get_mut("calls").map(Value::take) {
        Some(Value::Array(calls)) => calls,
        _ => Vec::new(),
    };
    let by_node: HashMap<u64, &Value> =
        calls.iter().filter_map(|call| Some((call.get("node")?.as_u64()?, call))).collect();
    let mut messages = Vec::new();
    for index in branch(&nodes)? {
        let Some(message) = nodes[index].get("message") else { continue };
        let Some(role) = chat_role(message) else { continue };
        let sampled = nodes[index].get("sampled").and_then(Value::as_bool).unwrap_or(false);
        let call = sampled.then(|| call_info(message, by_node.get(&(index as u64)).copied()));
        messages.push(RolloutMessage { role, text: text(message), call });
    }
    let asker = calls.iter().find_map(|call| call.get("model")?.as_str()).map(str::to_owned);
    let failed = trace.get("ok").and_then(Value::as_bool) == Some(false);
    Ok(Rollout { messages, asker, failed, usage: Usage::default(), fields: trace })
}

/// The indices of the messages from the first to the last one.
fn branch(nodes: &[Value]) -> Result<Vec<usize>, String> {
    let mut path = Vec::new();
    let mut next = nodes.len().checked_sub(1);
    while let Some(index) = next {
        path.push(index);
        let parent = nodes[index].get("parent").and_then(Value::as_u64);
        next = parent.map(|parent| usize::try_from(parent).unwrap_or(usize::MAX));
        // A message comes after its parent.
        if next.is_some_and(|parent| parent >= index) {
            return Err(format!("node {index} has a later parent"));
        }
    }
    path.reverse();
    Ok(path)
}

/// Details of a reply, if its call is recorded.
fn call_info(message: &Value, call: Option<&Value>) -> CallInfo {
    let text = |key: &str| call.and_then(|call| call.get(key)).and_then(Value::as_str);
    let usage = |key: &str| call.and_then(|call| call.get("usage")?.get(key));
    let tokens = |key: &str| usage(key).and_then(Value::as_u64).unwrap_or(0);
    let moment = |key: &str| call.and_then(|call| call.get("time")?.get(key)?.as_f64()).unwrap_or(0.0);
    let cached = tokens("cached_input_tokens");
    CallInfo {
        reasoning: reasoning(message),
        finish: match text("finish_reason") {
            Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            _ => Finish::Other,
        },
        usage: Usage {
            // verifiers counts cached tokens separately.
            prompt: tokens("prompt_tokens").saturating_add(cached),
            cached,
            completion: tokens("completion_tokens"),
            reasoning: tokens("reasoning_tokens"),
        },
        latency: Duration::try_from_secs_f64(moment("end") - moment("start")).unwrap_or_default(),
        cost: Usd(usage("cost").and_then(Value::as_f64).unwrap_or(0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(parent: Option<u64>, role: &str, text: &str, sampled: bool) -> Value {
        json!({"parent": parent, "message": {"role": role, "content": text}, "sampled": sampled})
    }

    #[test]
    fn the_last_branch_is_the_conversation() {
        let nodes = [
            node(None, "system", "s", false),
            node(Some(0), "user", "u", false),
            node(Some(1), "assistant", "given up", true),
            node(Some(1), "assistant", "kept", true),
        ];
        let calls = json!([{"node": 3, "model": "m", "finish_reason": "length", "time": {"start": 1.0, "end": 3.5},
            "usage": {"prompt_tokens": 5, "cached_input_tokens": 20, "completion_tokens": 3, "cost": 0.5}}]);
        let read = trace(json!({"nodes": nodes, "calls": calls, "ok": true})).unwrap();
        let texts: Vec<&str> = read.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["s", "u", "kept"]);
        let call = read.messages[2].call.as_ref().unwrap();
        assert_eq!((call.usage.prompt, call.usage.cached, call.usage.completion), (25, 20, 3));
        assert_eq!((call.finish, call.latency.as_millis(), call.cost), (Finish::Length, 2500, Usd(0.5)));
        assert_eq!((read.asker.as_deref(), read.failed), (Some("m"), false));
    }

    #[test]
    fn a_graph_that_runs_in_a_circle_is_refused() {
        let circle = json!({"nodes": [node(Some(1), "user", "", false), node(Some(0), "user", "", false)], "calls": []});
        assert_eq!(trace(circle).unwrap_err(), "node 0 has a later parent");
    }

    #[test]
    fn of_several_agents_the_asker_is_taken() {
        let agent = |name: &str| json!({"agent": {"name": name}, "nodes": [node(None, "user", name, false)], "calls": []});
        let read = episode(json!({"traces": [agent("solver"), agent("asker")]})).unwrap();
        assert_eq!(read[0].as_ref().unwrap().messages[0].text, "asker");
        let unknown = episode(json!({"traces": [agent("a"), agent("b")]})).unwrap();
        assert_eq!(unknown[0].as_ref().unwrap_err(), &SkipReason::NoAskerAgent);
        assert_eq!(episode(json!({"traces": []})).unwrap()[0].as_ref().unwrap_err(), &SkipReason::Failed);
    }
}
