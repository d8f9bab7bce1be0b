//! The latest questions, and how far a new one lies from them.

use std::collections::HashMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

/// The names inside a saved buffer.
const VECTORS: &str = "vectors";
const SETTINGS: &str = "novelty";

/// The vectors of the latest questions, the oldest of which make room for new ones.
///
/// A question's novelty is `1 − mean cosine` to its nearest neighbours: 0 for one that was asked before, 1 for
/// one that has nothing in common with any, and up to 2, for cosines can be negative.
///
/// ```
/// use aske_diversity::{Embedder, Novelty};
/// let embedder = Embedder::ngram();
/// let mut novelty = Novelty::new(Novelty::CAPACITY, Novelty::NEAREST, &embedder);
/// let step = embedder.embed(&["What is 2 + 3?", "What is 2 + 3?"]).unwrap();
/// assert!(novelty.novelties(&step).unwrap()[0] < 1e-6);
/// novelty.extend(&step).unwrap();
/// assert_eq!(novelty.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Novelty {
    settings: Settings,
    dimensions: usize,
    /// The vectors, one after the other.
    ring: Vec<f32>,
    /// Which of them is the oldest.
    oldest: usize,
}

/// What a buffer is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    capacity: usize,
    nearest: usize,
    embedder: String,
}

/// Why a buffer cannot take or give something.
#[derive(Debug, thiserror::Error)]
pub enum NoveltyError {
    /// A vector that is not one of this buffer's embedder.
    #[error("vector {at} has {found}, and the buffer holds vectors of {wanted} numbers and length one")]
    Vector {
        /// Its place among those given.
        at: usize,
        /// What it is like.
        found: String,
        /// How many numbers it should have.
        wanted: usize,
    },
    /// What was saved came from another embedder.
    #[error(
        "the saved questions were embedded by `{saved}`, and now it is `{now}`\n\
         hint: go on with the embedder that the run began with, or begin a new run"
    )]
    Embedder {
        /// The one that was saved.
        saved: String,
        /// The one in use.
        now: String,
    },
    /// What was saved is damaged.
    #[error("the saved questions cannot be read: {0}\nhint: go back to an earlier state of the run")]
    Saved(String),
}

impl Novelty {
    /// How many questions are remembered in the paper.
    pub const CAPACITY: usize = 5000;

    /// How many neighbours count in the paper.
    pub const NEAREST: usize = 5;

    /// An empty buffer for this many vectors of this embedder, of which the `nearest` count.
    pub fn new(capacity: usize, nearest: usize, embedder: &crate::Embedder) -> Self {
        let settings = Settings { capacity, nearest, embedder: embedder.fingerprint().to_owned() };
        Self { settings, dimensions: embedder.dimensions(), ring: Vec::new(), oldest: 0 }
    }

    /// The most vectors that are remembered.
    pub fn capacity(&self) -> usize {
        self.settings.capacity
    }

    /// How many neighbours count.
    pub fn nearest(&self) -> usize {
        self.settings.nearest
    }

