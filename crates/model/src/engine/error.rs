//! What can be wrong with the files of a checkpoint.

/// A checkpoint that cannot be run, and why.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct CheckpointError {
    /// The file, as it was asked for.
    pub file: String,
    /// What is wrong with it.
    pub problem: CheckpointErrorKind,
}

impl CheckpointError {
    pub(super) fn new(file: &str, problem: CheckpointErrorKind) -> Self {
        Self { file: file.to_owned(), problem }
    }

    /// The same of a file in this folder.
    pub(super) fn below(self, folder: &std::path::Path) -> Self {
        Self { file: folder.join(self.file).display().to_string(), ..self }
    }
}

/// One thing that is wrong with a file of a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointErrorKind {
    /// It could not be opened or read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is larger than anything this engine is made for.
    #[error("{0} bytes are more than the {1} that are read")]
    TooLarge(u64, u64),
    /// It is no JSON, or lacks something, or asks for something that this engine does not compute.
    #[error("{0}")]
    Config(#[from] serde_json::Error),
    /// A value that is out of bounds or does not fit the others.
    #[error("{0}")]
    Unfit(String),
    /// The file of weights is damaged.
    #[error("no sound safetensors file: {0}")]
    Weights(#[from] safetensors::SafeTensorError),
    /// A weight that the configuration asks for is not there.
    #[error("no tensor `{0}`")]
    MissingTensor(String),
    /// A weight that this kind of network does not have.
    #[error("tensor `{0}` is not one of this network's")]
    UnknownTensor(String),
    /// A weight of another shape than the configuration says.
    #[error("tensor `{name}` has shape {found:?}, and the configuration asks for {wanted:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        wanted: Vec<usize>,
    },
    /// A weight in a number format other than F16, BF16 and F32.
    #[error("tensor `{0}` holds {1:?}; only F16, BF16 and F32 are read")]
    Format(String, safetensors::Dtype),
    /// The tokenizer cannot be built.
    #[error("no tokenizer: {0}")]
    Tokenizer(String),
    /// The chat template is missing or wrong.
    #[error("chat template: {0}")]
    Template(String),
}
