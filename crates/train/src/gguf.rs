//! GGUF files as checkpoints of transformers: quantised weights become numbers again.
//!
//! Llama, Qwen2 and Qwen3 with a byte-level BPE tokenizer. What was lost in quantising stays lost.

mod tokenizer;

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use candle_core::quantized::gguf_file::{Content, Value as Entry};
use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use crate::LearnError;

/// Reads a GGUF file and writes a folder that transformers, vLLM and a policy read: `config.json`,
/// `model.safetensors` in bfloat16 or in single precision, `tokenizer.json` and `tokenizer_config.json`.
pub fn convert_gguf(file: &Path, folder: &Path, half: bool) -> Result<(), LearnError> {
    let broken = |error: &dyn std::fmt::Display| LearnError::File {
        path: file.to_owned(),
        message: error.to_string(),
    };
    let mut reader = BufReader::new(File::open(file).map_err(|error| broken(&error))?);
    let content = Content::read(&mut reader).map_err(|error| broken(&error))?;
    let about = About { entries: &content.metadata };
    let config = config(&about, &content, half)?;
    let (tokenizer, settings) = tokenizer::files(&about)?;

    let kind = if half { DType::BF16 } else { DType::F32 };
    let (heads, shared) = (about.size("attention.head_count")?, about.size("attention.head_count_kv")?);
    let mut tensors = Vec::new();
    for name in content.tensor_infos.keys() {
        let tensor = content.tensor(&mut reader, name, &Device::Cpu).map_err(|error| broken(&error))?;
        let mut tensor = tensor.dequantize(&Device::Cpu)?;
        if about.family()? == "llama" && name.ends_with("attn_q.weight") {
            tensor = unrolled(&tensor, heads)?;
        } else if about.family()? == "llama" && name.ends_with("attn_k.weight") {
            tensor = unrolled(&tensor, shared)?;
        }
        tensors.push((renamed(name)?, tensor.to_dtype(kind)?));
    }
    tensors.sort_by(|one, other| one.0.cmp(&other.0));

    let write = |name: &str, value: &Value| {
        let path = folder.join(name);
        let bytes = serde_json::to_vec_pretty(value).map_err(|error| broken(&error))?;
        std::fs::write(&path, bytes).map_err(|error| LearnError::File { path, message: error.to_string() })
    };
    write("config.json", &config)?;
    write("tokenizer.json", &tokenizer)?;
    write("tokenizer_config.json", &settings)?;
    let path = folder.join("model.safetensors");
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize_to_file(tensors, Some(metadata), &path)
        .map_err(|error| LearnError::File { path, message: error.to_string() })
}

/// What a file tells about itself.
struct About<'a> {
    entries: &'a HashMap<String, Entry>,
}

