//! Rotary positions: each pair of a head turns with the place in the text, each at its own speed.

use serde_json::Value;
use tch::{Device, Kind, Tensor};

use super::shape::wrong;
use crate::LearnError;
use crate::torch::network::whole;

/// The base of the speeds, and how they are stretched.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rotary {
    base: f64,
    stretch: Option<Stretch>,
}

/// Llama 3's: slow pairs are slower by the factor, quick ones as they were, and between them a mixture.
#[derive(Clone, Debug, PartialEq)]
struct Stretch {
    factor: f64,
    low: f64,
    high: f64,
    original: f64,
}

/// Cosines and sines at some places, both halves of a head alike; of the sines the first half is negated.
pub(super) struct Turn {
    cosines: Tensor,
    sines: Tensor,
}

impl Rotary {
    /// Reads `rope_parameters`, or `rope_theta` and `rope_scaling` of older files.
    pub(super) fn read(config: &Value) -> Result<Self, LearnError> {
        let newer = &config["rope_parameters"];
        let rope = if newer.is_object() { newer } else { &config["rope_scaling"] };
        let base = newer["rope_theta"].as_f64().or(config["rope_theta"].as_f64()).unwrap_or(10_000.0);
        let kind = rope["rope_type"].as_str().or(rope["type"].as_str()).unwrap_or("default");
        let number = |name: &str| {
            let found = rope[name].as_f64().filter(|number| *number > 0.0);
            found.ok_or_else(|| wrong(&format!("`{name}` of the rope scaling is missing")))
        };
        let stretch = match kind {
            "default" => None,
            "llama3" => Some(Stretch {
                factor: number("factor")?,
                low: number("low_freq_factor")?,
                high: number("high_freq_factor")?,
                original: number("original_max_position_embeddings")?,
            }),
            other => return Err(wrong(&format!("`{other}` rope scaling"))),
        };
        Ok(Self { base, stretch })
    }

    /// How quickly each pair of a head turns.
    #[expect(clippy::cast_possible_truncation, reason = "angles are single precision, as in transformers")]
    pub(super) fn speeds(&self, head: usize) -> Vec<f32> {
        let speeds = (0..head / 2).map(|pair| {
            let speed = self.base.powf(2.0 * pair as f64 / head as f64).recip();
            self.stretch.as_ref().map_or(speed, |stretch| stretch.of(speed)) as f32
        });
        speeds.collect()
    }
}

impl Stretch {
    fn of(&self, speed: f64) -> f64 {
        let wave = std::f64::consts::TAU / speed;
        if wave > self.original / self.low {
            return speed / self.factor;
        }
        if wave < self.original / self.high {
            return speed;
        }
        let smooth = (self.original / wave - self.low) / (self.high - self.low);
        (1.0 - smooth) * speed / self.factor + smooth * speed
    }
}

impl Turn {
    /// At these places `[…]`, as `[…, 1, head]`.
    pub(super) fn at(places: &Tensor, speeds: &Tensor) -> Result<Self, LearnError> {
        let angles = places.f_to_kind(Kind::Float)?.f_unsqueeze(-1)?.f_mul(speeds)?;
        let (cosines, sines) = (angles.f_cos()?, angles.f_sin()?);
        let cosines = Tensor::f_cat(&[&cosines, &cosines], -1)?.f_unsqueeze(-2)?;
        let sines = Tensor::f_cat(&[&sines.f_neg()?, &sines], -1)?.f_unsqueeze(-2)?;
        Ok(Self { cosines, sines })
    }

    /// At the first places of a text.
    pub(super) fn first(length: i64, speeds: &Tensor) -> Result<Self, LearnError> {
        Self::at(&Tensor::f_arange(length, (Kind::Int64, speeds.device()))?, speeds)
    }

    /// Turns `[…, heads, head]`: `x·cos + half_turned(x)·sin`.
    ///
    /// The half turn is `(-second, first)`. Rolling by half gives `(second, first)`; the sign is in the sines.
    pub(super) fn turned(&self, heads: &Tensor) -> Result<Tensor, LearnError> {
        let half = heads.size().last().copied().unwrap_or(0) / 2;
        let rolled = heads.f_roll(half, -1)?.f_mul(&self.sines)?;
        Ok(heads.f_mul(&self.cosines)?.f_add(&rolled)?)
    }
}

/// The speeds on a device.
pub(super) fn placed(rotary: &Rotary, head: usize, device: Device) -> Result<Tensor, LearnError> {
    let speeds = Tensor::f_from_slice(&rotary.speeds(head))?.f_view([whole(head / 2)])?;
    Ok(speeds.f_to_device(device)?)
}
