//! The numbers of a network, by name: a random start, and the safetensors form.

use std::collections::HashMap;

use aske_model::LlamaConfig;
use candle_core::{DType, Device, Tensor};

use crate::LearnError;

/// One named tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// The name that checkpoint files use.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// The numbers, last dimension fastest.
    pub data: Vec<f32>,
}

/// Every tensor of a network, in the order of [`LlamaConfig::shapes`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    all: Vec<Weight>,
}

impl Weights {
    /// These tensors, if they are exactly the ones that a network of this shape has.
    pub fn new(config: &LlamaConfig, all: impl IntoIterator<Item = Weight>) -> Result<Self, LearnError> {
        let mut by_name: HashMap<String, Weight> =
            all.into_iter().map(|weight| (weight.name.clone(), weight)).collect();
        let mut ordered = Vec::new();
        for (name, shape) in config.shapes() {
            let weight =
                by_name.remove(&name).ok_or_else(|| LearnError::Weights(format!("{name} is missing")))?;
            if weight.shape != shape || weight.data.len() != shape.iter().product::<usize>() {
                let told = weight.shape;
                return Err(LearnError::Weights(format!("{name} has shape {told:?}, should be {shape:?}")));
            }
            ordered.push(weight);
        }
        match by_name.into_keys().min() {
            Some(name) => Err(LearnError::Weights(format!("{name} is not part of the network"))),
            None => Ok(Self { all: ordered }),
        }
    }

    /// A random start, the same for the same seed wherever it is trained.
    ///
    /// Projections are normal with variance 1 / inputs, so that a signal keeps its size at any width; those that
    /// write to the residual stream are smaller by √(2·layers), so that their sum keeps it too. Embeddings have
    /// a standard deviation of ½ / √width, which keeps the first predictions of a tied head near uniform. Norms
    /// are one.
    pub fn random(config: &LlamaConfig, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let shrink = (2.0 * config.num_hidden_layers.max(1) as f64).sqrt().recip();
        let all = config.shapes().into_iter().map(|(name, shape)| {
            let size = shape.iter().product();
            let data = match shape.last() {
                Some(&inputs) if shape.len() > 1 => {
                    let even = (inputs as f64).sqrt().recip();
                    let deviation = match name.as_str() {
                        name if name.contains("embed_tokens") || name.contains("lm_head") => even / 2.0,
                        name if name.contains("o_proj") || name.contains("down_proj") => even * shrink,
                        _ => even,
                    };
                    (0..size).map(|_| normal(&mut random, deviation)).collect()
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

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.all.iter().flat_map(|weight| &weight.data).all(|number| number.is_finite())
    }

    /// Errs unless these are the weights of a network of this shape.
    pub(crate) fn check(&self, config: &LlamaConfig) -> Result<(), LearnError> {
        let shapes = config.shapes();
        let own = self.all.iter().map(|weight| (&weight.name, &weight.shape));
        if own.eq(shapes.iter().map(|(name, shape)| (name, shape))) {
            return Ok(());
        }
        Err(LearnError::Weights("they belong to a network of another shape".to_owned()))
    }

    /// The bytes of a safetensors file, in half or in full precision; the same weights give the same bytes.
    pub fn to_safetensors(&self, half: bool) -> Result<Vec<u8>, LearnError> {
        let kind = if half { DType::F16 } else { DType::F32 };
        let mut tensors = Vec::new();
        for weight in &self.all {
            let tensor = Tensor::from_slice(&weight.data, weight.shape.as_slice(), &Device::Cpu)?;
            tensors.push((weight.name.as_str(), tensor.to_dtype(kind)?));
        }
        let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
        safetensors::serialize(tensors, Some(metadata))
            .map_err(|error| LearnError::Library { library: "safetensors", message: error.to_string() })
    }

    /// Reads the bytes of a safetensors file, of any precision, that holds a network of this shape.
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

/// A normal number by Box and Muller's polar form of two uniform ones.
#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn normal(random: &mut fastrand::Rng, deviation: f64) -> f32 {
    // 1 - u is never nought, so the logarithm is finite.
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    (deviation * radius * (std::f64::consts::TAU * random.f64()).cos()) as f32
}
