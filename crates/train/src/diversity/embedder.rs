//! One type for every way to make a vector of a text.

use std::fmt;
use std::path::Path;

use super::bert::Bert;
use super::error::EmbedError;
use super::tokens::Tokens;
use super::{folder, hub, ngram};

/// Tokens of one pass through a network, filling included: what it holds in memory at a time is bounded by it.
const AT_ONCE: usize = 4096;

/// Makes vectors of length one from texts: the more alike the texts, the larger the cosine.
///
/// ```
/// let embedder = aske_train::Embedder::find("ngram").unwrap();
/// let vectors = embedder.embed(&["What is 2 + 3?", "What is 2 + 4?", "Name a prime above 90."]).unwrap();
/// let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]));
/// ```
pub struct Embedder {
    name: String,
    fingerprint: String,
    kind: Kind,
}

impl fmt::Debug for Embedder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Embedder");
        shown.field("name", &self.name).field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

enum Kind {
    Ngram,
    Bert(Box<(Tokens, Bert)>),
}

impl Embedder {
    /// The embedder of this name: `ngram`, a folder, or a name on the Hugging Face hub such as
    /// `BAAI/bge-small-en-v1.5`, if it is in this machine's cache. Nothing is downloaded.
    pub fn find(name: &str) -> Result<Self, EmbedError> {
        if name == ngram::NAME {
            return Ok(Self::ngram());
        }
        Self::named(name, &hub::find(name, |variable| std::env::var_os(variable))?)
    }

    /// Counts of letters and digits: needs no file, and knows nothing of meaning.
    pub fn ngram() -> Self {
        Self { name: ngram::NAME.to_owned(), fingerprint: ngram::fingerprint(), kind: Kind::Ngram }
    }

    /// A BERT encoder from a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// `modules.json`, `1_Pooling/config.json` and `sentence_bert_config.json` say, where they are there, how
    /// the tokens' vectors become one and how long a text may be; otherwise it is their mean, and the length
    /// is the network's own.
    pub fn from_folder(folder: &Path) -> Result<Self, EmbedError> {
        Self::named(&folder.display().to_string(), folder)
    }

    fn named(name: &str, folder: &Path) -> Result<Self, EmbedError> {
        let folder::Parts { tokens, network, fingerprint } = folder::read(folder)?;
        Ok(Self { name: name.to_owned(), fingerprint, kind: Kind::Bert(Box::new((tokens, network))) })
    }

    /// The name it was found by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same for embedders that give the same vectors, wherever their files are.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        match &self.kind {
            Kind::Ngram => ngram::DIMENSIONS,
            Kind::Bert(parts) => parts.1.dimensions(),
        }
    }

    /// A vector of length one for each text, in their order.
    ///
    /// Long texts are cut: a network's at its longest text, `ngram` at 16,384 characters.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        match &self.kind {
            Kind::Ngram => Ok(texts.iter().map(|text| ngram::embed(text)).collect()),
            Kind::Bert(parts) => self.encode(&parts.0, &parts.1, texts),
        }
    }

    /// Texts of about the same length go through the network together.
    fn encode(&self, tokens: &Tokens, network: &Bert, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |message: String| EmbedError::Text { embedder: self.name.clone(), message };
        let mut rows = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            rows.push((at, tokens.of(text).map_err(failed)?));
        }
        rows.sort_by_key(|(_, row)| row.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = rows.as_slice();
        while !rest.is_empty() {
            // The last of a group is its longest, and all are filled up to it.
            let fits = |count: &usize| rest.get(count - 1).is_some_and(|row| count * row.1.len() <= AT_ONCE);
            let (group, after) = rest.split_at((1..=rest.len()).take_while(fits).last().unwrap_or(1));
            let plain: Vec<&[u32]> = group.iter().map(|(_, row)| row.as_slice()).collect();
            let pooled = network.pooled(&plain).map_err(|error| failed(format!("candle: {error}")))?;
            for ((at, _), vector) in group.iter().zip(pooled) {
                let unit = unit(&vector).ok_or_else(|| {
                    failed("the network gives no direction\nhint: its weights are damaged".to_owned())
                })?;
                if let Some(place) = vectors.get_mut(*at) {
                    *place = unit;
                }
            }
            rest = after;
        }
        Ok(vectors)
    }
}

/// This vector at length one, if it has a direction.
#[expect(clippy::cast_possible_truncation, reason = "vectors are single precision")]
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let sound = length.is_finite() && length > 0.0;
    sound.then(|| vector.iter().map(|number| (f64::from(*number) / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::{Embedder, unit};

    #[test]
    fn an_embedder_can_serve_several_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Embedder>();
    }

    #[test]
    fn only_a_direction_becomes_a_unit_vector() {
        assert_eq!(unit(&[3.0, -4.0]), Some(vec![0.6, -0.8]));
        assert_eq!(unit(&[1e-30, 0.0]), Some(vec![1.0, 0.0]));
        for none in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert_eq!(unit(none), None, "{none:?}");
        }
    }
}
