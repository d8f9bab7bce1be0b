//! Sampling parameters.

use serde::{Deserialize, Serialize};

/// Sampling parameters; absent ones are left to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// Temperature of the softmax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the smallest set of tokens with this probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Samples from this many of the likeliest tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<i64>,
    /// Minimum probability relative to the likeliest token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Penalty on tokens that are present already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Penalty on tokens by how often they are present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Repetition penalty, a factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
    /// Stop strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Continue after the end-of-sequence token up to the token limit, to measure speed; not all servers support it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_eos: Option<bool>,
    /// Reasoning effort: `low`, `medium`, `high` or what the server supports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Returns the log-probability of every token, where the server supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
    /// Sends each call's seed, for servers that accept one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<bool>,
}

impl Sampling {
    /// These values where set, those of `base` elsewhere.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let (top, base) = (self.clone(), base.clone());
        Self {
            temperature: top.temperature.or(base.temperature),
            top_p: top.top_p.or(base.top_p),
            top_k: top.top_k.or(base.top_k),
            min_p: top.min_p.or(base.min_p),
            presence_penalty: top.presence_penalty.or(base.presence_penalty),
            frequency_penalty: top.frequency_penalty.or(base.frequency_penalty),
            repetition_penalty: top.repetition_penalty.or(base.repetition_penalty),
            stop: top.stop.or(base.stop),
            ignore_eos: top.ignore_eos.or(base.ignore_eos),
            reasoning_effort: top.reasoning_effort.or(base.reasoning_effort),
            logprobs: top.logprobs.or(base.logprobs),
            seed: top.seed.or(base.seed),
        }
    }
}
