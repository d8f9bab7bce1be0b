//! Rotary position embeddings, with the frequency scaling of Llama 3.

use serde_json::Value;
use tch::{Device, Kind, Tensor};

use super::config::unsupported;
use super::to_device;
use crate::LearnError;

/// Base frequency and scaling.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RopeConfig {
    theta: f64,
    scaling: Option<Llama3Scaling>,
}

/// Llama 3: low frequencies are divided by the factor, high ones kept, and those between interpolated.
#[derive(Clone, Debug, PartialEq)]
struct Llama3Scaling {
    factor: f64,
    low_freq_factor: f64,
    high_freq_factor: f64,
    original_max_position: f64,
}

/// Cosines and sines at some positions, `[…, 1, head_dim]`; the first half of the sines is negated.
pub(super) struct Rope {
    cos: Tensor,
    sin: Tensor,
}

impl RopeConfig {
    /// Reads `rope_parameters`, or `rope_theta` and `rope_scaling` in older files.
    pub(super) fn read(config: &Value) -> Result<Self, LearnError> {
        let newer = &config["rope_parameters"];
        let rope = if newer.is_object() { newer } else { &config["rope_scaling"] };
        let theta = newer["rope_theta"].as_f64().or(config["rope_theta"].as_f64()).unwrap_or(10_000.0);
        let kind = rope["rope_type"].as_str().or(rope["type"].as_str()).unwrap_or("default");
        let number = |name: &str| {
            let found = rope[name].as_f64().filter(|number| *number > 0.0);
            found.ok_or_else(|| unsupported(format!("`{name}` of the RoPE scaling is missing")))
        };
        let scaling = match kind {
            "default" => None,
            "llama3" => Some(Llama3Scaling {
                factor: number("factor")?,
                low_freq_factor: number("low_freq_factor")?,
                high_freq_factor: number("high_freq_factor")?,
                original_max_position: number("original_max_position_embeddings")?,
            }),
            other => return Err(unsupported(format!("`{other}` RoPE scaling"))),
        };
        Ok(Self { theta, scaling })
    }

    /// Inverse frequencies `[head_dim / 2]` on a device.
    pub(super) fn inv_freq(&self, head_dim: usize, device: Device) -> Result<Tensor, LearnError> {
        to_device(&self.frequencies(head_dim), device)
    }

    #[expect(clippy::cast_possible_truncation, reason = "angles are single precision, as in transformers")]
    fn frequencies(&self, head_dim: usize) -> Vec<f32> {
        let frequencies = (0..head_dim / 2).map(|pair| {
            let frequency = self.theta.powf(2.0 * pair as f64 / head_dim as f64).recip();
            self.scaling.as_ref().map_or(frequency, |scaling| scaling.scale(frequency)) as f32
        });
        frequencies.collect()
    }
}

impl Llama3Scaling {
    fn scale(&self, frequency: f64) -> f64 {
        let wavelength = std::f64::consts::TAU / frequency;
        if wavelength > self.original_max_position / self.low_freq_factor {
            return frequency / self.factor;
        }
        if wavelength < self.original_max_position / self.high_freq_factor {
            return frequency;
        }
        let smooth = (self.original_max_position / wavelength - self.low_freq_factor)
            / (self.high_freq_factor - self.low_freq_factor);
        (1.0 - smooth) * frequency / self.factor + smooth * frequency
    }
}

impl Rope {
    /// For these positions.
    pub(super) fn at_positions(positions: &Tensor, inv_freq: &Tensor) -> Result<Self, LearnError> {
        let angles = positions.f_to_kind(Kind::Float)?.f_unsqueeze(-1)?.f_mul(inv_freq)?;
        let (cos, sin) = (angles.f_cos()?, angles.f_sin()?);
        let cos = Tensor::f_cat(&[&cos, &cos], -1)?.f_unsqueeze(-2)?;
        let sin = Tensor::f_cat(&[&sin.f_neg()?, &sin], -1)?.f_unsqueeze(-2)?;
        Ok(Self { cos, sin })
    }

    /// Rotates `[…, heads, head_dim]`: `x·cos + rotate_half(x)·sin`.
    ///
    /// `rotate_half` is `(-second, first)`; rolling by half gives `(second, first)`, and the sign is in the sines.
    pub(super) fn apply(&self, heads: &Tensor) -> Result<Tensor, LearnError> {
        let half = heads.size().last().copied().unwrap_or(0) / 2;
        let rolled = heads.f_roll(half, -1)?.f_mul(&self.sin)?;
        Ok(heads.f_mul(&self.cos)?.f_add(&rolled)?)
    }
}
