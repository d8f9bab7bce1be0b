//! Converts GGUF files to checkpoints of transformers, dequantizing the weights.
//!
//! Supports Llama, Qwen2 and Qwen3 with a byte-level BPE tokenizer.

mod tokenizer;

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use candle_core::quantized::gguf_file::{Content, Value as Entry};
use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use crate::LearnError;
use crate::files::{WEIGHTS, write_json};

/// Reads a GGUF file and writes a checkpoint folder: `config.json`, `model.safetensors` in bfloat16 or single precision,
/// `tokenizer.json` and `tokenizer_config.json`.
pub fn convert_gguf(file: &Path, folder: &Path, bf16: bool) -> Result<(), LearnError> {
    let mut reader = BufReader::new(File::open(file).map_err(|error| LearnError::file(file, error))?);
    let content = Content::read(&mut reader).map_err(|error| LearnError::file(file, error))?;
    let metadata = Metadata { entries: &content.metadata };
    let config = config(&metadata, &content, bf16)?;
    let (tokenizer, tokenizer_config) = tokenizer::files(&metadata)?;

    let dtype = if bf16 { DType::BF16 } else { DType::F32 };
    let (num_heads, num_kv_heads) =
        (metadata.size("attention.head_count")?, metadata.size("attention.head_count_kv")?);
    let mut tensors = Vec::new();
    for name in content.tensor_infos.keys() {
        let tensor =
            content.tensor(&mut reader, name, &Device::Cpu).map_err(|error| LearnError::file(file, error))?;
        let mut tensor = tensor.dequantize(&Device::Cpu)?;
        if metadata.architecture()? == "llama" && name.ends_with("attn_q.weight") {
            tensor = unpermute(&tensor, num_heads)?;
        } else if metadata.architecture()? == "llama" && name.ends_with("attn_k.weight") {
            tensor = unpermute(&tensor, num_kv_heads)?;
        }
        tensors.push((hf_name(name)?, tensor.to_dtype(dtype)?));
    }
    tensors.sort_by(|one, other| one.0.cmp(&other.0));

    write_json(&folder.join("config.json"), &config)?;
    write_json(&folder.join("tokenizer.json"), &tokenizer)?;
    write_json(&folder.join("tokenizer_config.json"), &tokenizer_config)?;
    let path = folder.join(WEIGHTS);
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize_to_file(tensors, Some(metadata), &path)
        .map_err(|error| LearnError::file(&path, error))
}

/// The metadata of a GGUF file.
struct Metadata<'a> {
    entries: &'a HashMap<String, Entry>,
}