impl About<'_> {
    fn family(&self) -> Result<&str, LearnError> {
        let name = self.text("general.architecture").unwrap_or_default();
        match name {
            "llama" | "qwen2" | "qwen3" => Ok(name),
            _ => Err(wrong(&format!("architecture `{name}`"))),
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

    fn list(&self, name: &str) -> Result<&[Entry], LearnError> {
        let list = self.entries.get(name).and_then(|entry| entry.to_vec().ok());
        list.map(Vec::as_slice).ok_or_else(|| wrong(&format!("no `{name}`")))
    }

    /// A size of the network.
    fn size(&self, name: &str) -> Result<usize, LearnError> {
        let name = format!("{}.{name}", self.family()?);
        let size = self.number(&name).and_then(|number| usize::try_from(number).ok());
        size.filter(|size| *size > 0).ok_or_else(|| wrong(&format!("no `{name}`")))
    }

    /// A real number of the network, as it was before it was stored in single precision.
    fn real(&self, name: &str) -> Result<Option<f64>, LearnError> {
        let entry = self.entries.get(&format!("{}.{name}", self.family()?));
        let number = entry.and_then(|entry| entry.to_f32().ok());
        Ok(number.and_then(|number| number.to_string().parse().ok()))
    }
}

fn wrong(what: &str) -> LearnError {
    LearnError::Network(format!(
        "{what} in a GGUF file\nhint: Llama, Qwen2 and Qwen3 with a byte-level BPE tokenizer are converted"
    ))
}

fn config(about: &About, content: &Content, half: bool) -> Result<Value, LearnError> {
    let family = about.family()?;
    let class = match family {
        "llama" => "LlamaForCausalLM",
        "qwen2" => "Qwen2ForCausalLM",
        _ => "Qwen3ForCausalLM",
    };
    let scaling = about.text(&format!("{family}.rope.scaling.type")).unwrap_or("none");
    if scaling != "none" || content.tensor_infos.contains_key("rope_freqs.weight") {
        return Err(wrong("stretched rotary positions"));
    }
    let embedding = content.tensor_infos.get("token_embd.weight").map(|info| info.shape.dims().to_vec());
    let Some([vocabulary, width]) = embedding.as_deref() else { return Err(wrong("no embedding")) };
    let heads = about.size("attention.head_count")?;
    let head = about.size("attention.key_length").unwrap_or(width / heads);
    let token = |name: &str| about.number(&format!("tokenizer.ggml.{name}_token_id"));
    let mut ends: Vec<u64> = [token("eos"), token("eot")].into_iter().flatten().collect();
    ends.dedup();
    Ok(json!({
        "architectures": [class],
        "model_type": family,
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": about.size("feed_forward_length")?,
        "num_hidden_layers": about.size("block_count")?,
        "num_attention_heads": heads,
        "num_key_value_heads": about.size("attention.head_count_kv")?,
        "head_dim": head,
        "max_position_embeddings": about.size("context_length")?,
        "rms_norm_eps": about.real("attention.layer_norm_rms_epsilon")?.unwrap_or(1e-6),
        "rope_theta": about.real("rope.freq_base")?.unwrap_or(10_000.0),
        "hidden_act": "silu",
        "tie_word_embeddings": !content.tensor_infos.contains_key("output.weight"),
        "bos_token_id": token("bos"),
        "eos_token_id": if let [end] = ends[..] { json!(end) } else { json!(ends) },
        "pad_token_id": token("padding"),
        "torch_dtype": if half { "bfloat16" } else { "float32" },
    }))
}

/// The name that transformers gives a tensor.
fn renamed(name: &str) -> Result<String, LearnError> {
    let unknown = || wrong(&format!("tensor `{name}`"));
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

/// Undoes llama.cpp's order of a head's rows, which puts the two numbers of a pair side by side.
fn unrolled(rows: &Tensor, heads: usize) -> Result<Tensor, LearnError> {
    let (count, width) = rows.dims2()?;
    let pairs = rows.reshape((heads, count / heads / 2, 2, width))?;
    Ok(pairs.transpose(1, 2)?.contiguous()?.reshape((count, width))?)
}

#[cfg(test)]
mod tests {
    use super::{Device, Tensor, renamed, unrolled};

    #[test]
    fn names_are_those_of_transformers() {
        assert_eq!(renamed("blk.12.attn_k_norm.weight").unwrap(), "model.layers.12.self_attn.k_norm.weight");
        assert_eq!(renamed("blk.0.attn_q.bias").unwrap(), "model.layers.0.self_attn.q_proj.bias");
        for name in ["blk.0.ffn_gate_exps.weight", "blk.0.attn_q", "x", "blk.0.ssm_in.weight"] {
            assert!(renamed(name).is_err(), "{name}");
        }
    }

    #[test]
    fn pairs_go_back_to_the_halves_of_their_head() {
        // Two heads of four rows: halves (0, 1) and (2, 3) were stored as 0, 2, 1, 3.
        let stored = Tensor::from_slice(&[0.0_f32, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0], (8, 1), &Device::Cpu);
        let rows = unrolled(&stored.unwrap(), 2).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(rows, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }
}