    /// How many vectors are remembered now.
    pub fn len(&self) -> usize {
        self.ring.len() / self.dimensions.max(1)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The novelty of each question of one step.
    ///
    /// Its neighbours are all that are remembered and the others of the step, so the order within a step does not
    /// matter. Where there are fewer than count, the mean is over those; where there are none, the novelty is 1.
    pub fn novelties(&self, vectors: &[Vec<f32>]) -> Result<Vec<f64>, NoveltyError> {
        self.check(vectors)?;
        let mut nearest = vec![Nearest { most: self.settings.nearest, cosines: Vec::new() }; vectors.len()];
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

    /// Remembers these, in their order, and forgets the oldest where there is no room.
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

    /// The bytes of a safetensors file with everything; the same state gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NoveltyError> {
        let (newer, older) = self.ring.split_at(self.oldest * self.dimensions);
        let data: Vec<u8> = older.iter().chain(newer).flat_map(|number| number.to_le_bytes()).collect();
        let failed = |error: safetensors::SafeTensorError| NoveltyError::Saved(error.to_string());
        let view = TensorView::new(Dtype::F32, vec![self.len(), self.dimensions], &data).map_err(failed)?;
        let settings = serde_json::to_string(&self.settings);
        let settings = settings.map_err(|error| NoveltyError::Saved(error.to_string()))?;
        // One entry alone: several would be written in any order.
        let metadata = HashMap::from([(SETTINGS.to_owned(), settings)]);
        safetensors::serialize([(VECTORS, view)], Some(metadata)).map_err(failed)
    }

    /// What [`Novelty::to_bytes`] wrote, if it was for this embedder.
    pub fn from_bytes(bytes: &[u8], embedder: &crate::Embedder) -> Result<Self, NoveltyError> {
        let broken = |problem: &dyn std::fmt::Display| NoveltyError::Saved(problem.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
        let settings = header.metadata().as_ref().and_then(|all| all.get(SETTINGS));
        let settings = settings.ok_or_else(|| broken(&"it holds no settings of a buffer"))?;
        let settings: Settings = serde_json::from_str(settings).map_err(|error| broken(&error))?;
        if settings.embedder != embedder.fingerprint() {
            let now = embedder.fingerprint().to_owned();
            return Err(NoveltyError::Embedder { saved: settings.embedder, now });
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
        let view = file.tensor(VECTORS).map_err(|error| broken(&error))?;
        let dimensions = embedder.dimensions();
        let fits = match view.shape() {
            &[count, wide] => count <= settings.capacity && wide == dimensions,
            _ => false,
        };
        if !fits || view.dtype() != Dtype::F32 {
            let (kind, shape, most) = (view.dtype(), view.shape(), settings.capacity);
            return Err(broken(&format!("{kind:?} of shape {shape:?} for {most} vectors of {dimensions}")));
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        let ring: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let loaded = Self { settings, dimensions, ring, oldest: 0 };
        match loaded.rows().position(|row| !is_unit(row)) {
            Some(at) => Err(broken(&format!("vector {at} is not of length one"))),
            None => Ok(loaded),
        }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.ring.chunks_exact(self.dimensions.max(1))
    }

    fn check(&self, vectors: &[Vec<f32>]) -> Result<(), NoveltyError> {
        let wanted = self.dimensions;
        for (at, vector) in vectors.iter().enumerate() {
            let found = match vector.len() {
                count if count != wanted => format!("{count} numbers"),
                _ if !is_unit(vector) => "another length".to_owned(),
                _ => continue,
            };
            return Err(NoveltyError::Vector { at, found, wanted });
        }
        Ok(())
    }
}

/// The largest cosines so far, the largest first.
#[derive(Clone)]
struct Nearest {
    most: usize,
    cosines: Vec<f32>,
}

impl Nearest {
    fn add(&mut self, cosine: f32) {
        let full = self.cosines.len() >= self.most;
        if full && self.cosines.last().is_none_or(|least| *least >= cosine) {
            return;
        }
        let at = self.cosines.partition_point(|larger| *larger >= cosine);
        self.cosines.insert(at, cosine);
        self.cosines.truncate(self.most);
    }

    fn novelty(&self) -> f64 {
        if self.cosines.is_empty() {
            return 1.0;
        }
        let sum: f64 = self.cosines.iter().map(|cosine| f64::from(*cosine)).sum();
        1.0 - sum / self.cosines.len() as f64
    }
}

/// The cosine of two vectors of length one, in a fixed order of sums.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    // As many sums at once as make the compiler use wide registers.
    let mut sums = [0.0_f32; 16];
    let ((ones, one), (others, other)) = (one.as_chunks::<16>(), other.as_chunks::<16>());
    for (one, other) in ones.iter().zip(others) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest: f32 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    // Rounding can carry it a little beyond.
    (sums.iter().sum::<f32>() + rest).clamp(-1.0, 1.0)
}

fn is_unit(vector: &[f32]) -> bool {
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    (square - 1.0).abs() < 1e-4
}
