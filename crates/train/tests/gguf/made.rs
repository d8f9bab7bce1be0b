//! A small file made here: names, sizes and tokens come through.

use aske_model::ChatTokenizer;
use aske_train::{LearnError, convert_gguf};
use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

const WIDTH: usize = 32;

/// Byte-level words: letters, digits, a space (`Ġ`), one merge and an end.
const TOKENS: [&str; 12] =
    ["a", "b", "1", "2", "Ġ", "ab", "Ġa", "!", "<|im_end|>", "<think>", "[PAD10]", "n"];

fn numbers(rows: usize, columns: usize, seed: u64) -> Tensor {
    let mut random = fastrand::Rng::with_seed(seed);
    let data: Vec<f32> = (0..rows * columns).map(|_| random.f32() - 0.5).collect();
    Tensor::from_vec(data, (rows, columns), &Device::Cpu).unwrap()
}

/// Every tensor of one layer of Qwen3, and of what is around it.
fn tensors() -> Vec<(&'static str, &'static str, Tensor)> {
    let row = |size: usize, seed: u64| numbers(1, size, seed).flatten_all().unwrap();
    vec![
        ("token_embd.weight", "model.embed_tokens.weight", numbers(12, WIDTH, 0)),
        ("output_norm.weight", "model.norm.weight", row(WIDTH, 1)),
        ("output.weight", "lm_head.weight", numbers(12, WIDTH, 2)),
        ("blk.0.attn_norm.weight", "model.layers.0.input_layernorm.weight", row(WIDTH, 3)),
        ("blk.0.ffn_norm.weight", "model.layers.0.post_attention_layernorm.weight", row(WIDTH, 4)),
        ("blk.0.attn_q.weight", "model.layers.0.self_attn.q_proj.weight", numbers(64, WIDTH, 5)),
        ("blk.0.attn_k.weight", "model.layers.0.self_attn.k_proj.weight", numbers(32, WIDTH, 6)),
        ("blk.0.attn_v.weight", "model.layers.0.self_attn.v_proj.weight", numbers(32, WIDTH, 7)),
        ("blk.0.attn_output.weight", "model.layers.0.self_attn.o_proj.weight", numbers(WIDTH, 64, 8)),
        ("blk.0.attn_q_norm.weight", "model.layers.0.self_attn.q_norm.weight", row(16, 9)),
        ("blk.0.attn_k_norm.weight", "model.layers.0.self_attn.k_norm.weight", row(16, 10)),
        ("blk.0.ffn_gate.weight", "model.layers.0.mlp.gate_proj.weight", numbers(64, WIDTH, 11)),
        ("blk.0.ffn_up.weight", "model.layers.0.mlp.up_proj.weight", numbers(64, WIDTH, 12)),
        ("blk.0.ffn_down.weight", "model.layers.0.mlp.down_proj.weight", numbers(WIDTH, 64, 13)),
    ]
}

fn entries() -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::String(text.to_owned());
    let kinds = (0..12)
        .map(|at| {
            Value::I32(match at {
                8 => 3,
                9 => 4,
                10 => 5,
                _ => 1,
            })
        })
        .collect();
    vec![
        ("general.architecture", text("qwen3")),
        ("qwen3.block_count", Value::U32(1)),
        ("qwen3.context_length", Value::U32(128)),
        ("qwen3.embedding_length", Value::U32(32)),
        ("qwen3.feed_forward_length", Value::U32(64)),
        ("qwen3.attention.head_count", Value::U32(4)),
        ("qwen3.attention.head_count_kv", Value::U32(2)),
        ("qwen3.attention.key_length", Value::U32(16)),
        ("qwen3.attention.layer_norm_rms_epsilon", Value::F32(1e-6)),
        ("qwen3.rope.freq_base", Value::F32(1e6)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text("qwen2")),
        ("tokenizer.ggml.tokens", Value::Array(TOKENS.map(text).to_vec())),
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
        ("tokenizer.ggml.merges", Value::Array(vec![text("a b"), text("Ġ a")])),
        ("tokenizer.ggml.eos_token_id", Value::U32(8)),
        ("tokenizer.chat_template", text("{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}")),
    ]
}

/// Writes a file, perhaps with other entries, and converts it.
fn converted(other: &[(&'static str, Value)], half: bool) -> Result<tempfile::TempDir, LearnError> {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = entries();
    for (name, value) in other {
        entries.retain(|(known, _)| known != name);
        entries.push((*name, value.clone()));
    }
    let tensors: Vec<(&str, QTensor)> = tensors()
        .into_iter()
        .map(|(name, _, tensor)| (name, QTensor::quantize(&tensor, GgmlDType::F32).unwrap()))
        .collect();
    let path = folder.path().join("model.gguf");
    let entries: Vec<(&str, &Value)> = entries.iter().map(|(name, value)| (*name, value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    write(&mut std::fs::File::create(&path).unwrap(), &entries, &tensors).unwrap();
    convert_gguf(&path, folder.path(), half)?;
    Ok(folder)
}

#[test]
fn weights_shape_and_tokens_come_through() {
    let folder = converted(&[], false).unwrap();
    let file = std::fs::read(folder.path().join("model.safetensors")).unwrap();
    let found = candle_core::safetensors::load_buffer(&file, &Device::Cpu).unwrap();
    assert_eq!(found.len(), tensors().len());
    for (_, name, tensor) in tensors() {
        assert_eq!(found[name].dims(), tensor.dims(), "{name}");
        let apart = (found[name].flatten_all().unwrap() - tensor.flatten_all().unwrap()).unwrap();
        let apart = apart.abs().unwrap().max(0).unwrap().to_scalar::<f32>().unwrap();
        assert!(apart == 0.0, "{name}");
    }
    let config = std::fs::read(folder.path().join("config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
    for (name, value) in [("head_dim", 16.into()), ("vocab_size", 12.into()), ("rope_theta", 1e6.into())] {
        let value: serde_json::Value = value;
        assert_eq!(config[name], value, "{name}");
    }
    assert_eq!(config["rms_norm_eps"], 1e-6);
    assert_eq!(config["tie_word_embeddings"], false);

    let words = ChatTokenizer::from_folder(folder.path()).unwrap();
    assert_eq!(words.eos_token_ids(), [8]);
    // Digits one by one, a space with the word that follows it.
    assert_eq!(words.encode("ab 12 a!").unwrap(), [5, 4, 2, 3, 6, 7]);
    assert_eq!(words.decode(&[5, 6, 8]), "ab a");
    // Neither the unused number nor anything but the end can be written.
    assert_eq!(words.suppressed().iter().filter(|never| **never).count(), 1);
    let half = converted(&[], true).unwrap();
    let file = std::fs::read(half.path().join("model.safetensors")).unwrap();
    let found = candle_core::safetensors::load_buffer(&file, &Device::Cpu).unwrap();
    assert!(found.values().all(|tensor| tensor.dtype() == DType::BF16));
}

#[test]
fn what_is_not_converted_is_refused() {
    let text = |text: &str| Value::String(text.to_owned());
    for (name, value) in [
        ("general.architecture", text("qwen35")),
        ("tokenizer.ggml.model", text("llama")),
        ("tokenizer.ggml.pre", text("deepseek-llm")),
        ("qwen3.rope.scaling.type", text("yarn")),
        ("qwen3.block_count", text("many")),
    ] {
        let refused = converted(&[(name, value)], false);
        assert!(matches!(refused, Err(LearnError::UnsupportedGguf(_))), "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, b"GGUF no").unwrap();
    assert!(matches!(convert_gguf(&path, folder.path(), false), Err(LearnError::File { .. })));
}
