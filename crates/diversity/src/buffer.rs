//! A ring buffer of recent questions, and the novelty of new ones.

use aske_chat::Hint;
use std::borrow::Cow;
use std::collections::HashMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

/// Names in the saved file.
const VECTORS: &str = "vectors";
const SETTINGS: &str = "novelty";

/// A ring buffer of the vectors of recent questions.
///
/// A question's novelty is `1 − mean cosine` to its nearest neighbours: 0 for a question that was asked before, 1 for
/// one that has nothing in common with any, and at most 2, as cosines can be negative.
///
/// ```
/// use aske_diversity::{Embedder, NoveltyBuffer};
/// let embedder = Embedder::ngram();
/// let mut buffer = NoveltyBuffer::new(5000, 5, &embedder);
/// let step = embedder.embed(&["What is 2 + 3?", "What is 2 + 3?"]).unwrap();
/// assert!(buffer.novelties(&step).unwrap()[0] < 1e-6);
/// buffer.extend(&step).unwrap();
/// assert_eq!(buffer.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct NoveltyBuffer {
    settings: BufferSettings,
    dimensions: usize,
    /// The vectors, one after the other.
    ring: Vec<f32>,
    /// The index of the oldest vector.
    oldest: usize,
}

/// The settings saved with a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferSettings {
    capacity: usize,
    #[serde(rename = "nearest")]
    num_neighbors: usize,
    embedder: String,
}

/// Errors of a buffer.
#[derive(Debug, thiserror::Error)]
pub enum NoveltyError {
    /// A vector is not from the buffer's embedder.
    #[error("vector {index} has {found}, but the buffer holds unit vectors of {expected} numbers")]
    Vector {
        /// The index of the vector.
        index: usize,
        /// What is wrong with it.
        found: String,
        /// The expected length.
        expected: usize,
    },
    /// The saved buffer is from another embedder.
    #[error("the saved questions were embedded by `{saved}`, but the embedder is `{current}`")]
    Embedder {
        /// The saved embedder.
        saved: String,
        /// The embedder in use.
        current: String,
    },
    /// The saved buffer is damaged.
    #[error("the saved questions cannot be read: {0}")]
    Saved(String),
}

impl Hint for NoveltyError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Vector { .. } => None,
            Self::Embedder { .. } => {
                Some("use the embedder that the run was started with, or start a new run".into())
            }
            Self::Saved(_) => Some("go back to an earlier state of the run".into()),
        }
    }
}

impl NoveltyBuffer {
    /// An empty buffer for `capacity` vectors of this embedder; novelty is over `num_neighbors`. The paper has 5,000 and 5.
    pub fn new(capacity: usize, num_neighbors: usize, embedder: &crate::Embedder) -> Self {
        let settings =
            BufferSettings { capacity, num_neighbors, embedder: embedder.fingerprint().to_owned() };
        Self { settings, dimensions: embedder.dimensions(), ring: Vec::new(), oldest: 0 }
    }

    /// The number of vectors stored.
    pub fn len(&self) -> usize {
        self.ring.len() / self.dimensions.max(1)
    }

    /// Whether no vector is stored.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The novelty of each question of one step.
    ///
    /// Its neighbours are all stored vectors and the others of the step, so the order within a step does not matter.
    /// With fewer neighbours than `num_neighbors`, the mean is over those; with none, the novelty is 1.
    pub fn novelties(&self, vectors: &[Vec<f32>]) -> Result<Vec<f64>, NoveltyError> {
        self.check(vectors)?;
        let mut nearest =
            vec![Nearest { count: self.settings.num_neighbors, cosines: Vec::new() }; vectors.len()];
        for old in self.rows() {
            for (vector, nearest) in vectors.iter().zip(&mut nearest) {
                nearest.add(cosine(vector, old));
            }
        }
        let mut rest = nearest.as_mut_slice();
        for (at, vector) in vectors.iter().enumerate() {
            let Some((own, others)) = rest.split_first_mut() else { break };
            for (other, nearest) in vectors.iter().skip(at + 1).zip(&mut *others) {
                let cosine = cosine(vector, other);
                own.add(cosine);
                nearest.add(cosine);
            }
            rest = others;
        }
        Ok(nearest.iter().map(Nearest::novelty).collect())
    }

    /// Appends vectors, dropping the oldest ones when the buffer is full.
    pub fn extend(&mut self, vectors: &[Vec<f32>]) -> Result<(), NoveltyError> {
        self.check(vectors)?;
        for vector in vectors {
            if self.len() < self.settings.capacity {
                self.ring.extend_from_slice(vector);
            } else if let Some(row) = self.ring.chunks_exact_mut(self.dimensions.max(1)).nth(self.oldest) {
                row.copy_from_slice(vector);
                self.oldest = (self.oldest + 1) % self.settings.capacity;
            }
        }
        Ok(())
    }

