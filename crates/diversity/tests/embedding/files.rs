//! A folder that cannot be used says which file is wrong, and what to do.

use crate::common::with_hint;
use crate::folders::{configure, tiny, with_modules, write};
use aske_diversity::Embedder;
use serde_json::json;
use std::path::Path;

/// What is said of a folder after this was done to it.
fn told(change: impl FnOnce(&Path)) -> String {
    let folder = tiny();
    change(folder.path());
    let Err(error) = Embedder::find(folder.path().to_str().unwrap()) else { return "nothing".to_owned() };
    let message = with_hint(&error);
    assert!(message.starts_with(folder.path().to_str().unwrap()), "{message}");
    assert!(message.contains("\nhint: an embedder is a folder"), "{message}");
    message
}

fn says(message: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| message.contains(part)), "{message} lacks one of {parts:?}");
}

#[test]
fn missing_and_damaged_files_are_named() {
    assert_eq!(told(|_| {}), "nothing");
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        says(&told(|folder| std::fs::remove_file(folder.join(name)).unwrap()), &[name, "cannot be read"]);
        for damage in ["", "{", "[1, 2]", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"] {
            says(&told(|folder| std::fs::write(folder.join(name), damage).unwrap()), &[name]);
        }
    }
    for name in ["modules.json", "1_Pooling/config.json", "sentence_bert_config.json"] {
        let change = |folder: &Path| {
            with_modules(folder, "mean");
            std::fs::write(folder.join(name), "").unwrap();
        };
        says(&told(change), &[name, "EOF"]);
    }
    let cut = |folder: &Path| {
        let path = folder.join("model.safetensors");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    says(&told(cut), &["model.safetensors", "invalid safetensors file"]);
}

#[test]
fn networks_that_are_not_computed_here_are_refused() {
    let with = |key: &'static str, value: serde_json::Value| told(|folder| configure(folder, key, value));
    says(&with("model_type", json!("nomic_bert")), &["config.json", "`nomic_bert`", "only `bert`"]);
    says(&with("model_type", json!(null)), &["config.json", "only `bert`"]);
    says(&with("hidden_act", json!("swish")), &["config.json", "unknown variant `swish`"]);
    says(&with("position_embedding_type", json!("relative_key")), &["config.json", "`relative_key`"]);
    says(&with("is_decoder", json!(true)), &["config.json", "encoders"]);
    says(&with("hidden_size", json!(null)), &["config.json", "missing field `hidden_size`"]);
    says(&with("num_attention_heads", json!(5)), &["config.json", "32 is not a multiple of 5"]);
    says(&with("num_attention_heads", json!(0)), &["config.json", "32 is not a multiple of 0"]);
    says(&with("intermediate_size", json!(0)), &["config.json", "a size is 0"]);
    says(&with("layer_norm_eps", json!(-1.0)), &["config.json", "-1"]);
    says(&told(|folder| with_modules(folder, "max")), &["1_Pooling/config.json", "max_tokens"]);
    let dense =
        |folder: &Path| write(&folder.join("modules.json"), &json!([{"path": "", "type": "a.Dense"}]));
    says(&told(dense), &["modules.json", "`a.Dense`"]);
    says(
        &told(|folder| write(&folder.join("modules.json"), &json!([]))),
        &["modules.json", "no Transformer"],
    );
}

#[test]
fn weights_and_tokens_that_do_not_fit_are_refused() {
    let with = |key: &'static str, value: serde_json::Value| told(|folder| configure(folder, key, value));
    let message = with("intermediate_size", json!(64));
    says(&message, &["model.safetensors", "intermediate.dense.weight", "[48, 32]", "[64, 32]"]);
    says(&with("num_hidden_layers", json!(3)), &["model.safetensors", "encoder.layer.2"]);
    says(&with("vocab_size", json!(20)), &["tokenizer.json", "vocabulary has 20"]);
    let limits =
        |folder: &Path| write(&folder.join("sentence_bert_config.json"), &json!({"max_seq_length": 2}));
    says(&told(limits), &["tokenizer.json", "adds 2 special tokens, but a text has at most 2 tokens"]);
    let bare = |folder: &Path| {
        let path = folder.join("tokenizer.json");
        let mut all: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        all["post_processor"] = json!(null);
        write(&path, &all);
    };
    says(&told(bare), &["tokenizer.json", "[CLS]"]);
}

#[test]
fn damaged_weights_give_an_error_and_no_vector() {
    let folder = tiny();
    let path = folder.path().join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let header = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    bytes[header..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let error = Embedder::find(folder.path().to_str().unwrap()).unwrap().embed(&["a"]).unwrap_err();
    says(&with_hint(&error), &["zero or not finite", "hint: the embedder's files may be damaged"]);
}

#[test]
fn an_embedder_that_is_not_there_can_be_got() {
    let message = |name: &str| with_hint(&Embedder::find(name).unwrap_err());
    let told = message("nobody/has-this-embedder");
    says(&told, &["no embedder `nobody/has-this-embedder`", "hint: `hf download nobody/has-this-embedder`"]);
    says(&message("./no/such/folder"), &["no such folder", "hint: ", "`ngram`"]);
}
