//! Tokenizes texts for an encoder, safely for hostile text.

use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

/// Characters read per token of the longest text.
///
/// A word of any length can be one token and white space none, so without this bound a text could take any time.
const CHARS_PER_TOKEN: usize = 32;

/// The tokenizer of an encoder.
pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    max_chars: usize,
    lowercase: bool,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json` for a network with this vocabulary; texts are truncated to `max_length` tokens.
    pub(super) fn read(
        file: &[u8],
        vocab_size: usize,
        max_length: usize,
        lowercase: bool,
    ) -> Result<Self, String> {
        let invalid = |error: tokenizers::Error| format!("invalid tokenizer: {error}");
        let mut tokenizer = Tokenizer::from_bytes(file).map_err(invalid)?;
        if let Some((token, id)) =
            tokenizer.get_vocab(true).into_iter().find(|(_, id)| *id as usize >= vocab_size)
        {
            return Err(format!(
                "token `{token}` has id {id}, but the network's vocabulary has {vocab_size}"
            ));
        }
        let added = tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
        if added == 0 {
            return Err("it adds no special token such as `[CLS]`".to_owned());
        }
        if added >= max_length {
            return Err(format!(
                "it adds {added} special tokens, but a text has at most {max_length} tokens"
            ));
        }
        let truncation = TruncationParams { max_length, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(invalid)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer, max_chars: CHARS_PER_TOKEN.saturating_mul(max_length), lowercase })
    }

    /// The tokens of a text, with special tokens added.
    ///
    /// The names of special tokens in the text, such as `[PAD]`, are tokenized as plain text.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, String> {
        let end = text.char_indices().nth(self.max_chars).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or_default();
        let encoded = if self.lowercase {
            self.tokenizer.encode_fast(text.to_lowercase(), true)
        } else {
            self.tokenizer.encode_fast(text, true)
        };
        Ok(encoded.map_err(|error| format!("tokenizer: {error}"))?.get_ids().to_vec())
    }
}
