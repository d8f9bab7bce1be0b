//! Errors of embedders.

use aske_chat::Hint;
use std::borrow::Cow;
#[cfg(feature = "bert")]
use std::path::Path;

/// Why a text could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// There is no embedder of this name on this machine.
    #[error("no embedder `{name}`: {reason}")]
    NotFound {
        /// The requested name.
        name: String,
        /// Where it was looked for.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A file of the embedder is missing, damaged or not supported.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The embedder failed on a text.
    #[error("{embedder}: {reason}")]
    Text {
        /// The embedder.
        embedder: String,
        /// What happened.
        reason: String,
    },
}

impl Hint for EmbedError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotFound { hint, .. } => hint.into(),
            Self::File { .. } => {
                "an embedder is a folder with `config.json`, `model.safetensors` and `tokenizer.json` of \
                                  a BERT encoder, as `hf download` creates it; `ngram` needs no files"
                    .into()
            }
            Self::Text { .. } => "the embedder's files may be damaged; download them again".into(),
        })
    }
}

#[cfg(feature = "bert")]
impl EmbedError {
    /// An error in this file.
    pub(crate) fn file(path: &Path, reason: impl Into<String>) -> Self {
        Self::File { file: path.display().to_string(), reason: reason.into() }
    }
}
