//! Reads `model.safetensors` into a network.

use super::cache::Layout;
use super::error::BoxError;
use super::network::{Layer, Network};
use super::{LlamaConfig, config};
use aske_kernels::{Arch, PackedMatrix, RotaryTable};
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;

impl Network {
    /// The network of this shape with the weights of a safetensors file.
    pub(super) fn load(config: LlamaConfig, file: &[u8]) -> Result<Self, BoxError> {
        let tensors = SafeTensors::deserialize(file)
            .map_err(|error| format!("not a valid safetensors file: {error}"))?;
        let shapes: HashMap<String, Vec<usize>> = config.shapes().into_iter().collect();
        if let Some(stranger) = tensors.names().into_iter().find(|name| !known(name, &shapes)) {
            return Err(format!("unknown tensor `{stranger}`").into());
        }
        let tensor = |name: &str| -> Result<Vec<f32>, BoxError> {
            let view = tensors.tensor(name).map_err(|_| format!("no tensor `{name}`"))?;
            let found = view.shape();
            match shapes.get(name) {
                Some(wanted) if found != wanted => {
                    let message = "the configuration requires";
                    Err(format!("tensor `{name}` has shape {found:?}; {message} {wanted:?}").into())
                }
                _ => numbers(name, view.dtype(), view.data()),
            }
        };
        let layer = |index: usize| -> Result<Layer, BoxError> {
            let own = |name: &str| tensor(&format!("model.layers.{index}.{name}.weight"));
            let pack = |inputs, names: &[&str]| {
                let parts: Vec<Vec<f32>> = names.iter().map(|name| own(name)).collect::<Result<_, _>>()?;
                let parts: Vec<&[f32]> = parts.iter().map(Vec::as_slice).collect();
                Ok::<_, BoxError>(PackedMatrix::pack(inputs, &parts))
            };
            let width = config.hidden_size;
            Ok(Layer {
                attention_norm: own("input_layernorm")?,
                qkv: pack(width, &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])?,
                output: pack(config.num_attention_heads * config.head_dim, &["self_attn.o_proj"])?,
                mlp_norm: own("post_attention_layernorm")?,
                gate_up: pack(width, &["mlp.gate_proj", "mlp.up_proj"])?,
                down: pack(config.intermediate_size, &["mlp.down_proj"])?,
            })
        };
        let embedding = tensor("model.embed_tokens.weight")?;
        let head = if config.tie_word_embeddings {
            PackedMatrix::pack(config.hidden_size, &[&embedding])
        } else {
            PackedMatrix::pack(config.hidden_size, &[&tensor(config::HEAD)?])
        };
        Ok(Self {
            layout: Layout::new(&config),
            arch: Arch::new(),
            rotary: RotaryTable::new(config.max_position_embeddings, config.head_dim, config.rope_theta),
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            norm: tensor("model.norm.weight")?,
            embedding,
            head,
            config,
        })
    }
}

/// Some files also contain the tied head and the rotary frequencies, which are not needed.
fn known(name: &str, shapes: &HashMap<String, Vec<usize>>) -> bool {
    shapes.contains_key(name) || name == config::HEAD || name.ends_with(".rotary_emb.inv_freq")
}

fn numbers(name: &str, format: Dtype, bytes: &[u8]) -> Result<Vec<f32>, BoxError> {
    let pairs = bytes.as_chunks::<2>().0.iter();
    let numbers: Vec<f32> = match format {
        Dtype::F32 => bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F16 => pairs.map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
        Dtype::BF16 => pairs.map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
        other => {
            let message = "supported are F16, BF16 and F32";
            return Err(format!("tensor `{name}` has type {other:?}; {message}").into());
        }
    };
    if numbers.iter().all(|number| number.is_finite()) {
        Ok(numbers)
    } else {
        Err(format!("tensor `{name}` contains values that are not finite").into())
    }
}
