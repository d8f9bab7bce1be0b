//! Local folders: what their files say is computed exactly, and what no server can load is an error.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use aske_chat::Hint;
use aske_fleet::{Model, ModelFolder};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// A safetensors file with one tensor of each of these types and numbers of bytes, as sparse zeros.
fn weights(path: &Path, tensors: &[(&str, u64)]) {
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    let mut end = 0;
    for (at, (dtype, bytes)) in tensors.iter().enumerate() {
        let tensor = json!({ "dtype": dtype, "shape": [1], "data_offsets": [end, end + bytes] });
        header.insert(format!("tensor.{at}"), tensor);
        end += bytes;
    }
    let header = Value::from(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    std::fs::write(path, &file).unwrap();
    let all = file.len() as u64 + end;
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(all).unwrap();
}

/// A folder with this configuration and a gigabyte of weights in 16 bits.
fn folder(config: &Value) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    weights(&folder.path().join("model.safetensors"), &[("BF16", 1_000_000_000)]);
    folder
}

/// One sequence of this many tokens of a local model.
fn model(folder: &TempDir, length: u32) -> Model {
    let read = ModelFolder::read(folder.path()).unwrap();
    Model { folder: Some(read), length, sequences: 1, max_num_seqs: 1, ..Model::solver("m", "local") }
}

/// The cache of a sequence, where it is known.
fn cache(config: &Value, length: u32) -> Option<u64> {
    let memory = model(&folder(config), length).memory().unwrap();
    (!memory.estimated).then_some(memory.cache)
}

fn error(folder: &TempDir) -> String {
    let error = ModelFolder::read(folder.path()).unwrap_err();
    assert!(error.hint().unwrap().contains("config.json, weights as safetensors"), "{error}");
    error.to_string().replace(&folder.path().display().to_string(), "F")
}

/// The configuration of Qwen3-8B, as far as it matters here.
fn qwen() -> Value {
    json!({
        "model_type": "qwen3", "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "hidden_size": 4096, "max_position_embeddings": 40960, "sliding_window": null,
        "use_sliding_window": false, "torch_dtype": "bfloat16",
    })
}

fn with(mut config: Value, changes: Value) -> Value {
    if let (Value::Object(config), Value::Object(changes)) = (&mut config, changes) {
        config.extend(changes);
    }
    config
}

#[test]
fn the_cache_of_attention_follows_the_formula() {
    // Keys and values × layers × heads × width × 2 bytes × tokens.
    assert_eq!(cache(&qwen(), 1024), Some(2 * 36 * 8 * 128 * 2 * 1024));
    // Without a width it is the hidden size divided by the heads; without key-value heads every head has its own.
    let implied = with(qwen(), json!({ "head_dim": null, "num_key_value_heads": null, "hidden_size": 2048 }));
    assert_eq!(cache(&implied, 1000), Some(2 * 36 * 32 * 64 * 2 * 1000));
    // The language model of a larger one.
    let larger = json!({ "model_type": "mistral3", "vision_config": {}, "text_config": qwen() });
    assert_eq!(cache(&larger, 1024), Some(2 * 36 * 8 * 128 * 2 * 1024));
    // It is the same as that of the built-in shape.
    let known = Model { length: 1024, sequences: 1, ..Model::solver("m", "Qwen/Qwen3-8B") };
    assert_eq!(known.memory().unwrap().cache, 2 * 36 * 8 * 128 * 2 * 1024);
}

