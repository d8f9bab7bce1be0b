//! What can go wrong between a text and its vector.

#[cfg(feature = "bert")]
use std::path::Path;

/// Why a text has no vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// No embedder of this name is on this machine.
    #[error("no embedder `{name}`: {reason}\nhint: {hint}")]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// Where it was looked for.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A file of the embedder is missing, damaged, or asks for something that is not computed here.
    #[error(
        "{file}: {problem}\nhint: an embedder is a folder with `config.json`, `model.safetensors` and \
         `tokenizer.json` of a BERT encoder, as `hf download` makes it; `ngram` needs no files"
    )]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The embedder is sound, but gives no vector for this text.
    #[error("{embedder}: {message}")]
    Text {
        /// The embedder.
        embedder: String,
        /// What happened.
        message: String,
    },
}

#[cfg(feature = "bert")]
impl EmbedError {
    /// Something is wrong with this file.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { file: path.display().to_string(), problem: problem.into() }
    }
}
