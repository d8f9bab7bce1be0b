//! `config.json` of a Llama-style checkpoint, with the names that transformers and vLLM read.

use serde::{Deserialize, Serialize};

/// The shape of a Llama-style network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlamaConfig {
    /// `["LlamaForCausalLM"]`.
    pub architectures: Vec<String>,
    /// `llama`.
    pub model_type: String,
    /// Tokens known.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the feed-forward layer.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; each serves as many query heads.
    pub num_key_value_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Longest text, in tokens.
    pub max_position_embeddings: usize,
    /// Kept out of the root of a root mean square.
    pub rms_norm_eps: f64,
    /// Base of the rotary positions.
    pub rope_theta: f64,
    /// The output head is the embedding.
    pub tie_word_embeddings: bool,
    /// The activation; only `silu` is known.
    pub hidden_act: String,
    /// The token before every text.
    pub bos_token_id: u32,
    /// The token that ends a reply.
    pub eos_token_id: u32,
    /// The token that fills short rows.
    pub pad_token_id: u32,
    /// How the weights are stored: `float16`, `bfloat16` or `float32`.
    pub torch_dtype: String,
}

impl LlamaConfig {
    /// The name and shape of every weight, as the checkpoint files name them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let (queries, keys) =
            (self.num_attention_heads * self.head_dim, self.num_key_value_heads * self.head_dim);
        let mut shapes = vec![("model.embed_tokens.weight".to_owned(), vec![self.vocab_size, width])];
        for layer in 0..self.num_hidden_layers {
            let own: [(&str, Vec<usize>); 9] = [
                ("input_layernorm", vec![width]),
                ("self_attn.q_proj", vec![queries, width]),
                ("self_attn.k_proj", vec![keys, width]),
                ("self_attn.v_proj", vec![keys, width]),
                ("self_attn.o_proj", vec![width, queries]),
                ("post_attention_layernorm", vec![width]),
                ("mlp.gate_proj", vec![inner, width]),
                ("mlp.up_proj", vec![inner, width]),
                ("mlp.down_proj", vec![width, inner]),
            ];
            shapes.extend(own.map(|(name, shape)| (format!("model.layers.{layer}.{name}.weight"), shape)));
        }
        shapes.push(("model.norm.weight".to_owned(), vec![width]));
        if !self.tie_word_embeddings {
            shapes.push(("lm_head.weight".to_owned(), vec![self.vocab_size, width]));
        }
        shapes
    }

    /// How many parameters the network has.
    pub fn parameters(&self) -> usize {
        self.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum()
    }
}
