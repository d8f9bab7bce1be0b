//! The tokens of the nano world: byte pairs over printable ASCII, every digit a token of its own.

use aske_chat::{ChatRole, Message};
use aske_model::LlamaConfig;
use aske_nano::{Classroom, Draw, Family, Numbers, Occasion, TAUGHT_LEVELS, right_reply};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use tokenizers::decoders::fuse::Fuse;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer, TokenizerImpl};
use tokenizers::{NormalizerWrapper, PostProcessorWrapper};

/// All tokens.
const SIZE: usize = 256;

/// Longest text, in tokens: a session of four rounds with the longest questions.
pub(super) const LONGEST: usize = 1536;

/// Tokens that no text contains, in the order of their numbers.
const SPECIAL: [&str; 6] = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|unk|>"];
const PAD: u32 = 0;
const END: u32 = 1;

/// Tags and LaTeX commands whole, words with the space before them, and everything else by itself.
const PIECES: &str = r"#[A-Za-z]+#|\\[A-Za-z]+\{?| ?[A-Za-z]+|[\s\S]";

/// How messages become one text; every message ends, so a longer conversation begins with the shorter one.
pub const CHAT_TEMPLATE: &str = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// A vocabulary that cannot be made or read.
#[derive(Debug, thiserror::Error)]
#[error("the vocabulary: {0}")]
pub struct VocabularyError(String);

fn failed(error: impl std::fmt::Display) -> VocabularyError {
    VocabularyError(error.to_string())
}

/// Makes `tokenizer.json` from texts of the nano world.
pub fn vocabulary(classroom: &Classroom) -> Result<String, VocabularyError> {
    let mut trainer = BpeTrainer::builder()
        .vocab_size(SIZE)
        .show_progress(false)
        .special_tokens(SPECIAL.map(|text| AddedToken::from(text, true)).to_vec())
        .initial_alphabet((b' '..=b'~').map(char::from).chain(['\n']).collect())
        .build();
    let model = BPE::builder().unk_token("<|unk|>".to_owned()).build().map_err(failed)?;
    let mut tokenizer: TokenizerImpl<BPE, NormalizerWrapper, Split, PostProcessorWrapper, Fuse> =
        TokenizerImpl::new(model);
    let pieces = SplitPattern::Regex(PIECES.to_owned());
    let split = Split::new(pieces, SplitDelimiterBehavior::Isolated, false).map_err(failed)?;
    tokenizer.with_pre_tokenizer(Some(split)).with_decoder(Some(Fuse::new()));
    tokenizer.train(&mut trainer, texts(classroom).into_iter()).map_err(failed)?;
    tokenizer.to_string(true).map_err(failed)
}

/// Every phrasing with its reply, and conversations of askers.
fn texts(classroom: &Classroom) -> Vec<String> {
    let mut draw = Draw::new(0, Numbers::Taught);
    let mut texts = Vec::new();
    for i in 0..20_000 {
        let family = Family::ALL[i % Family::ALL.len()];
        let level = u32::try_from(i / Family::ALL.len()).unwrap_or(0) % TAUGHT_LEVELS + 1;
        if let Some(question) = draw.question(family, level) {
            texts.extend(right_reply(&question, Occasion::Probe));
            texts.push(question.text().to_owned());
        }
    }
    for seed in 0..1_000 {
        texts.extend(classroom.session(seed).iter().map(|message| message.content.to_string()));
    }
    texts
}

/// `tokenizer_config.json`.
pub fn tokenizer_config() -> String {
    let config = serde_json::json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[END as usize],
        "eos_token": SPECIAL[END as usize],
        "pad_token": SPECIAL[PAD as usize],
        "unk_token": SPECIAL[5],
        "model_max_length": LONGEST,
        "clean_up_tokenization_spaces": false,
        "chat_template": CHAT_TEMPLATE,
    });
    format!("{config:#}\n")
}