    /// Serializes the buffer as a safetensors file; equal buffers give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NoveltyError> {
        let (newer, older) = self.ring.split_at(self.oldest * self.dimensions);
        let data: Vec<u8> = older.iter().chain(newer).flat_map(|number| number.to_le_bytes()).collect();
        let failed = |error: safetensors::SafeTensorError| NoveltyError::Saved(error.to_string());
        let view = TensorView::new(Dtype::F32, vec![self.len(), self.dimensions], &data).map_err(failed)?;
        let settings = serde_json::to_string(&self.settings);
        let settings = settings.map_err(|error| NoveltyError::Saved(error.to_string()))?;
        // One entry, as several would be written in any order.
        let metadata = HashMap::from([(SETTINGS.to_owned(), settings)]);
        safetensors::serialize([(VECTORS, view)], Some(metadata)).map_err(failed)
    }

    /// Reads the output of [`NoveltyBuffer::to_bytes`], which must be from the same embedder.
    pub fn from_bytes(bytes: &[u8], embedder: &crate::Embedder) -> Result<Self, NoveltyError> {
        let broken = |reason: &dyn std::fmt::Display| NoveltyError::Saved(reason.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
        let settings = header.metadata().as_ref().and_then(|all| all.get(SETTINGS));
        let settings = settings.ok_or_else(|| broken(&"the settings are missing"))?;
        let settings: BufferSettings = serde_json::from_str(settings).map_err(|error| broken(&error))?;
        if settings.embedder != embedder.fingerprint() {
            let current = embedder.fingerprint().to_owned();
            return Err(NoveltyError::Embedder { saved: settings.embedder, current });
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
        let view = file.tensor(VECTORS).map_err(|error| broken(&error))?;
        let dimensions = embedder.dimensions();
        let fits = match view.shape() {
            &[count, length] => count <= settings.capacity && length == dimensions,
            _ => false,
        };
        if !fits || view.dtype() != Dtype::F32 {
            let (dtype, shape, capacity) = (view.dtype(), view.shape(), settings.capacity);
            return Err(broken(&format!(
                "{dtype:?} of shape {shape:?} for at most {capacity} vectors of {dimensions}"
            )));
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let ring: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let loaded = Self { settings, dimensions, ring, oldest: 0 };
        match loaded.rows().position(|row| !is_unit(row)) {
            Some(at) => Err(broken(&format!("vector {at} is not a unit vector"))),
            None => Ok(loaded),
        }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.ring.chunks_exact(self.dimensions.max(1))
    }

    fn check(&self, vectors: &[Vec<f32>]) -> Result<(), NoveltyError> {
        let expected = self.dimensions;
        for (index, vector) in vectors.iter().enumerate() {
            let found = match vector.len() {
                count if count != expected => format!("{count} numbers"),
                _ if !is_unit(vector) => "a norm other than 1".to_owned(),
                _ => continue,
            };
            return Err(NoveltyError::Vector { index, found, expected });
        }
        Ok(())
    }
}

/// The largest cosines so far, in descending order.
#[derive(Clone)]
struct Nearest {
    count: usize,
    cosines: Vec<f32>,
}

impl Nearest {
    fn add(&mut self, cosine: f32) {
        let full = self.cosines.len() >= self.count;
        if full && self.cosines.last().is_none_or(|least| *least >= cosine) {
            return;
        }
        let at = self.cosines.partition_point(|larger| *larger >= cosine);
        self.cosines.insert(at, cosine);
        self.cosines.truncate(self.count);
    }

    fn novelty(&self) -> f64 {
        if self.cosines.is_empty() {
            return 1.0;
        }
        let sum: f64 = self.cosines.iter().map(|cosine| f64::from(*cosine)).sum();
        1.0 - sum / self.cosines.len() as f64
    }
}

/// The cosine of two unit vectors, summed in a fixed order.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    // Enough partial sums for the compiler to vectorize.
    let mut sums = [0.0_f32; 16];
    let ((ones, one), (others, other)) = (one.as_chunks::<16>(), other.as_chunks::<16>());
    for (one, other) in ones.iter().zip(others) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest: f32 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    // Rounding can exceed 1 slightly.
    (sums.iter().sum::<f32>() + rest).clamp(-1.0, 1.0)
}

fn is_unit(vector: &[f32]) -> bool {
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    (square - 1.0).abs() < 1e-4
}
