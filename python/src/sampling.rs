//! How the asker of one rollout samples.

use crate::errors::value_error;
use crate::json_value;
use aske_config::{ConfigError, check_sampling};
use aske_model::Sampling;
use aske_session::Protocol;
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// Sampling of one rollout's asker, laid over the configured one. The names are those of OpenAI's interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AskerSampling {
    pub(crate) sampling: Sampling,
    /// The token limit of every turn, in place of the protocol's.
    pub(crate) max_tokens: Option<u32>,
    /// Merged into the body of every request.
    pub(crate) extra_body: Map<String, Value>,
}

impl AskerSampling {
    /// Reads the mapping of a caller.
    pub(crate) fn read(given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Self::default()) };
        let wrong = |what: String| {
            let hint = "use names of OpenAI's interface: temperature, top_p, max_tokens, logprobs, stop, extra_body, …";
            value_error(&ConfigError::at("sampling", what).with_hint(hint))
        };
        match json_value(given) {
            Ok(Value::Object(map)) => Self::parse(map).map_err(wrong),
            Ok(_) => Err(wrong(format!("it must be a dictionary, not {}", given.get_type().name()?))),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Reads what [`Self::over`] gave.
    pub(crate) fn parse(mut map: Map<String, Value>) -> Result<Self, String> {
        map.retain(|_, value| !value.is_null());
        let max_tokens = match map.shift_remove("max_tokens") {
            Some(limit) => {
                let limit =
                    limit.as_u64().and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0);
                Some(limit.ok_or("max_tokens must be a whole number above 0")?)
            }
            None => None,
        };
        let extra_body = match map.shift_remove("extra_body") {
            Some(Value::Object(body)) => body,
            Some(_) => return Err("extra_body must be a dictionary".to_owned()),
            None => Map::new(),
        };
        let sampling: Sampling =
            serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
        check_sampling("sampling", "the asker", &sampling).map_err(|error| error.to_string())?;
        Ok(Self { sampling, max_tokens, extra_body })
    }

    /// These settings laid over the configured ones, as a mapping.
    pub(crate) fn over(&self, configured: &Sampling) -> Map<String, Value> {
        let mut map = match serde_json::to_value(self.sampling.over(configured)) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        map.extend(self.max_tokens.map(|limit| ("max_tokens".to_owned(), limit.into())));
        if !self.extra_body.is_empty() {
            map.insert("extra_body".to_owned(), Value::Object(self.extra_body.clone()));
        }
        map
    }

    /// The protocol with the token limit of these settings.
    pub(crate) fn limit(&self, protocol: &Protocol) -> Protocol {
        let mut protocol = protocol.clone();
        if let Some(limit) = self.max_tokens {
            (protocol.asker_tokens, protocol.asker_final_tokens) = (limit, limit);
        }
        protocol
    }
}
