//! The `scripted` provider: replies from a file, in order or by rule, for tests and demos without a server.

use crate::{ErrorCause, Provider, ProviderError, Request};
use aske_chat::{Finish, Hint, Reply, Usage, plain_parse_error};
use futures_util::future::BoxFuture;
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A model that follows a script.
///
/// Each line of the script is a JSON object with `reply` (a text) or `replies` (several, chosen by the call's
/// seed), and optionally `when` (a regular expression over the last message), `system` (one over the system
/// prompt), `reasoning`, `finish` and `delay_ms`. With a `when` or `system` anywhere, the first line that
/// matches answers; without one, the lines answer in order, and again from the first.
#[derive(Debug)]
pub struct Scripted {
    lines: Vec<ScriptLine>,
    by_rule: bool,
    next: AtomicUsize,
    delay: Duration,
}

/// An invalid script.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl Hint for ScriptError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed("each line is a JSON object with `reply` or `replies`, and optionally `when`"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScriptLine {
    reply: Option<String>,
    #[serde(default)]
    replies: Vec<String>,
    when: Option<String>,
    system: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    finish: Finish,
    delay_ms: Option<u64>,
}

#[derive(Debug)]
struct ScriptLine {
    replies: Vec<String>,
    when: Option<Regex>,
    system: Option<Regex>,
    reasoning: Option<String>,
    finish: Finish,
    delay: Option<Duration>,
}

impl Scripted {
    /// Reads a script.
    pub fn parse(script: &str) -> Result<Self, ScriptError> {
        let numbered = script.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let lines = numbered
            .map(|(i, line)| ScriptLine::parse(line).map_err(|what| ScriptError { line: i + 1, what }))
            .collect::<Result<Vec<_>, _>>()?;
        if lines.is_empty() {
            return Err(ScriptError { line: 1, what: "the script is empty".to_owned() });
        }
        let by_rule = lines.iter().any(|line| line.when.is_some() || line.system.is_some());
        Ok(Self { lines, by_rule, next: AtomicUsize::new(0), delay: Duration::ZERO })
    }

    /// Delays every reply, unless its line sets another delay.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn choose(&self, request: &Request) -> Option<&ScriptLine> {
        if !self.by_rule {
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            return self.lines.get(turn % self.lines.len());
        }
        let last = request.messages.last().map_or("", |message| &message.content);
        let system = request.messages.first().map_or("", |message| &message.content);
        let fits = |rule: &Option<Regex>, text| rule.as_ref().is_none_or(|rule| rule.is_match(text));
        self.lines.iter().find(|line| fits(&line.when, last) && fits(&line.system, system))
    }
}

impl ScriptLine {
    fn parse(line: &str) -> Result<Self, String> {
        let raw: RawScriptLine = serde_json::from_str(line).map_err(plain_parse_error)?;
        let replies: Vec<String> = raw.reply.into_iter().chain(raw.replies).collect();
        if replies.is_empty() {
            return Err("`reply` or `replies` is missing".to_owned());
        }
        let regex = |pattern: Option<String>| {
            pattern.map(|pattern| Regex::new(&pattern)).transpose().map_err(|error| error.to_string())
        };
        Ok(Self {
            replies,
            when: regex(raw.when)?,
            system: regex(raw.system)?,
            reasoning: raw.reasoning,
            finish: raw.finish,
            delay: raw.delay_ms.map(Duration::from_millis),
        })
    }

    fn reply(&self, request: &Request) -> Reply {
        let content = self.replies[request.seed as usize % self.replies.len()].clone();
        let words = |text: &str| text.split_whitespace().count() as u64;
        let prompt = request.messages.iter().map(|message| words(&message.content)).sum();
        let usage = Usage { prompt, completion: words(&content), ..Usage::default() };
        Reply { content, reasoning: self.reasoning.clone(), finish: self.finish, usage, trace: None }
    }
}

impl Provider for Scripted {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async move {
            let Some(line) = self.choose(request) else {
                return Err(ProviderError::new(
                    ErrorCause::Script,
                    "no rule of the script matches the last message",
                ));
            };
            let delay = line.delay.unwrap_or(self.delay);
            if delay > Duration::ZERO {
                tokio::time::sleep(delay).await;
            }
            Ok(line.reply(request))
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move { Ok(format!("a script of {} lines", self.lines.len())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn say(script: &Scripted, text: &str, seed: u32) -> Result<String, ProviderError> {
        let request = Request { seed, ..Request::user(text) };
        script.attempt(&request).await.map(|reply| reply.content)
    }

    #[tokio::test]
    async fn lines_answer_in_order_and_begin_again() {
        let script = Scripted::parse("{\"reply\":\"a\"}\n\n{\"reply\":\"b\"}\n").unwrap();
        let mut said = Vec::new();
        for _ in 0..3 {
            said.push(say(&script, "x", 0).await.unwrap());
        }
        assert_eq!(said, ["a", "b", "a"]);
    }

    #[tokio::test]
    async fn rules_answer_by_the_last_message_and_the_seed() {
        let script = Scripted::parse(
            "{\"when\":\"2 . 2\",\"replies\":[\"4\",\"5\"]}\n{\"when\":\"^hi\",\"reply\":\"ho\",\"finish\":\"length\"}",
        )
        .unwrap();
        assert_eq!(say(&script, "what is 2 + 2?", 0).await.unwrap(), "4");
        assert_eq!(say(&script, "what is 2 + 2?", 1).await.unwrap(), "5");
        assert_eq!(say(&script, "hi", 1).await.unwrap(), "ho");
        assert_eq!(say(&script, "other", 1).await.unwrap_err().cause, ErrorCause::Script);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (script, line) in [("{\"reply\":\"a\"}\n{", 2), ("{\"repyl\":\"a\"}", 1), ("{}", 1), ("", 1)] {
            assert_eq!(Scripted::parse(script).unwrap_err().line, line, "{script}");
        }
        let error = Scripted::parse("{\"reply\":\"a\",\"when\":\"(\"}").unwrap_err().to_string();
        assert!(error.starts_with("line 1: regex parse error"), "{error}");
    }
}
