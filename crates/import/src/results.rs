//! Reads a line of `results.jsonl` of verifiers 0.3: one rollout.

use crate::rollout::{CallInfo, Rollout, RolloutMessage, chat_role, reasoning, text};
use aske_chat::{ChatRole, Finish, Usage};
use serde_json::Value;

/// Reads a line. Only assistant messages in `completion` are replies of the asker; `prompt` may contain examples.
pub(crate) fn rollout(mut line: Value) -> Result<Rollout, String> {
    let mut messages = Vec::new();
    for (key, own) in [("prompt", false), ("completion", true)] {
        let field = line.get_mut(key).map(Value::take).unwrap_or_default();
        messages.extend(parse_messages(&field, own).ok_or_else(|| format!("`{key}` has no chat messages"))?);
    }
    let failed = line.get("error").is_some_and(|error| !error.is_null());
    Ok(Rollout { messages, asker: None, failed, usage: usage(&line), fields: line })
}

/// The messages in a field. A rollout that failed immediately has none.
fn parse_messages(field: &Value, own: bool) -> Option<Vec<RolloutMessage>> {
    let messages = match field {
        Value::Null => return Some(Vec::new()),
        // A prompt may be a single string.
        Value::String(prompt) if !own => {
            return Some(vec![RolloutMessage { role: ChatRole::User, text: prompt.clone(), call: None }]);
        }
        other => other.as_array()?,
    };
    let read = |message: &Value| {
        let role = chat_role(message)?;
        let replied = own && role == ChatRole::Assistant;
        // The format has no finish reasons.
        let call =
            || CallInfo { reasoning: reasoning(message), finish: Finish::Other, ..CallInfo::default() };
        Some(RolloutMessage { role, text: text(message), call: replied.then(call) })
    };
    Some(messages.iter().filter_map(read).collect())
}

/// Token usage of the whole rollout; the file has floats.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to integers")]
fn usage(line: &Value) -> Usage {
    let tokens = |key: &str| {
        let number = line.get("token_usage").and_then(|usage| usage.get(key)).and_then(Value::as_f64);
        number.map_or(0, |number| number.clamp(0.0, 1e15) as u64)
    };
    Usage { prompt: tokens("input_tokens"), completion: tokens("output_tokens"), ..Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn examples_in_the_prompt_are_no_turns_of_the_asker() {
        let rollout = rollout(json!({
            "prompt": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "an example"}],
            "completion": [
                {"role": "assistant", "content": [{"type": "text", "text": "mine"}], "reasoning_content": "hm"},
                {"role": "tool", "content": "x"},
                {"role": "user", "content": "next"},
                {"role": "assistant", "content": null},
            ],
            "error": null, "token_usage": {"input_tokens": 12.0, "output_tokens": 7.0},
        }))
        .unwrap();
        assert_eq!(rollout.turns(), [2, 4]);
        let first = &rollout.messages[2];
        assert_eq!(
            (first.text.as_str(), first.call.as_ref().unwrap().reasoning.as_deref()),
            ("mine", Some("hm"))
        );
        assert_eq!((rollout.usage.prompt, rollout.usage.completion, rollout.failed), (12, 7, false));
    }

    #[test]
    fn a_rollout_without_messages_differs_from_one_that_is_not_a_conversation() {
        let failed = rollout(json!({"prompt": null, "completion": null, "error": {"error": "X"}})).unwrap();
        assert!(failed.failed && failed.turns().is_empty());
        let error = rollout(json!({"prompt": "go", "completion": "a text"})).unwrap_err();
        assert_eq!(error, "`completion` has no chat messages");
    }
}
