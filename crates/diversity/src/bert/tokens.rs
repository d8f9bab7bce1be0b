//! A question as tokens of an encoder, with hostile text in mind.

use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

/// Characters that are read of a text, for each token that may come of it.
///
/// A word of any length, and white space, can be one token or none: without a bound on characters a text could
/// take any time.
const CHARACTERS: usize = 32;

/// The tokens of an encoder.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    characters: usize,
    lower: bool,
}

impl Tokens {
    /// A `tokenizer.json` for a network of this many tokens, cut at `longest`; `lower` makes capitals small.
    pub(super) fn read(file: &[u8], known: usize, longest: usize, lower: bool) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(file).map_err(|error| format!("no tokenizer: {error}"))?;
        if let Some((token, number)) =
            tokenizer.get_vocab(true).into_iter().find(|(_, number)| *number as usize >= known)
        {
            return Err(format!("token `{token}` has number {number}, and the network knows {known}"));
        }
        let frame = tokenizer.get_post_processor().map_or(0, |frame| frame.added_tokens(false));
        if frame == 0 {
            return Err("it puts no token before a text, as `[CLS]` is".to_owned());
        }
        if frame >= longest {
            return Err(format!("{frame} tokens around a text of at most {longest}"));
        }
        let cut = TruncationParams { max_length: longest, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(|error| format!("no tokenizer: {error}"))?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer, characters: CHARACTERS.saturating_mul(longest), lower })
    }

    /// The tokens of a text, with those that stand around it.
    ///
    /// The names of control tokens, such as `[PAD]`, are text like any other.
    pub(super) fn of(&self, text: &str) -> Result<Vec<u32>, String> {
        let end = text.char_indices().nth(self.characters).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or_default();
        let encoded = if self.lower {
            self.tokenizer.encode_fast(text.to_lowercase(), true)
        } else {
            self.tokenizer.encode_fast(text, true)
        };
        Ok(encoded.map_err(|error| format!("tokenizer: {error}"))?.get_ids().to_vec())
    }
}
