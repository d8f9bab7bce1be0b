//! Files of a checkpoint, sound and wrong.

use crate::tiny::{self, Files};
use aske_model::Checkpoint;
use safetensors::Dtype;
use serde_json::{Value, json};

/// The error that these files give after one change.
fn problem(change: impl FnOnce(&mut Files)) -> String {
    let mut files = Files::new(64);
    change(&mut files);
    files.read().err().unwrap_or_default()
}

fn with_weights(change: impl Fn(&mut String, &mut Vec<usize>)) -> String {
    problem(|files| files.weights = tiny::weights(&tiny::config(64), Dtype::F32, change))
}

fn replace(name: &str, from: &str, to: &str) -> String {
    if name == from { to.to_owned() } else { name.to_owned() }
}

#[test]
fn every_mistake_is_one_clear_error_that_names_the_file() {
    let cases = [
        (problem(|files| files.config["model_type"] = "gpt2".into()), "config.json: `model_type` is `gpt2`"),
        (
            problem(|files| files.config["hidden_size"] = (1_u64 << 40).into()),
            "config.json: `hidden_size` is",
        ),
        (problem(|files| files.config["hidden_size"] = "x".into()), "config.json: invalid type"),
        (problem(|files| files.config = json!([])), "config.json: "),
        (
            problem(|files| files.config["attention_bias"] = true.into()),
            "config.json: `attention_bias` is set",
        ),
        (
            problem(|files| files.config["rope_scaling"] = json!({ "rope_type": "yarn", "factor": 4.0 })),
            "config.json: `yarn` rope scaling is not run",
        ),
        (problem(|files| files.weights.truncate(900)), "model.safetensors: not a valid safetensors file"),
        (problem(|files| files.weights.clear()), "model.safetensors: not a valid safetensors file"),
        (problem(|files| files.weights[..8].fill(255)), "model.safetensors: not a valid safetensors file"),
        (
            problem(|files| files.config["num_hidden_layers"] = 3.into()),
            "model.safetensors: no tensor `model.layers.2.input_layernorm.weight`",
        ),
        (
            problem(|files| files.config["num_hidden_layers"] = 1.into()),
            "model.safetensors: unknown tensor `model.layers.1.",
        ),
        (
            problem(|files| files.config["tie_word_embeddings"] = false.into()),
            "model.safetensors: no tensor `lm_head.weight`",
        ),
        (
            with_weights(|name, shape| {
                if name == "model.layers.1.mlp.up_proj.weight" {
                    shape.reverse();
                }
            }),
            "model.safetensors: tensor `model.layers.1.mlp.up_proj.weight` has shape [24, 40]; the \
             configuration requires [40, 24]",
        ),
        (
            with_weights(|name, _| {
                *name = replace(name, "model.norm.weight", "model.layers.0.mlp.up_proj.bias");
            }),
            "model.safetensors: unknown tensor `model.layers.0.mlp.up_proj.bias`",
        ),
        (
            problem(|files| files.weights = tiny::weights(&tiny::config(64), Dtype::F64, |_, _| ())),
            "has type F64; supported are F16, BF16 and F32",
        ),
        (
            problem(|files| {
                let end = files.weights.len();
                files.weights[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
            }),
            "contains values that are not finite",
        ),
        (problem(|files| files.tokenizer = json!({})), "tokenizer.json: invalid tokenizer"),
        (
            problem(|files| files.tokenizer["model"]["vocab"]["zz"] = 104.into()),
            "tokenizer.json: token `zz` has number 104, and the network knows 104 tokens",
        ),
        (problem(|files| files.settings = Value::Null), "tokenizer_config.json: "),
        (
            problem(|files| files.settings["chat_template"] = Value::Null),
            "tokenizer_config.json: chat template: there is no `chat_template`",
        ),
        (
            problem(|files| files.settings["chat_template"] = "{% if %}".into()),
            "tokenizer_config.json: chat template: syntax error",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "expected `{expected}`, found `{found}`");
    }
}

#[tokio::test]
async fn halved_numbers_are_read_as_the_numbers_they_are() {
    let text = [7, 8, 9, 50];
    let logits = async |format| {
        let mut files = Files::new(64);
        files.weights = tiny::weights(&tiny::config(64), format, |_, _| ());
        let engine = files.read().unwrap().start(&aske_model::EngineOptions::default()).unwrap();
        engine.logits(&text).await.unwrap()
    };
    let exact = logits(Dtype::F32).await;
    for (format, bound) in [(Dtype::F16, 0.02), (Dtype::BF16, 0.2)] {
        let off = logits(format).await.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off > 0.0 && off < bound, "{format:?}: {off}");
    }
}

#[test]
fn a_folder_is_read_and_a_missing_file_is_named() {
    let folder = std::env::temp_dir().join(format!("aske-engine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files = Files::new(64);
    let mut settings = files.settings.clone();
    let template = settings["chat_template"].take();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("config.json", files.config.to_string().as_bytes());
    write("tokenizer.json", files.tokenizer.to_string().as_bytes());
    write("tokenizer_config.json", settings.to_string().as_bytes());
    write("chat_template.jinja", template.as_str().unwrap().as_bytes());
    let error = Checkpoint::from_folder(&folder).err().unwrap().to_string();
    assert!(error.contains("model.safetensors: cannot be read: No such file"), "{error}");
    write("model.safetensors", &files.weights);
    assert_eq!(Checkpoint::from_folder(&folder).unwrap().config().vocab_size, 104);
    write("model.safetensors", &files.weights[..100]);
    let error = Checkpoint::from_folder(&folder).err().unwrap().to_string();
    assert!(error.starts_with(folder.to_str().unwrap()), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
