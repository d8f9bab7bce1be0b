//! The tokenizer of the nano models: BPE over printable ASCII, one token per digit.

use aske_chat::{ChatRole, Message};
use aske_model::LlamaConfig;
use aske_nano::{
    Family, NumberSet, QuestionSampler, ReplyFormat, SessionGenerator, TAUGHT_LEVELS, right_reply,
};
use parking_lot::RwLock;
use regex::Regex;
use std::collections::HashMap;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer, TokenizerImpl};
use tokenizers::{NormalizerWrapper, PostProcessorWrapper};

/// Vocabulary size.
const VOCAB_SIZE: usize = 256;

/// Context length: a session of four rounds with the longest questions.
pub(super) const MAX_LENGTH: usize = 1536;

/// Special tokens, in order of their ids.
const SPECIAL: [&str; 6] = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|unk|>"];
const PAD: u32 = 0;
const END: u32 = 1;

/// Pre-tokenizer: tags, LaTeX commands, words with the space before them, and single characters.
const PIECES: &str = r"#[A-Za-z]+#|\\[A-Za-z]+\{?| ?[A-Za-z]+|[\s\S]";

/// Every message has an end token, so a conversation is a prefix of its continuation.
const CHAT_TEMPLATE: &str = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// The tokenizer cannot be trained or read.
#[derive(Debug, thiserror::Error)]
#[error("the tokenizer: {0}")]
pub struct TokenizerError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl aske_chat::Hint for TokenizerError {}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TokenizerError {
    TokenizerError(error.into())
}

/// Trains a tokenizer on texts of the nano world and returns its `tokenizer.json`.
pub fn train_tokenizer(session_generator: &SessionGenerator) -> Result<String, TokenizerError> {
    let mut trainer = BpeTrainer::builder()
        .vocab_size(VOCAB_SIZE)
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
    tokenizer.train(&mut trainer, texts(session_generator).into_iter()).map_err(failed)?;
    tokenizer.to_string(true).map_err(failed)
}

/// Questions with their replies, and conversations of askers.
fn texts(session_generator: &SessionGenerator) -> Vec<String> {
    let mut draw = QuestionSampler::new(0, NumberSet::Taught);
    let mut texts = Vec::new();
    for i in 0..20_000 {
        let family = Family::ALL[i % Family::ALL.len()];
        let level = u32::try_from(i / Family::ALL.len()).unwrap_or(0) % TAUGHT_LEVELS + 1;
        if let Some(question) = draw.question(family, level) {
            texts.extend(right_reply(&question, ReplyFormat::Probe));
            texts.push(question.text().to_owned());
        }
    }
    for seed in 0..1_000 {
        texts.extend(session_generator.session(seed).iter().map(|message| message.content.to_string()));
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
        "model_max_length": MAX_LENGTH,
        "clean_up_tokenization_spaces": false,
        "chat_template": CHAT_TEMPLATE,
    });
    format!("{config:#}\n")
}

/// The configuration of a nano network: hidden size, layers, intermediate size, heads, key-value heads, head size.
pub(super) fn model_config(shape: [usize; 6]) -> LlamaConfig {
    let [
        hidden_size,
        num_hidden_layers,
        intermediate_size,
        num_attention_heads,
        num_key_value_heads,
        head_dim,
    ] = shape;
    LlamaConfig {
        architectures: vec!["LlamaForCausalLM".to_owned()],
        model_type: "llama".to_owned(),
        vocab_size: VOCAB_SIZE,
        hidden_size,
        intermediate_size,
        num_hidden_layers,
        num_attention_heads,
        num_key_value_heads,
        head_dim,
        max_position_embeddings: MAX_LENGTH,
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

/// Tokenizes conversations. The tokens of each pre-tokenized piece are cached, because training data has hundreds of millions
/// of tokens.
#[derive(Debug)]
pub struct NanoTokenizer {
    tokenizer: Tokenizer,
    pre_tokenizer: Regex,
    cache: RwLock<HashMap<String, Vec<u32>>>,
}

impl NanoTokenizer {
    /// Reads `tokenizer.json`.
    pub fn new(tokenizer_json: &[u8]) -> Result<Self, TokenizerError> {
        let mut tokenizer = Tokenizer::from_bytes(tokenizer_json).map_err(failed)?;
        // Special tokens in a text are encoded as plain text.
        tokenizer.set_encode_special_tokens(true);
        let pre_tokenizer = Regex::new(PIECES).map_err(failed)?;
        Ok(Self { tokenizer, pre_tokenizer, cache: RwLock::default() })
    }

    /// Appends the tokens of a text.
    fn encode(&self, text: &str, tokens: &mut Vec<u32>) -> Result<(), TokenizerError> {
        for piece in self.pre_tokenizer.find_iter(text) {
            let piece = piece.as_str();
            if let Some(ids) = self.cache.read().get(piece) {
                tokens.extend(ids);
                continue;
            }
            let encoded = self.tokenizer.encode_fast(piece, false).map_err(failed)?;
            tokens.extend(encoded.get_ids());
            self.cache.write().insert(piece.to_owned(), encoded.get_ids().to_vec());
        }
        Ok(())
    }

    /// The tokens of a conversation, and whether each is the model's.
    pub fn conversation(&self, messages: &[Message]) -> Result<(Vec<u32>, Vec<bool>), TokenizerError> {
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
        let session_generator = SessionGenerator::new(aske_nano::TeacherKind::Good, pack);
        let json = train_tokenizer(&session_generator).unwrap();
        assert_eq!(train_tokenizer(&session_generator).unwrap(), json, "deterministic");
        let tokenizer = NanoTokenizer::new(json.as_bytes()).unwrap();
        for seed in 0..20 {
            for message in session_generator.session(seed) {
                let mut tokens = Vec::new();
                tokenizer.encode(&message.content, &mut tokens).unwrap();
                let whole = tokenizer.tokenizer.encode(&*message.content, false).unwrap();
                assert_eq!(tokens, whole.get_ids(), "{}", message.content);
                assert_eq!(tokenizer.tokenizer.decode(&tokens, false).unwrap(), *message.content);
            }
        }
    }
}
