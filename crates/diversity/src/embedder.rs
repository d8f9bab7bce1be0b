//! Maps texts to vectors: one type for all embedders.

#[cfg(feature = "bert")]
use crate::bert::{self, Encoder};
use crate::{EmbedError, ngram};
use std::fmt;

/// Maps texts to unit vectors, whose cosine is larger the more similar the texts are.
///
/// ```
/// let embedder = aske_diversity::Embedder::find("ngram").unwrap();
/// let vectors = embedder.embed(&["What is 2 + 3?", "What is 2 + 4?", "Name a prime above 90."]).unwrap();
/// let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]));
/// ```
pub struct Embedder {
    name: String,
    fingerprint: String,
    kind: EmbedderKind,
}

impl fmt::Debug for Embedder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Embedder");
        shown.field("name", &self.name).field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

enum EmbedderKind {
    Ngram,
    #[cfg(feature = "bert")]
    Bert(Box<Encoder>),
}

impl Embedder {
    /// The embedder of this name: `ngram`, or with the feature `bert` a folder or a repository in the Hugging Face cache,
    /// such as `BAAI/bge-small-en-v1.5`. Nothing is downloaded.
    ///
    /// A folder has `config.json`, `model.safetensors` and `tokenizer.json`. If present, `modules.json`,
    /// `1_Pooling/config.json` and `sentence_bert_config.json` set the pooling and the longest text; the defaults are mean
    /// pooling and the network's maximum length.
    pub fn find(name: &str) -> Result<Self, EmbedError> {
        if name == ngram::NAME {
            return Ok(Self::ngram());
        }
        Self::encoder(name)
    }

    #[cfg(feature = "bert")]
    fn encoder(name: &str) -> Result<Self, EmbedError> {
        let folder = bert::find(name, aske_weights::HubCache::open().as_ref())?;
        let (encoder, fingerprint) = Encoder::read(&folder)?;
        Ok(Self { name: name.to_owned(), fingerprint, kind: EmbedderKind::Bert(Box::new(encoder)) })
    }

    #[cfg(not(feature = "bert"))]
    fn encoder(name: &str) -> Result<Self, EmbedError> {
        Err(EmbedError::NotFound {
            name: name.to_owned(),
            reason: "this build does not support BERT encoders".to_owned(),
            hint: "use `ngram`, or build with the feature `bert`".to_owned(),
        })
    }

    /// Hashed character n-grams: needs no files, and ignores meaning.
    pub fn ngram() -> Self {
        Self { name: ngram::NAME.to_owned(), fingerprint: ngram::fingerprint(), kind: EmbedderKind::Ngram }
    }

    /// Identifies the vectors: equal for embedders that give the same vectors, wherever their files are.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The length of a vector.
    pub fn dimensions(&self) -> usize {
        match &self.kind {
            EmbedderKind::Ngram => ngram::DIMENSIONS,
            #[cfg(feature = "bert")]
            EmbedderKind::Bert(encoder) => encoder.dimensions(),
        }
    }

    /// A unit vector for each text.
    ///
    /// Long texts are truncated: to the network's maximum length, or to 16,384 characters for `ngram`.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        match &self.kind {
            EmbedderKind::Ngram => Ok(texts.iter().map(|text| ngram::embed(text)).collect()),
            #[cfg(feature = "bert")]
            EmbedderKind::Bert(encoder) => encoder
                .embed(texts)
                .map_err(|reason| EmbedError::Text { embedder: self.name.clone(), reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Embedder;

    #[test]
    fn an_embedder_can_serve_several_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Embedder>();
    }
}
