//! Errors of policies and their files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use aske_chat::Hint;

/// The source of an error, of any type.
type Source = Box<dyn std::error::Error + Send + Sync>;

/// An error while creating, training, loading or saving a policy.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch is malformed or does not fit the network.
    #[error("invalid batch: {0}")]
    Batch(String),
    /// The weights do not fit the network.
    #[error("invalid weights: {0}")]
    Weights(String),
    /// The architecture is not supported.
    #[error("unsupported architecture: {0}")]
    UnsupportedArchitecture(String),
    /// The GGUF file has something that is not converted.
    #[error("unsupported GGUF file: {0}")]
    UnsupportedGguf(String),
    /// The weights are quantized.
    #[error("the weights are quantized")]
    Quantized,
    /// The loss or the gradient is not finite.
    #[error("training diverged: loss {loss}, gradient norm {grad_norm}")]
    Diverged {
        /// The loss.
        loss: f64,
        /// The gradient norm.
        grad_norm: f64,
    },
    /// The update produced values that are not finite.
    #[error("training diverged: after the update {0} not finite")]
    NotFinite(&'static str),
    /// The configured model cannot be trained.
    #[error("{0}")]
    Untrainable(String),
    /// A checkpoint file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Source,
    },
    /// The gradient norm exceeds the limit at which training is aborted.
    #[error("the gradient norm is {grad_norm:.3e}, above the limit of {limit:.3e}")]
    GradientExploded {
        /// The gradient norm.
        grad_norm: f64,
        /// The limit.
        limit: f64,
    },
    /// The device does not exist or is not supported by this build.
    #[error("device {0} is not available")]
    Device(String),
    /// The policy is too large to be sampled in this process.
    #[error("this policy is not sampled in this process")]
    NoSampler,
    /// The policy was created without a tokenizer.
    #[error("the policy has no tokenizer")]
    NoTokenizer,
    /// A library failed.
    #[error("{library}: {source}")]
    Library {
        /// Its name.
        library: &'static str,
        /// The cause.
        source: Source,
    },
}

impl LearnError {
    /// An error of a file.
    pub fn file(path: &Path, source: impl Into<Source>) -> Self {
        Self::File { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn library(library: &'static str, source: impl Into<Source>) -> Self {
        Self::Library { library, source: source.into() }
    }
}

impl Hint for LearnError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::UnsupportedArchitecture(_) => {
                "Llama, Qwen2 and Qwen3 can be trained; for other models see `configs/prime-rl/`"
            }
            Self::UnsupportedGguf(_) => {
                "Llama, Qwen2 and Qwen3 with a byte-level BPE tokenizer can be converted"
            }
            Self::Quantized => "train the model it was quantized from",
            Self::Diverged { .. } | Self::NotFinite(_) | Self::GradientExploded { .. } => {
                "lower the learning rate and train into a new folder"
            }
            Self::Untrainable(_) => "name a folder with a Llama-style checkpoint, or builtin:nano-asker",
            Self::NoSampler => "set train.sampler = \"vllm\": a vLLM server samples it",
            Self::Device(_) => {
                "use `cpu`, `cuda` or `cuda:N`; `cuda` needs a build with CUDA-enabled libtorch"
            }
            _ => return None,
        };
        Some(hint.into())
    }
}

impl From<candle_core::Error> for LearnError {
    fn from(error: candle_core::Error) -> Self {
        Self::library("candle", error)
    }
}

impl From<safetensors::SafeTensorError> for LearnError {
    fn from(error: safetensors::SafeTensorError) -> Self {
        Self::library("safetensors", error)
    }
}

#[cfg(feature = "torch")]
impl From<tch::TchError> for LearnError {
    fn from(error: tch::TchError) -> Self {
        Self::library("libtorch", error)
    }
}

/// Returns an error unless these weights are finite.
pub(crate) fn require_finite_weights(finite: bool) -> Result<(), LearnError> {
    if finite { Ok(()) } else { Err(LearnError::NotFinite("some weights are")) }
}

/// Returns an error unless this optimizer state is finite.
pub(crate) fn require_finite_state(finite: bool) -> Result<(), LearnError> {
    if finite { Ok(()) } else { Err(LearnError::NotFinite("the optimizer state is")) }
}
