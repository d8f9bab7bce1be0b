//! The JSON body of a request.

use crate::request::fold;
use crate::{Endpoint, Request, Sampling};
use aske_chat::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The field of the token limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// Accepted by most servers.
    #[default]
    MaxTokens,
    /// Required by OpenAI's reasoning models.
    MaxCompletionTokens,
}

impl TokensField {
    fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

impl Endpoint {
    /// The body of a request.
    pub(super) fn body(&self, request: &Request) -> Vec<u8> {
        let folded = self.fold_system.then(|| fold(&request.messages));
        let messages = folded.as_deref().unwrap_or(&request.messages);
        let text: usize = messages.iter().map(|message| message.content.len() + 40).sum();
        let mut out = Vec::with_capacity(text + text / 8 + 256);
        let body = Body { model: &self.model, messages, parameters: self.parameters(request) };
        // Writing to memory cannot fail, and every part is plain text or numbers.
        let _ = serde_json::to_writer(&mut out, &body);
        out
    }

    /// Everything but the model and the messages; `extra` overrides.
    fn parameters(&self, request: &Request) -> Map<String, Value> {
        let Sampling { seed, .. } = request.sampling;
        let mut parameters = match serde_json::to_value(&request.sampling) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        parameters.shift_remove("seed");
        if seed == Some(true) {
            parameters.insert("seed".to_owned(), request.seed.into());
        }
        parameters.insert(self.tokens_field.name().to_owned(), request.max_tokens.into());
        parameters.retain(|name, _| !self.omit.iter().any(|omitted| omitted == name));
        for (name, value) in &self.extra {
            parameters.insert(name.clone(), value.clone());
        }
        parameters
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request() -> Request {
        Request {
            messages: vec![Message::system("s"), Message::user("u\n\"q\"")],
            max_tokens: 99,
            sampling: Sampling {
                temperature: Some(0.7),
                top_k: Some(20),
                stop: Some(vec!["X".into()]),
                reasoning_effort: Some("low".into()),
                ..Sampling::default()
            },
            seed: 5,
            client: None,
        }
    }

    fn body(endpoint: Endpoint, request: &Request) -> Value {
        let endpoint = Endpoint { model: "m".into(), ..endpoint };
        serde_json::from_slice(&endpoint.body(request)).unwrap()
    }

    #[test]
    fn a_body_contains_the_configured_parameters_only() {
        assert_eq!(
            body(Endpoint::default(), &request()),
            json!({
                "model": "m",
                "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u\n\"q\""}],
                "temperature": 0.7, "top_k": 20, "stop": ["X"], "reasoning_effort": "low", "max_tokens": 99,
            })
        );
    }

    #[test]
    fn the_seed_is_sent_only_where_it_is_wanted() {
        let mut wanted = request();
        wanted.sampling.seed = Some(true);
        assert_eq!(body(Endpoint::default(), &wanted)["seed"], 5);
        wanted.sampling.seed = Some(false);
        assert_eq!(body(Endpoint::default(), &wanted).get("seed"), None);
    }

    #[test]
    fn extra_is_merged_and_omitted_parameters_go() {
        let extra = json!({"chat_template_kwargs": {"enable_thinking": false}, "top_k": 5});
        let Value::Object(extra) = extra else { unreachable!() };
        let endpoint = Endpoint {
            extra,
            omit: vec!["temperature".into()],
            tokens_field: TokensField::MaxCompletionTokens,
            fold_system: true,
            ..Endpoint::default()
        };
        assert_eq!(
            body(endpoint, &request()),
            json!({
                "model": "m",
                "messages": [{"role": "user", "content": "s\n\nu\n\"q\""}],
                "top_k": 5, "stop": ["X"], "reasoning_effort": "low", "max_completion_tokens": 99,
                "chat_template_kwargs": {"enable_thinking": false},
            })
        );
    }
}
