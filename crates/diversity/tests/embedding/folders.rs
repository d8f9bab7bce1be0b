//! The small random encoder that `make.py` wrote, to be changed.

use aske_diversity::Embedder;
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the encoder's folder, to be changed.
pub(crate) fn tiny() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/embedding/tiny");
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(fixture.join(name), copy.path().join(name)).unwrap();
    }
    copy
}

/// Adds what sentence-transformers writes beside a network, with this way of pooling.
pub(crate) fn with_modules(folder: &Path, pooling: &str) {
    let module =
        |path: &str, kind: &str| json!({"path": path, "type": format!("sentence_transformers.{kind}")});
    let modules = [
        module("", "models.Transformer"),
        module("1_Pooling", "models.Pooling"),
        module("2_Normalize", "models.Normalize"),
    ];
    write(&folder.join("modules.json"), &json!(modules));
    let pooling = json!({
        "word_embedding_dimension": 32,
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_max_tokens": pooling == "max",
    });
    std::fs::create_dir_all(folder.join("1_Pooling")).unwrap();
    write(&folder.join("1_Pooling/config.json"), &pooling);
}

/// Sets one value of `config.json`; `null` takes it away.
pub(crate) fn configure(folder: &Path, key: &str, value: serde_json::Value) {
    let path = folder.join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let all = config.as_object_mut().unwrap();
    if value.is_null() {
        all.remove(key).unwrap();
    } else {
        all.insert(key.to_owned(), value);
    }
    write(&path, &config);
}

pub(crate) fn write(path: &Path, value: &serde_json::Value) {
    std::fs::write(path, value.to_string()).unwrap();
}

pub(crate) fn read(folder: &Path) -> Embedder {
    Embedder::find(folder.to_str().unwrap()).unwrap()
}
