//! Errors in the files of a checkpoint.

/// A checkpoint that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {kind}")]
pub struct CheckpointError {
    /// The path of the file.
    pub file: String,
    /// What is wrong with it.
    pub kind: CheckpointErrorKind,
}

impl CheckpointError {
    pub(super) fn new(file: &str, kind: CheckpointErrorKind) -> Self {
        Self { file: file.to_owned(), kind }
    }

    /// The same of a file in this folder.
    pub(super) fn below(self, folder: &std::path::Path) -> Self {
        Self { file: folder.join(self.file).display().to_string(), ..self }
    }
}

/// The kinds of [`CheckpointError`].
#[derive(Debug, thiserror::Error)]
pub enum CheckpointErrorKind {
    /// It could not be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is larger than this engine supports.
    #[error("{0} bytes are more than the supported {1}")]
    TooLarge(u64, u64),
    /// Invalid JSON, a missing key, or a feature that this engine does not support.
    #[error("{0}")]
    Config(#[from] serde_json::Error),
    /// A value that is out of bounds or contradicts another.
    #[error("{0}")]
    Unfit(String),
    /// The file of weights is damaged.
    #[error("not a valid safetensors file: {0}")]
    SamplerBuffers(#[from] safetensors::SafeTensorError),
    /// A weight of the configuration is missing.
    #[error("no tensor `{0}`")]
    MissingTensor(String),
    /// A weight that the network does not have.
    #[error("unknown tensor `{0}`")]
    UnknownTensor(String),
    /// A weight with another shape than configured.
    #[error("tensor `{name}` has shape {found:?}; the configuration requires {wanted:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The required shape.
        wanted: Vec<usize>,
    },
    /// A weight in a number format other than F16, BF16 and F32.
    #[error("tensor `{0}` has type {1:?}; supported are F16, BF16 and F32")]
    Format(String, safetensors::Dtype),
    /// The tokenizer is invalid.
    #[error("invalid tokenizer: {0}")]
    Tokenizer(String),
    /// The chat template is missing or invalid.
    #[error("chat template: {0}")]
    Template(String),
}
