//! Tokenizer and chat template of a GGUF file. Messages cannot inject control tokens.

use crate::ProviderError;
use crate::engine::{CUTS, Segment, Template};
use aske_chat::Message;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use serde_json::{Map, Value};

/// For files without a template: base models continue plain text.
const PLAIN: &str = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}";

/// The chat template of a file and its control tokens.
pub(super) struct GgufTokenizer {
    template: Template,
    control: Vec<bool>,
    ends: Vec<bool>,
    begin: Option<u32>,
}

impl GgufTokenizer {
    /// Reads the chat template and the token types of a file; `variables` are set in the template.
    pub(super) fn new(model: &LlamaModel, variables: Map<String, Value>) -> Result<Self, String> {
        let vocabulary = model.vocab();
        let source = model.chat_template(None).ok().and_then(|template| template.to_string().ok());
        let written = |token: LlamaToken| {
            (token.0 >= 0)
                .then(|| bytes(model, token, true))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let (begin, end) = (vocabulary.bos(), vocabulary.eos());
        let template = Template::new(
            source.unwrap_or_else(|| PLAIN.to_owned()),
            written(begin).unwrap_or_default(),
            written(end).unwrap_or_default(),
            CUTS.to_vec(),
        );
        let tokens: Vec<LlamaToken> = vocabulary.tokens().collect();
        Ok(Self {
            template: template.map_err(|error| error.to_string())?.with(variables),
            control: tokens.iter().map(|token| vocabulary.is_control(*token)).collect(),
            ends: tokens.iter().map(|token| vocabulary.is_eog(*token)).collect(),
            begin: u32::try_from(begin.0).ok().filter(|_| vocabulary.should_add_bos()),
        })
    }

    /// The tokens of a conversation, up to the beginning of the reply. Control tokens come from the template only.
    pub(super) fn prompt(&self, model: &LlamaModel, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        let tokens = self.template.prompt(messages, |segment| {
            let (text, special) = match segment {
                Segment::Template(text) => (text, true),
                Segment::Message(text) => (text, false),
            };
            let read = model.vocab().tokenize(text.as_bytes(), false, special);
            Ok(read.iter().filter_map(|token| u32::try_from(token.0).ok()).collect())
        })?;
        match self.begin.filter(|begin| tokens.first() != Some(begin)) {
            Some(begin) => Ok(std::iter::once(begin).chain(tokens).collect()),
            None => Ok(tokens),
        }
    }

    /// The text of these tokens, without control tokens.
    pub(super) fn decode(&self, model: &LlamaModel, tokens: &[u32]) -> String {
        let is_text = |token: &&u32| self.control.get(**token as usize) == Some(&false);
        let segments = tokens.iter().filter(is_text).filter_map(|token| i32::try_from(*token).ok());
        let all: Vec<u8> = segments.flat_map(|token| bytes(model, LlamaToken(token), false)).collect();
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Whether a token ends a reply.
    pub(super) fn is_end(&self, token: u32) -> bool {
        self.ends.get(token as usize) == Some(&true)
    }

    /// A mask of the tokens that may be generated: all but control tokens that do not end a reply.
    pub(super) fn allowed(&self) -> Vec<f32> {
        let both = self.control.iter().zip(&self.ends);
        both.map(|(control, end)| if *control && !*end { 0.0 } else { 1.0 }).collect()
    }
}

fn bytes(model: &LlamaModel, token: LlamaToken, special: bool) -> Vec<u8> {
    model.vocab().token_to_piece(token, special, None)
}
