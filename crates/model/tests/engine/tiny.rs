//! Random checkpoints of a few thousand parameters, made as files.

use aske_model::{Checkpoint, Engine, EngineOptions, LlamaConfig};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

pub(crate) const EOS: u32 = 2;
/// The control tokens: `<pad>`, `<s>`, `</s>`, `<unk>` and the three speakers.
pub(crate) const CONTROL: u32 = 7;
/// A number of the network for which the tokenizer has no token.
pub(crate) const HOLE: u32 = 103;

/// The four files of a checkpoint.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) config: Value,
    pub(crate) weights: Vec<u8>,
    pub(crate) tokenizer: Value,
    pub(crate) settings: Value,
}

impl Files {
    pub(crate) fn new(context: usize) -> Self {
        let config = config(context);
        let weights = weights(&config, Dtype::F32, |_, _| ());
        let config = serde_json::to_value(config).unwrap();
        Self { config, weights, tokenizer: tokenizer(), settings: settings() }
    }

    pub(crate) fn read(&self) -> Result<Checkpoint, String> {
        let [config, tokenizer, settings] =
            [&self.config, &self.tokenizer, &self.settings].map(|value| value.to_string().into_bytes());
        Checkpoint::from_bytes(&config, &self.weights, &tokenizer, &settings)
            .map_err(|error| error.to_string())
    }
}

pub(crate) fn config(context: usize) -> LlamaConfig {
    LlamaConfig {
        architectures: vec!["LlamaForCausalLM".to_owned()],
        model_type: "llama".to_owned(),
        vocab_size: 104,
        hidden_size: 24,
        intermediate_size: 40,
        num_hidden_layers: 2,
        num_attention_heads: 6,
        num_key_value_heads: 2,
        head_dim: 10,
        max_position_embeddings: context,
        rms_norm_eps: 1e-5,
        rope_theta: 10_000.0,
        tie_word_embeddings: true,
        hidden_act: "silu".to_owned(),
        bos_token_id: 1,
        eos_token_id: EOS,
        pad_token_id: 0,
        torch_dtype: "float32".to_owned(),
    }
}

/// Random weights; `change` may alter a tensor's name or shape.
pub(crate) fn weights(
    config: &LlamaConfig,
    format: Dtype,
    change: impl Fn(&mut String, &mut Vec<usize>),
) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut tensors = Vec::new();
    for (mut name, mut shape) in config.shapes() {
        change(&mut name, &mut shape);
        let norm = shape.len() == 1;
        let numbers = (0..shape.iter().product()).map(|_| if norm { 1.0 } else { random.f32() - 0.5 });
        let bytes: Vec<u8> = match format {
            Dtype::F32 => numbers.flat_map(f32::to_le_bytes).collect(),
            Dtype::F16 => numbers.flat_map(|number| half::f16::from_f32(number).to_le_bytes()).collect(),
            Dtype::BF16 => numbers.flat_map(|number| half::bf16::from_f32(number).to_le_bytes()).collect(),
            Dtype::F64 => numbers.flat_map(|number| f64::from(number).to_le_bytes()).collect(),
            other => panic!("{other:?}"),
        };
        tensors.push((name, shape, bytes));
    }
    let views = tensors
        .iter()
        .map(|(name, shape, bytes)| (name, TensorView::new(format, shape.clone(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

/// Printable ASCII by bytes, one merge, and control tokens.
fn tokenizer() -> Value {
    let control = ["<pad>", "<s>", "</s>", "<unk>", "<|system|>", "<|user|>", "<|assistant|>"];
    let letters = (' '..='~').map(String::from);
    let vocabulary = control.iter().map(|name| (*name).to_owned()).chain(letters).chain(["th".to_owned()]);
    let vocabulary: serde_json::Map<String, Value> =
        vocabulary.enumerate().map(|(id, token)| (token, id.into())).collect();
    let added: Vec<Value> = control
        .iter()
        .enumerate()
        .map(|(id, name)| {
            json!({ "id": id, "content": name, "special": true, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false })
        })
        .collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "pre_tokenizer": null,
        "post_processor": null, "decoder": { "type": "Fuse" }, "added_tokens": added,
        "model": { "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
                   "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                   "vocab": vocabulary, "merges": [["t", "h"]] },
    })
}

fn settings() -> Value {
    json!({
        "bos_token": "<s>", "eos_token": { "content": "</s>" }, "pad_token": "<pad>", "unk_token": "<unk>",
        "chat_template": "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}\
            {{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    })
}

/// An engine with a context of 512 tokens.
pub(crate) fn engine(options: &EngineOptions) -> Engine {
    Files::new(512).read().unwrap().start(options).unwrap()
}
