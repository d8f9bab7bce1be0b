//! Validates the numbers of a `sampling` table.

use crate::ConfigError;
use aske_model::Sampling;

/// Checks how a model samples in the role of this key, the role's values laid over the model's own.
pub fn check(key: &str, model: &str, sampling: &Sampling) -> Result<(), ConfigError> {
    let unit = |value: f64| (0.0..=1.0).contains(&value);
    let least = |value: f64| value >= 0.0 && value.is_finite();
    let above = |value: f64| value > 0.0 && value.is_finite();
    let number = |name: &str, value: Option<f64>, inside: &dyn Fn(f64) -> bool, range: &str| match value {
        Some(value) if !inside(value) => {
            let what = format!("sampling.{name} of `{model}` is {value:?}, and must be {range}");
            let hint = "`aske config` shows where the value comes from";
            Err(ConfigError::at(key, what).with_hint(hint))
        }
        _ => Ok(()),
    };
    number("temperature", sampling.temperature, &least, "finite and at least 0")?;
    number("top_p", sampling.top_p, &unit, "from 0 to 1")?;
    number("min_p", sampling.min_p, &unit, "from 0 to 1")?;
    number("presence_penalty", sampling.presence_penalty, &f64::is_finite, "finite")?;
    number("frequency_penalty", sampling.frequency_penalty, &f64::is_finite, "finite")?;
    number("repetition_penalty", sampling.repetition_penalty, &above, "finite and above 0")
}
