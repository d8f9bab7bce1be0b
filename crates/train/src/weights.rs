//! Named tensors of a network: random initialization and safetensors serialization.

use std::collections::HashMap;

use aske_model::LlamaConfig;
use candle_core::{DType, Device, Tensor};

use crate::LearnError;

/// One named tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// Its name in checkpoint files.
    pub name: String,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub data: Vec<f32>,
}

/// Every tensor of a network, in the order of [`LlamaConfig::shapes`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    all: Vec<Weight>,
}

impl Weights {
    /// Checks that these are exactly the tensors of a network of this shape, and orders them.
    pub fn new(config: &LlamaConfig, all: impl IntoIterator<Item = Weight>) -> Result<Self, LearnError> {
        let mut by_name: HashMap<String, Weight> =
            all.into_iter().map(|weight| (weight.name.clone(), weight)).collect();
        let mut ordered = Vec::new();
        for (name, shape) in config.shapes() {
            let weight =
                by_name.remove(&name).ok_or_else(|| LearnError::Weights(format!("{name} is missing")))?;
            if weight.shape != shape || weight.data.len() != shape.iter().product::<usize>() {
                let found = weight.shape;
                return Err(LearnError::Weights(format!("{name} has shape {found:?}, should be {shape:?}")));
            }
            ordered.push(weight);
        }
        match by_name.into_keys().min() {
            Some(name) => Err(LearnError::Weights(format!("{name} is not part of the network"))),
            None => Ok(Self { all: ordered }),
        }
    }

    /// Random initialization, identical for the same seed on every device.
    ///
    /// Projections are normal with variance 1 / inputs; those that write to the residual stream are scaled down by
    /// √(2·layers). Embeddings have a standard deviation of ½ / √hidden_size, which keeps the first predictions of a
    /// tied head near uniform. Norm weights are one.
    pub fn random(config: &LlamaConfig, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let residual_scale = (2.0 * config.num_hidden_layers.max(1) as f64).sqrt().recip();
        let all = config.shapes().into_iter().map(|(name, shape)| {
            let size = shape.iter().product();
            let data = match shape.last() {
                Some(&inputs) if shape.len() > 1 => {
                    let unit = (inputs as f64).sqrt().recip();
                    let std = match name.as_str() {
                        name if name.contains("embed_tokens") || name.contains("lm_head") => unit / 2.0,
                        name if name.contains("o_proj") || name.contains("down_proj") => {
                            unit * residual_scale
                        }
                        _ => unit,
                    };
                    (0..size).map(|_| normal(&mut rng, std)).collect()
                }
                _ => vec![1.0; size],
            };
            Weight { name, shape, data }
        });
        Self { all: all.collect() }
    }

    /// The tensors, in the order of [`LlamaConfig::shapes`].
    pub fn iter(&self) -> std::slice::Iter<'_, Weight> {
        self.all.iter()
    }

    /// The tensor of this name.
    pub fn get(&self, name: &str) -> Option<&Weight> {
        self.all.iter().find(|weight| weight.name == name)
    }

    /// The same network with an output head of its own, initialized from the embedding.
    pub(crate) fn untie_head(&self, config: &LlamaConfig) -> Result<(LlamaConfig, Self), LearnError> {
        if !config.tie_word_embeddings {
            return Ok((config.clone(), self.clone()));
        }
        let config = LlamaConfig { tie_word_embeddings: false, ..config.clone() };
        let head = self
            .get("model.embed_tokens.weight")
            .map(|embedding| Weight { name: "lm_head.weight".to_owned(), ..embedding.clone() });
        let weights = Self::new(&config, self.iter().cloned().chain(head))?;
        Ok((config, weights))
    }

    /// Tensors that are known to be in order.
    #[cfg(feature = "torch")]
    pub(crate) fn from_tensors(all: Vec<Weight>) -> Self {
        Self { all }
    }

    /// Whether all values are finite.
    pub fn is_finite(&self) -> bool {
        self.all.iter().flat_map(|weight| &weight.data).all(|value| value.is_finite())
    }

    /// Returns an error unless these are the weights of a network of this shape.
    pub(crate) fn check(&self, config: &LlamaConfig) -> Result<(), LearnError> {
        let shapes = config.shapes();
        let own = self.all.iter().map(|weight| (&weight.name, &weight.shape));
        if own.eq(shapes.iter().map(|(name, shape)| (name, shape))) {
            return Ok(());
        }
        Err(LearnError::Weights("they belong to a network of a different shape".to_owned()))
    }

    /// Serializes to safetensors in half or single precision, deterministically.
    pub fn to_safetensors(&self, half: bool) -> Result<Vec<u8>, LearnError> {
        let dtype = if half { DType::F16 } else { DType::F32 };
        let mut tensors = Vec::new();
        for weight in &self.all {
            let tensor = Tensor::from_slice(&weight.data, weight.shape.as_slice(), &Device::Cpu)?;
            tensors.push((weight.name.as_str(), tensor.to_dtype(dtype)?));
        }
        let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
        Ok(safetensors::serialize(tensors, Some(metadata))?)
    }

    /// Reads a safetensors file of any precision.
    pub fn from_safetensors(config: &LlamaConfig, bytes: &[u8]) -> Result<Self, LearnError> {
        let tensors = candle_core::safetensors::load_buffer(bytes, &Device::Cpu)?;
        let mut all = Vec::new();
        for (name, tensor) in tensors {
            let data = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
            all.push(Weight { name, shape: tensor.dims().to_vec(), data });
        }
        Self::new(config, all)
    }
}

impl<'a> IntoIterator for &'a Weights {
    type Item = &'a Weight;
    type IntoIter = std::slice::Iter<'a, Weight>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A normally distributed value, by the Box–Muller transform.
#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn normal(rng: &mut fastrand::Rng, std: f64) -> f32 {
    // 1 - u is never zero, so the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    (std * radius * (std::f64::consts::TAU * rng.f64()).cos()) as f32
}