/// The shape of a nano network.
pub fn config(width: usize, layers: usize, inner: usize, heads: [usize; 2], head: usize) -> LlamaConfig {
    LlamaConfig {
        architectures: vec!["LlamaForCausalLM".to_owned()],
        model_type: "llama".to_owned(),
        vocab_size: SIZE,
        hidden_size: width,
        intermediate_size: inner,
        num_hidden_layers: layers,
        num_attention_heads: heads[0],
        num_key_value_heads: heads[1],
        head_dim: head,
        max_position_embeddings: LONGEST,
        rms_norm_eps: 1e-5,
        rope_theta: 10_000.0,
        tie_word_embeddings: true,
        hidden_act: "silu".to_owned(),
        bos_token_id: END,
        eos_token_id: END,
        pad_token_id: PAD,
        torch_dtype: "float16".to_owned(),
    }
}

/// Turns conversations into tokens. Texts are cut into pieces by the vocabulary's own rule, and the tokens of a piece
/// are looked up once: lessons are made by the hundred million tokens.
#[derive(Debug)]
pub struct Codec {
    tokenizer: Tokenizer,
    rule: Regex,
    pieces: RwLock<HashMap<String, Vec<u32>>>,
}

impl Codec {
    /// Reads `tokenizer.json`.
    pub fn new(vocabulary: &[u8]) -> Result<Self, VocabularyError> {
        let mut tokenizer = Tokenizer::from_bytes(vocabulary).map_err(failed)?;
        // What looks like a special token in a text is text.
        tokenizer.set_encode_special_tokens(true);
        let rule = Regex::new(PIECES).map_err(failed)?;
        Ok(Self { tokenizer, rule, pieces: RwLock::default() })
    }

    /// The tokens of a text.
    fn encode(&self, text: &str, tokens: &mut Vec<u32>) -> Result<(), VocabularyError> {
        for piece in self.rule.find_iter(text) {
            let piece = piece.as_str();
            let known = self.pieces.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(ids) = known.get(piece) {
                tokens.extend(ids);
                continue;
            }
            drop(known);
            let encoded = self.tokenizer.encode_fast(piece, false).map_err(failed)?;
            tokens.extend(encoded.get_ids());
            let mut known = self.pieces.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(piece.to_owned(), encoded.get_ids().to_vec());
        }
        Ok(())
    }

    /// The tokens of a conversation, and for each whether the model wrote it.
    pub fn conversation(&self, messages: &[Message]) -> Result<(Vec<u32>, Vec<bool>), VocabularyError> {
        let (mut tokens, mut own) = (Vec::new(), Vec::new());
        for message in messages {
            let role = match message.role {
                ChatRole::System => 2,
                ChatRole::User => 3,
                ChatRole::Assistant => 4,
            };
            tokens.push(role);
            own.push(false);
            self.encode(&message.content, &mut tokens)?;
            tokens.push(END);
            own.resize(tokens.len(), message.role == ChatRole::Assistant);
        }
        Ok((tokens, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_session::Pack;
    use std::sync::Arc;

    #[test]
    fn pieces_give_the_tokens_of_the_whole_text() {
        let pack = Arc::new(Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap());
        let classroom = Classroom::new(aske_nano::Teaching::Good, pack);
        let words = vocabulary(&classroom).unwrap();
        assert_eq!(vocabulary(&classroom).unwrap(), words, "made twice, it is the same");
        let codec = Codec::new(words.as_bytes()).unwrap();
        for seed in 0..20 {
            for message in classroom.session(seed) {
                let mut tokens = Vec::new();
                codec.encode(&message.content, &mut tokens).unwrap();
                let whole = codec.tokenizer.encode(&*message.content, false).unwrap();
                assert_eq!(tokens, whole.get_ids(), "{}", message.content);
                assert_eq!(codec.tokenizer.decode(&tokens, false).unwrap(), *message.content);
            }
        }
    }
}
