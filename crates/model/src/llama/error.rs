//! Errors of GGUF files.

use aske_chat::Hint;
use std::borrow::Cow;
use std::path::PathBuf;

/// A GGUF file that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LlamaError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Not a valid GGUF file.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The machine has too little memory.
    #[error(
        "{}: needs {:.1} GB ({:.1} for its weights, {:.1} for the keys and values of {context} tokens), and {:.1} GB are free",
        path.display(), gigabytes(*weights + *cache), gigabytes(*weights), gigabytes(*cache), gigabytes(*free)
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// Bytes of its weights.
        weights: u64,
        /// Bytes of keys and values, activations and logits.
        cache: u64,
        /// Tokens of the KV cache.
        context: u32,
        /// Bytes of available memory.
        free: u64,
    },
    /// llama.cpp itself could not be started.
    #[error("llama.cpp: {0}")]
    Backend(String),
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

impl Hint for LlamaError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Io { .. } => "`aske models pull` fetches what the catalogue has; else name a .gguf file",
            Self::File { .. } => "fetch it again: `aske models pull` compares checksums",
            Self::Memory { .. } => {
                "lower `context_length` and `batch_size` of the model, or take a smaller file"
            }
            Self::Backend(_) => "is another llama.cpp running in this process?",
        }))
    }
}