impl<'a> Metadata<'a> {
    fn architecture(&self) -> Result<&str, LearnError> {
        let name = self.text("general.architecture").unwrap_or_default();
        match name {
            "llama" | "qwen2" | "qwen3" => Ok(name),
            _ => Err(unsupported(format!("architecture `{name}`"))),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.entries.get(name)?.to_string().ok().map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.entries.get(name)? {
            Entry::I32(number) => u64::try_from(*number).ok(),
            entry => entry.to_u64().ok(),
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.entries.get(name).and_then(|entry| entry.to_bool().ok()).unwrap_or(false)
    }

    fn list(&self, name: &str) -> Result<&'a [Entry], LearnError> {
        let list = self.entries.get(name).and_then(|entry| entry.to_vec().ok());
        list.map(Vec::as_slice).ok_or_else(|| unsupported(format!("no `{name}`")))
    }

    /// A hyperparameter that is a positive integer.
    fn size(&self, name: &str) -> Result<usize, LearnError> {
        let name = format!("{}.{name}", self.architecture()?);
        let size = self.number(&name).and_then(|number| usize::try_from(number).ok());
        size.filter(|size| *size > 0).ok_or_else(|| unsupported(format!("no `{name}`")))
    }

    /// A floating-point hyperparameter, as it was before it was rounded to single precision.
    fn float(&self, name: &str) -> Result<Option<f64>, LearnError> {
        let entry = self.entries.get(&format!("{}.{name}", self.architecture()?));
        let number = entry.and_then(|entry| entry.to_f32().ok());
        Ok(number.and_then(|number| number.to_string().parse().ok()))
    }
}

fn unsupported(message: impl Into<String>) -> LearnError {
    LearnError::UnsupportedGguf(message.into())
}

fn config(metadata: &Metadata, content: &Content, bf16: bool) -> Result<Value, LearnError> {
    let architecture = metadata.architecture()?;
    let class = match architecture {
        "llama" => "LlamaForCausalLM",
        "qwen2" => "Qwen2ForCausalLM",
        _ => "Qwen3ForCausalLM",
    };
    let scaling = metadata.text(&format!("{architecture}.rope.scaling.type")).unwrap_or("none");
    if scaling != "none" || content.tensor_infos.contains_key("rope_freqs.weight") {
        return Err(unsupported("RoPE scaling"));
    }
    let embedding = content.tensor_infos.get("token_embd.weight").map(|info| info.shape.dims().to_vec());
    let Some([vocab_size, hidden_size]) = embedding.as_deref() else {
        return Err(unsupported("no embedding"));
    };
    let num_heads = metadata.size("attention.head_count")?;
    let head_dim = metadata.size("attention.key_length").unwrap_or(hidden_size / num_heads);
    let token = |name: &str| metadata.number(&format!("tokenizer.ggml.{name}_token_id"));
    let mut eos: Vec<u64> = [token("eos"), token("eot")].into_iter().flatten().collect();
    eos.dedup();
    Ok(json!({
        "architectures": [class],
        "model_type": architecture,
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "intermediate_size": metadata.size("feed_forward_length")?,
        "num_hidden_layers": metadata.size("block_count")?,
        "num_attention_heads": num_heads,
        "num_key_value_heads": metadata.size("attention.head_count_kv")?,
        "head_dim": head_dim,
        "max_position_embeddings": metadata.size("context_length")?,
        "rms_norm_eps": metadata.float("attention.layer_norm_rms_epsilon")?.unwrap_or(1e-6),
        "rope_theta": metadata.float("rope.freq_base")?.unwrap_or(10_000.0),
        "hidden_act": "silu",
        "tie_word_embeddings": !content.tensor_infos.contains_key("output.weight"),
        "bos_token_id": token("bos"),
        "eos_token_id": if let [eos] = eos[..] { json!(eos) } else { json!(eos) },
        "pad_token_id": token("padding"),
        "torch_dtype": if bf16 { "bfloat16" } else { "float32" },
    }))
}

/// The name of a tensor in transformers.
fn hf_name(name: &str) -> Result<String, LearnError> {
    let unknown = || unsupported(format!("tensor `{name}`"));
    match name {
        "token_embd.weight" => return Ok("model.embed_tokens.weight".to_owned()),
        "output_norm.weight" => return Ok("model.norm.weight".to_owned()),
        "output.weight" => return Ok("lm_head.weight".to_owned()),
        _ => {}
    }
    let parts: Vec<&str> = name.split('.').collect();
    let ["blk", layer, part, end @ ("weight" | "bias")] = parts[..] else { return Err(unknown()) };
    let part = match part {
        "attn_norm" => "input_layernorm",
        "attn_q" => "self_attn.q_proj",
        "attn_k" => "self_attn.k_proj",
        "attn_v" => "self_attn.v_proj",
        "attn_output" => "self_attn.o_proj",
        "attn_q_norm" => "self_attn.q_norm",
        "attn_k_norm" => "self_attn.k_norm",
        "ffn_norm" => "post_attention_layernorm",
        "ffn_gate" => "mlp.gate_proj",
        "ffn_up" => "mlp.up_proj",
        "ffn_down" => "mlp.down_proj",
        _ => return Err(unknown()),
    };
    Ok(format!("model.layers.{layer}.{part}.{end}"))
}

/// Undoes llama.cpp's permutation of a head's rows, which interleaves its two halves.
fn unpermute(rows: &Tensor, heads: usize) -> Result<Tensor, LearnError> {
    let (count, width) = rows.dims2()?;
    let pairs = rows.reshape((heads, count / heads / 2, 2, width))?;
    Ok(pairs.transpose(1, 2)?.contiguous()?.reshape((count, width))?)
}

#[cfg(test)]
mod tests {
    use super::{Device, Tensor, hf_name, unpermute};

    #[test]
    fn names_are_those_of_transformers() {
        assert_eq!(hf_name("blk.12.attn_k_norm.weight").unwrap(), "model.layers.12.self_attn.k_norm.weight");
        assert_eq!(hf_name("blk.0.attn_q.bias").unwrap(), "model.layers.0.self_attn.q_proj.bias");
        for name in ["blk.0.ffn_gate_exps.weight", "blk.0.attn_q", "x", "blk.0.ssm_in.weight"] {
            assert!(hf_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn pairs_go_back_to_the_halves_of_their_head() {
        // Two heads of four rows: halves (0, 1) and (2, 3) were stored as 0, 2, 1, 3.
        let stored = Tensor::from_slice(&[0.0_f32, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0], (8, 1), &Device::Cpu);
        let rows = unpermute(&stored.unwrap(), 2).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(rows, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }
}