#[test]
fn the_smallest_bundled_network_takes_96_bytes_per_token() {
    let folder = TempDir::new().unwrap();
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nano/weights/nano-15k");
    for file in ["config.json", "model.safetensors"] {
        std::fs::copy(bundled.join(file), folder.path().join(file)).unwrap();
    }
    let memory = model(&folder, 1000).memory().unwrap();
    // 2 × 2 layers × 1 head × 12 numbers × 2 bytes.
    assert_eq!((memory.cache, memory.estimated), (96 * 1000, false));
    // 256 × 24 embeddings; in each of 2 layers 2 × 24 norms, 3 × 24 × 40 for the feed-forward layer and (24 + 12 + 12 + 24) × 24
    // for attention; 24 for the last norm. Two bytes each.
    let parameters = 256 * 24 + 2 * (2 * 24 + 3 * 24 * 40 + (24 + 12 + 12 + 24) * 24) + 24;
    assert_eq!(memory.weights, 2 * parameters);
    assert_eq!(model(&folder, 1000).max_context(), Some(1536));
}

#[test]
fn windows_and_recurrent_layers_are_read() {
    // Gemma 3, 4B: five of 34 layers look back to the beginning, the others 1,024 tokens and 2,048 during prefill.
    let types: Vec<&str> =
        (1..=34).map(|at| if at % 6 == 0 { "full_attention" } else { "sliding_attention" }).collect();
    let gemma = json!({ "text_config": {
        "model_type": "gemma3_text", "num_hidden_layers": 34, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_size": 2560, "sliding_window": 1024, "layer_types": types,
    } });
    let token = 2 * 4 * 256 * 2;
    let expected = token * (5 * 8192 + 29 * (1024 + 2048));
    assert_eq!(cache(&gemma, 8192), Some(expected));
    let mut older = gemma;
    older["text_config"]["layer_types"] = Value::Null;
    older["text_config"]["sliding_window_pattern"] = 6.into();
    assert_eq!(cache(&older, 8192), Some(expected));
    let known = Model { length: 8192, sequences: 1, ..Model::solver("m", "google/gemma-3-4b-it") };
    assert_eq!(known.memory().unwrap().cache, expected);
    // Mistral 7B v0.1: a window in all layers, and the same without one.
    let mistral =
        with(qwen(), json!({ "model_type": "mistral", "sliding_window": 4096, "use_sliding_window": null }));
    assert_eq!(cache(&mistral, 32_768), Some(2 * 36 * 8 * 128 * 2 * (4096 + 2048)));
    let off = with(mistral, json!({ "use_sliding_window": false }));
    assert_eq!(cache(&off, 32_768), Some(2 * 36 * 8 * 128 * 2 * 32_768));
    // A hybrid with one attention layer in four: 24 layers keep 32 matrices of 128 × 128 in single precision and three earlier
    // inputs of a convolution over 2 × 16 × 128 + 32 × 128 channels in 16 bits.
    let hybrid = with(
        qwen(),
        json!({
            "num_hidden_layers": 32, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
            "linear_num_value_heads": 32, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
        }),
    );
    let state = 24 * (32 * 128 * 128 * 4 + (2 * 16 * 128 + 32 * 128) * 3 * 2);
    assert_eq!(cache(&hybrid, 1000), Some(2 * 8 * 8 * 128 * 2 * 1000 + state));
    // DeepSeek V3: a vector of 512 + 64 numbers for each of 61 layers, on every GPU.
    let latent = with(
        qwen(),
        json!({
            "model_type": "deepseek_v3", "num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        }),
    );
    assert_eq!(cache(&latent, 1000), Some(61 * (512 + 64) * 2 * 1000));
    let memory = model(&folder(&latent), 1000).memory().unwrap();
    assert_eq!(memory.per_gpu(4) - memory.overhead, 250_000_000 + memory.cache);
}

#[test]
fn weights_are_counted_as_a_server_loads_them() {
    let of = |tensors: &[(&str, u64)]| {
        let folder = folder(&qwen());
        weights(&folder.path().join("model.safetensors"), tensors);
        model(&folder, 1024).memory().unwrap().weights
    };
    // Single precision is loaded in 16 bits; what is quantised stays as it is.
    assert_eq!(of(&[("F16", 600), ("BF16", 400)]), 1000);
    assert_eq!(of(&[("F32", 4000), ("BF16", 100)]), 2100);
    assert_eq!(of(&[("F8_E4M3", 700), ("U8", 30), ("I32", 400)]), 1130);
    // In eight bits a parameter takes one byte, unless it is published in fewer than 16.
    let quantised = |config: &Value| {
        let quantisation = Some(aske_fleet::Quantisation::Fp8);
        Model { quantisation, ..model(&folder(config), 1024) }.memory().unwrap().weights
    };
    assert_eq!(quantised(&qwen()), 500_000_000);
    let published = with(qwen(), json!({ "quantization_config": { "quant_method": "gptq" } }));
    assert_eq!(quantised(&published), 1_000_000_000);
}

#[test]
fn the_index_says_which_files_are_loaded() {
    let folder = folder(&qwen());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for (part, bytes) in [(1, 300), (2, 500)] {
        weights(&folder.path().join(format!("part-{part}.safetensors")), &[("BF16", bytes)]);
    }
    let index = |files: &[&str]| {
        let map: serde_json::Map<String, Value> =
            files.iter().enumerate().map(|(at, file)| (at.to_string(), (*file).into())).collect();
        write("model.safetensors.index.json", &json!({ "metadata": {}, "weight_map": map }).to_string());
    };
    index(&["part-1.safetensors", "part-2.safetensors", "part-1.safetensors"]);
    assert_eq!(model(&folder, 1024).memory().unwrap().weights, 800);
    index(&["part-1.safetensors", "part-3.safetensors"]);
    assert_eq!(error(&folder), "F/part-3.safetensors: No such file or directory (os error 2)");
    for outside in ["../part-1.safetensors", "/etc/passwd", "a/b", "..", ""] {
        index(&[outside]);
        let told = format!("F/model.safetensors.index.json: `{outside}` is not a file of this folder");
        assert_eq!(error(&folder), told);
    }
    write("model.safetensors.index.json", "[]");
    assert!(error(&folder).starts_with("F/model.safetensors.index.json: invalid "), "{}", error(&folder));
}

#[test]
fn folders_that_no_server_can_load_are_errors() {
    let folder = TempDir::new().unwrap();
    assert_eq!(error(&folder), "F: there are no weights, such as model.safetensors");
    let file = folder.path().join("model.safetensors");
    weights(&file, &[("BF16", 100)]);
    assert_eq!(error(&folder), "F: there is no config.json");
    let configured = |text: &str| {
        std::fs::write(folder.path().join("config.json"), text).unwrap();
        error(&folder)
    };
    assert!(configured("{").starts_with("F/config.json: EOF while parsing"), "{}", configured("{"));
    assert_eq!(configured("[1]"), "F/config.json: it is not a JSON object");
    assert!(configured(&"[".repeat(1 << 20)).starts_with("F/config.json: recursion limit exceeded"));
    for (key, value) in [
        ("num_hidden_layers", json!(0)),
        ("num_hidden_layers", json!(-3)),
        ("num_hidden_layers", json!(1e300)),
        ("num_hidden_layers", json!(1_000_000)),
        ("num_attention_heads", json!("many")),
        ("num_key_value_heads", json!(u64::MAX)),
        ("head_dim", json!(1.5)),
        ("hidden_size", json!([4096])),
        ("sliding_window", json!(-1)),
        ("max_position_embeddings", json!(0)),
    ] {
        let told = configured(&with(qwen(), json!({ key: value })).to_string());
        assert!(told.starts_with(&format!("F/config.json: `{key}` is ")), "{told}");
        assert!(told.contains("; it must be a whole number from 1 to "), "{told}");
    }
    let short = with(qwen(), json!({ "layer_types": ["full_attention"] }));
    assert_eq!(configured(&short.to_string()), "F/config.json: `layer_types` has 1 entries for 36 layers");
    let narrow = with(qwen(), json!({ "hidden_size": 8, "head_dim": null }));
    let told = "F/config.json: `hidden_size` is smaller than `num_attention_heads`";
    assert_eq!(configured(&narrow.to_string()), told);
    std::fs::write(folder.path().join("config.json"), qwen().to_string()).unwrap();
    assert!(ModelFolder::read(folder.path()).is_ok());
    let spoilt = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        error(&folder)
    };
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    let told = "F/model.safetensors: not a safetensors file; it may be a placeholder for a download";
    assert_eq!(spoilt(pointer.as_bytes()), told);
    assert_eq!(spoilt(b""), told);
    assert_eq!(spoilt(&[255; 64]), told);
    assert!(spoilt(b"\x02\0\0\0\0\0\0\0[]").starts_with(told));
    weights(&file, &[("BF16", 100)]);
    let whole = std::fs::read(&file).unwrap();
    let told = "F/model.safetensors: tensor `tensor.0` ends beyond the file, which may be incomplete";
    assert_eq!(spoilt(&whole[..whole.len() - 1]), told);
}

#[test]
fn other_architectures_are_estimated_and_say_why() {
    let reason = |changes: Value| {
        let folder = folder(&with(qwen(), changes));
        let read = ModelFolder::read(folder.path()).unwrap();
        let memory = model(&folder, 1024).memory().unwrap();
        assert!(memory.estimated);
        // Half a billion parameters: 140 + 4 × 0.5 KiB for each token.
        assert_eq!((memory.weights, memory.cache), (1_000_000_000, 142 * 1024 * 1024));
        read.unknown_cache().unwrap().rsplit_once("config.json: ").unwrap().1.to_owned()
    };
    assert_eq!(reason(json!({ "mamba_d_state": 128 })), "layers with `mamba_d_state` are not known");
    assert_eq!(reason(json!({ "is_encoder_decoder": true })), "models with an encoder are not known");
    assert_eq!(reason(json!({ "num_hidden_layers": null })), "there is no `num_hidden_layers`");
    assert_eq!(reason(json!({ "layer_types": vec!["mamba"; 36] })), "layers of type `mamba` are not known");
    assert_eq!(
        reason(json!({ "full_attention_interval": 4 })),
        "its recurrent layers have no `linear_…` keys"
    );
    assert_eq!(
        reason(json!({ "kv_lora_rank": 512, "qk_rope_head_dim": 64 })),
        "`kv_lora_rank` of model type `qwen3` is not known"
    );
    let none = json!({ "num_attention_heads": null, "num_key_value_heads": null });
    assert_eq!(reason(none), "the number or width of its attention heads is not given");
    // Weights in another format: the configured size is used, and the cache is exact.
    let folder = folder(&qwen());
    std::fs::rename(folder.path().join("model.safetensors"), folder.path().join("pytorch_model.bin"))
        .unwrap();
    assert_eq!(model(&folder, 1024).memory(), None);
    let memory = Model { params: Some(8.0), ..model(&folder, 1024) }.memory().unwrap();
    assert_eq!((memory.weights, memory.estimated), (16_000_000_000, false));
}

#[test]
fn the_context_is_the_longest_that_vllm_may_accept() {
    let context = |changes: Value| model(&folder(&with(qwen(), changes)), 1024).max_context();
    assert_eq!(context(json!({})), Some(40_960));
    assert_eq!(context(json!({ "max_position_embeddings": null })), None);
    let rope = |kind: &str, factor: f64| json!({ "rope_scaling": { "rope_type": kind, "factor": factor } });
    assert_eq!(context(rope("linear", 2.0)), Some(81_920));
    assert_eq!(context(rope("llama3", 8.0)), Some(40_960));
    assert_eq!(context(rope("yarn", 1e300)), Some(u32::MAX));
    assert_eq!(context(rope("linear", 0.01)), Some(40_960));
    assert_eq!(context(json!({ "model_max_length": 50_000 })), Some(50_000));
}
