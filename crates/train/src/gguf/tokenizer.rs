//! Converts the tokenizer of a GGUF file to the files of transformers.

use serde_json::{Map, Value, json};

use super::{Entry, Metadata, unsupported};
use crate::LearnError;

/// Pre-tokenizer pattern of Qwen2 and Llama 3; they differ in how many digits are grouped.
const PATTERN: [&str; 2] = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];

/// Token types in GGUF.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;

/// Builds `tokenizer.json` and `tokenizer_config.json`.
pub(super) fn files(metadata: &Metadata) -> Result<(Value, Value), LearnError> {
    let model = metadata.text("tokenizer.ggml.model").unwrap_or_default();
    if model != "gpt2" {
        return Err(unsupported(format!("tokenizer `{model}`")));
    }
    let tokens = texts(metadata, "tokenizer.ggml.tokens")?;
    let kinds = metadata.list("tokenizer.ggml.token_type")?.iter().map(kind);
    let mut vocabulary = Map::new();
    let mut added = Vec::new();
    for (number, (token, kind)) in tokens.iter().zip(kinds).enumerate() {
        if kind == UNUSED {
            continue;
        }
        vocabulary.insert((*token).to_owned(), json!(number));
        if kind == CONTROL || kind == USER_DEFINED {
            added.push(json!({
                "id": number, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": kind == CONTROL,
            }));
        }
    }
    let merges = texts(metadata, "tokenizer.ggml.merges")?;
    let merges: Option<Vec<(&str, &str)>> = merges.iter().map(|merge| merge.split_once(' ')).collect();
    let merges = merges.ok_or_else(|| unsupported("a merge without two parts"))?;

    let pre_tokenizer = metadata.text("tokenizer.ggml.pre").unwrap_or_default();
    let pre_tokenizer_config = pre_tokenizer_config(pre_tokenizer)?;
    let named = |name: &str| {
        let number = metadata.number(&format!("tokenizer.ggml.{name}_token_id"))?;
        tokens.get(usize::try_from(number).ok()?).copied()
    };
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": if pre_tokenizer == "qwen2" { json!({"type": "NFC"}) } else { Value::Null },
        "pre_tokenizer": pre_tokenizer_config,
        "post_processor": bos_processor(metadata, named("bos")),
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": pre_tokenizer == "llama-bpe", "vocab": vocabulary, "merges": merges,
        },
    });
    let tokenizer_config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": named("bos"),
        "eos_token": named("eos"),
        "pad_token": named("padding").or(named("eos")),
        "unk_token": named("unknown"),
        "model_max_length": metadata.size("context_length")?,
        "clean_up_tokenization_spaces": false,
        "chat_template": metadata.text("tokenizer.chat_template"),
    });
    Ok((tokenizer, tokenizer_config))
}

fn texts<'a>(metadata: &Metadata<'a>, name: &str) -> Result<Vec<&'a str>, LearnError> {
    let texts = metadata.list(name)?.iter().map(|entry| entry.to_string().ok().map(String::as_str));
    texts.collect::<Option<_>>().ok_or_else(|| unsupported(format!("no `{name}`")))
}

fn kind(entry: &Entry) -> i64 {
    match entry {
        Entry::I32(kind) => i64::from(*kind),
        entry => entry.to_u64().ok().and_then(|kind| i64::try_from(kind).ok()).unwrap_or(0),
    }
}

/// The pre-tokenizer with this llama.cpp name.
fn pre_tokenizer_config(name: &str) -> Result<Value, LearnError> {
    let bytes = |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let split = |digits: &str| {
        let regex = PATTERN.join(digits);
        let pattern =
            json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
        json!({"type": "Sequence", "pretokenizers": [pattern, bytes(false)]})
    };
    match name {
        "gpt-2" | "gpt2" => Ok(bytes(true)),
        "smollm" => {
            let digits = json!({"type": "Digits", "individual_digits": true});
            Ok(json!({"type": "Sequence", "pretokenizers": [digits, bytes(true)]}))
        }
        "qwen2" => Ok(split("")),
        "llama-bpe" => Ok(split("{1,3}")),
        other => Err(unsupported(format!("pre-tokenizer `{other}`"))),
    }
}

/// The post-processor, which adds the BOS token if the file says so.
fn bos_processor(metadata: &Metadata, token: Option<&str>) -> Value {
    let number = metadata.number("tokenizer.ggml.bos_token_id");
    let (Some(token), Some(number), true) = (token, number, metadata.flag("tokenizer.ggml.add_bos_token"))
    else {
        return json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true});
    };
    let first = json!({"SpecialToken": {"id": token, "type_id": 0}});
    let sequence = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
    json!({
        "type": "TemplateProcessing",
        "single": [first, sequence("A", 0)],
        "pair": [first, sequence("A", 0), first, sequence("B", 1)],
        "special_tokens": {token: {"id": token, "ids": [number], "tokens": [token]}},
    })
}
