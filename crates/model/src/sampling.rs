//! How a model samples.

use serde::{Deserialize, Serialize};

/// Sampling parameters; what is absent is left to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// Spread of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most likely tokens only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<i64>,
    /// Least probability, as a share of the most likely token's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Against tokens already present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Against tokens by how often they are present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Against repetition, as a factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
    /// Where the model must stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Go on after the end of the reply, to all the tokens it may have: to measure speed, on servers that know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_eos: Option<bool>,
    /// How much to think: `low`, `medium`, `high` or what the server knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Send each call's own seed, for servers that take one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<bool>,
}

impl Sampling {
    /// These values where they are set, `base` elsewhere.
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
            seed: top.seed.or(base.seed),
        }
    }
}
