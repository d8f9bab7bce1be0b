//! Tokenizer and chat template of a checkpoint. Messages cannot inject control tokens.

use super::error::BoxError;
use super::state::Detokenizer;
use super::template::{CUTS, Segment, Template};
use crate::{ErrorCause, ProviderError};
use aske_chat::Message;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokenizers::Tokenizer;

/// A tokenizer with a chat template.
pub struct ChatTokenizer {
    /// Recognises control tokens: for the text of the template.
    template_tokenizer: Tokenizer,
    /// Treats the names of control tokens as plain text: for messages.
    message_tokenizer: Tokenizer,
    template: Template,
    control: Vec<bool>,
    suppressed: Vec<bool>,
    ends: Vec<u32>,
    unknown: Option<u32>,
}

/// A token in `tokenizer_config.json`: its text, or an object around it.
#[derive(Deserialize)]
#[serde(untagged)]
enum TokenName {
    Text(String),
    Object { content: String },
}

/// The used part of `tokenizer_config.json`.
#[derive(Deserialize)]
pub(super) struct TokenizerConfig {
    bos_token: Option<TokenName>,
    eos_token: Option<TokenName>,
    pad_token: Option<TokenName>,
    unk_token: Option<TokenName>,
    /// The chat template, unless it is in `chat_template.jinja`.
    pub(super) chat_template: Option<String>,
}

/// The used part of `tokenizer.json` that the tokenizer does not expose.
#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    unk_token: Option<String>,
}

impl TokenizerConfig {
    /// The text of the end-of-sequence token.
    pub(super) fn end(&self) -> Option<&str> {
        self.eos_token.as_ref().map(TokenName::text)
    }
}

impl TokenName {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Object { content: text } => text,
        }
    }
}

/// The tokens of a network.
pub(super) struct NetworkTokens<'a> {
    /// Vocabulary size; may be larger than the tokenizer's.
    pub(super) size: usize,
    /// Tokens that end a reply.
    pub(super) ends: &'a [u32],
    /// Other control tokens.
    pub(super) control: &'a [u32],
}

/// The tokenizer of `tokenizer.json` and its unknown token.
pub(super) struct LoadedTokenizer {
    tokenizer: Tokenizer,
    unknown: Option<String>,
}

impl LoadedTokenizer {
    pub(super) fn read(file: &[u8], size: usize) -> Result<Self, BoxError> {
        let broken = |error: tokenizers::Error| format!("invalid tokenizer: {error}");
        let mut tokenizer = Tokenizer::from_bytes(file).map_err(broken)?;
        tokenizer.with_truncation(None).map_err(broken)?;
        tokenizer.with_padding(None);
        if let Some((token, id)) = tokenizer.get_vocab(true).into_iter().find(|(_, id)| *id as usize >= size)
        {
            return Err(
                format!("token `{token}` has number {id}, and the network knows {size} tokens").into()
            );
        }
        let unknown = serde_json::from_slice::<TokenizerFile>(file)?.model.unk_token;
        Ok(Self { tokenizer, unknown })
    }

    /// The id of a token.
    pub(super) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }
}

impl ChatTokenizer {
    pub(super) fn new(
        known: &NetworkTokens,
        tokens: LoadedTokenizer,
        settings: &TokenizerConfig,
        template: String,
    ) -> Result<Self, BoxError> {
        let template_tokenizer = tokens.tokenizer;
        let mut message_tokenizer = template_tokenizer.clone();
        message_tokenizer.set_encode_special_tokens(true);
        let named = |token: &Option<TokenName>| token.as_ref().map(|token| token.text().to_owned());
        let unknown = named(&settings.unk_token)
            .or(tokens.unknown)
            .and_then(|text| template_tokenizer.token_to_id(&text));
        let others = [&settings.bos_token, &settings.eos_token, &settings.pad_token].map(named);
        let others = others.iter().flatten().filter_map(|text| template_tokenizer.token_to_id(text));
        let special = template_tokenizer.get_added_tokens_decoder().into_iter();
        let special = special.filter(|(_, token)| token.special).map(|(id, _)| id);
        let of_network = known.ends.iter().chain(known.control).copied();
        let mut control = vec![false; known.size];
        for id in others.chain(special).chain(of_network).chain(unknown) {
            if let Some(control) = control.get_mut(id as usize) {
                *control = true;
            }
        }
        let suppressed = (0..).zip(&control).map(|(id, control)| {
            (*control && !known.ends.contains(&id)) || template_tokenizer.id_to_token(id).is_none()
        });
        let suppressed = suppressed.collect();
        let text = |token| named(token).unwrap_or_default();
        let added = template_tokenizer.get_added_vocabulary().get_vocab();
        let is_text =
            |word: &&str| added.get(*word).is_some_and(|id| control.get(*id as usize) == Some(&false));
        let cuts = CUTS.into_iter().filter(is_text).collect();
        let template = Template::new(template, text(&settings.bos_token), text(&settings.eos_token), cuts)?;
        let ends = known.ends.to_vec();
        Ok(Self { template_tokenizer, message_tokenizer, template, control, suppressed, ends, unknown })
    }

    /// Sets variables of the chat template, such as `enable_thinking`.
    #[must_use]
    pub fn with_template_variables(self, variables: Map<String, Value>) -> Self {
        Self { template: self.template.with(variables), ..self }
    }

    /// The tokens of a conversation, up to the beginning of the reply. Control tokens come from the template only.
    pub fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.template.prompt(messages, |segment| match segment {
            Segment::Template(text) => encode(&self.template_tokenizer, text),
            Segment::Message(text) => self.encode(text),
        })
    }

    /// Tokenizes a text without recognising control tokens.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = encode(&self.message_tokenizer, text)?;
        // A tokenizer may still contain a control token as a word; it is replaced by the unknown token.
        tokens.retain_mut(|token| {
            let control = self.control.get(*token as usize).copied().unwrap_or(true);
            if control {
                *token = self.unknown.unwrap_or_default();
            }
            !control || self.unknown.is_some()
        });
        Ok(tokens)
    }

    /// The text of these tokens, without control tokens.
    pub fn decode(&self, tokens: &[u32]) -> String {
        let is_text = |token: &&u32| self.control.get(**token as usize) == Some(&false);
        let tokens: Vec<u32> = tokens.iter().filter(is_text).copied().collect();
        self.template_tokenizer.decode(&tokens, true).unwrap_or_default()
    }

    /// The tokens that end a reply.
    pub fn eos_token_ids(&self) -> &[u32] {
        &self.ends
    }

    /// Tokens that must not be generated: control tokens except the end, and ids without a token.
    pub fn suppressed(&self) -> &[bool] {
        &self.suppressed
    }
}

impl Detokenizer for ChatTokenizer {
    fn is_end(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.decode(tokens)
    }
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>, ProviderError> {
    match tokenizer.encode_fast(text, false) {
        Ok(encoding) => Ok(encoding.get_ids().to_vec()),
        Err(error) => Err(ProviderError::new(ErrorCause::Rejected, format!("tokenizer: {error}"))),
    }
}
