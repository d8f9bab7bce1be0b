//! Text to tokens and back, with hostile text in mind.

use super::error::CheckpointErrorKind;
use super::template::{Piece, Template, pieces};
use super::writing::Tongue;
use crate::{ErrorCause, ProviderError};
use aske_chat::Message;
use serde::Deserialize;
use tokenizers::Tokenizer;

/// The tokens of a checkpoint, and how a conversation becomes some of them.
pub struct ChatTokenizer {
    /// Reads the names of control tokens as control tokens: for what a template writes.
    framing: Tokenizer,
    /// Reads them as any other text: for what a person or a model says.
    saying: Tokenizer,
    template: Template,
    control: Vec<bool>,
    never: Vec<bool>,
    ends: Vec<u32>,
    unknown: Option<u32>,
}

/// A token in `tokenizer_config.json`: its text, or an object around it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Text(String),
    Object { content: String },
}

/// What is read of `tokenizer_config.json`.
#[derive(Deserialize)]
pub(super) struct Settings {
    bos_token: Option<Named>,
    eos_token: Option<Named>,
    pad_token: Option<Named>,
    unk_token: Option<Named>,
    /// The template, where it is not in a file of its own.
    pub(super) chat_template: Option<String>,
}

/// The only thing in `tokenizer.json` that the tokenizer itself does not tell.
#[derive(Deserialize)]
struct Inside {
    model: InsideModel,
}

#[derive(Deserialize)]
struct InsideModel {
    unk_token: Option<String>,
}

impl Settings {
    /// The text of the token that ends a reply.
    pub(super) fn end(&self) -> Option<&str> {
        self.eos_token.as_ref().map(Named::text)
    }
}

impl Named {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Object { content: text } => text,
        }
    }
}

/// What a network knows of tokens.
pub(super) struct Known<'a> {
    /// How many there are; more than the tokenizer has, at times.
    pub(super) size: usize,
    /// Those that end a reply.
    pub(super) ends: &'a [u32],
    /// Others that are no text.
    pub(super) control: &'a [u32],
}

/// Words of a template that divide what a model said, where they are tokens but no control tokens.
const CUTS: [&str; 2] = ["<think>", "</think>"];

/// A tokenizer as it stands in `tokenizer.json`, and its unknown token.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    unknown: Option<String>,
}

impl Tokens {
    pub(super) fn read(file: &[u8], size: usize) -> Result<Self, CheckpointErrorKind> {
        let broken = |error: tokenizers::Error| CheckpointErrorKind::Tokenizer(error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(file).map_err(broken)?;
        tokenizer.with_truncation(None).map_err(broken)?;
        tokenizer.with_padding(None);
        if let Some((token, id)) = tokenizer.get_vocab(true).into_iter().find(|(_, id)| *id as usize >= size)
        {
            let problem = format!("token `{token}` has number {id}, and the network knows {size} tokens");
            return Err(CheckpointErrorKind::Unfit(problem));
        }
        let unknown = serde_json::from_slice::<Inside>(file)?.model.unk_token;
        Ok(Self { tokenizer, unknown })
    }

    /// The number of a token.
    pub(super) fn number(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }
}

impl ChatTokenizer {
    pub(super) fn new(
        known: &Known,
        tokens: Tokens,
        settings: &Settings,
        template: String,
    ) -> Result<Self, CheckpointErrorKind> {
        let framing = tokens.tokenizer;
        let mut saying = framing.clone();
        saying.set_encode_special_tokens(true);
        let named = |token: &Option<Named>| token.as_ref().map(|token| token.text().to_owned());
        let unknown =
            named(&settings.unk_token).or(tokens.unknown).and_then(|text| framing.token_to_id(&text));
        let others = [&settings.bos_token, &settings.eos_token, &settings.pad_token].map(named);
        let others = others.iter().flatten().filter_map(|text| framing.token_to_id(text));
        let special = framing.get_added_tokens_decoder().into_iter();
        let special = special.filter(|(_, token)| token.special).map(|(id, _)| id);
        let of_network = known.ends.iter().chain(known.control).copied();
        let mut control = vec![false; known.size];
        for id in others.chain(special).chain(of_network).chain(unknown) {
            if let Some(control) = control.get_mut(id as usize) {
                *control = true;
            }
        }
        let never = (0..).zip(&control).map(|(id, control)| {
            (*control && !known.ends.contains(&id)) || framing.id_to_token(id).is_none()
        });
        let never = never.collect();
        let text = |token| named(token).unwrap_or_default();
        let added = framing.get_added_vocabulary().get_vocab();
        let is_text =
            |word: &&str| added.get(*word).is_some_and(|id| control.get(*id as usize) == Some(&false));
        let cuts = CUTS.into_iter().filter(is_text).collect();
        let template = Template::new(template, text(&settings.bos_token), text(&settings.eos_token), cuts)?;
        let ends = known.ends.to_vec();
        Ok(Self { framing, saying, template, control, never, ends, unknown })
    }

    /// The tokens of a conversation, up to where the model's reply begins.
    ///
    /// Only the template can write control tokens: their names in a message are text like any other.
    pub fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        let (text, mark) = self
            .template
            .render(messages)
            .map_err(|error| ProviderError::new(ErrorCause::Rejected, format!("chat template: {error}")))?;
        // Were a mark lost, what is said could pass for the frame.
        if !text.matches(mark.as_str()).count().is_multiple_of(2) {
            return Err(ProviderError::new(ErrorCause::Rejected, "the chat template cuts a message apart"));
        }
        let mut tokens = Vec::new();
        for piece in pieces(&text, &mark) {
            match piece {
                Piece::Frame(text) => tokens.extend(encode(&self.framing, text)?),
                Piece::Said(text) => tokens.extend(self.encode(text)?),
            }
        }
        Ok(tokens)
    }

    /// The tokens of a text in which no control token is recognised.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = encode(&self.saying, text)?;
        // A tokenizer may still know a control token as a word; then it is an unknown word.
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
        self.framing.decode(&tokens, true).unwrap_or_default()
    }

    /// The tokens that end a reply.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Which tokens no model may write: control tokens but the end, and numbers without a token.
    pub fn never(&self) -> &[bool] {
        &self.never
    }
}

impl Tongue for ChatTokenizer {
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
