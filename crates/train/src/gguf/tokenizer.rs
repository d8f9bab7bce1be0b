//! The tokenizer of a GGUF file, as the files that transformers reads.

use serde_json::{Map, Value, json};

use super::{About, Entry, wrong};
use crate::LearnError;

/// How Qwen2 and Llama 3 cut a text into words; they differ in how many digits stay together.
const WORDS: [&str; 2] = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];

/// Kinds of tokens, as GGUF numbers them.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;

/// `tokenizer.json` and `tokenizer_config.json`.
pub(super) fn files(about: &About) -> Result<(Value, Value), LearnError> {
    let model = about.text("tokenizer.ggml.model").unwrap_or_default();
    if model != "gpt2" {
        return Err(wrong(&format!("a tokenizer of kind `{model}`")));
    }
    let tokens = texts(about, "tokenizer.ggml.tokens")?;
    let kinds = about.list("tokenizer.ggml.token_type")?.iter().map(kind);
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
    let merges = texts(about, "tokenizer.ggml.merges")?;
    let merges: Option<Vec<(&str, &str)>> = merges.iter().map(|merge| merge.split_once(' ')).collect();
    let merges = merges.ok_or_else(|| wrong("a merge without two parts"))?;

    let before = about.text("tokenizer.ggml.pre").unwrap_or_default();
    let cut = cut(before)?;
    let named = |name: &str| {
        let number = about.number(&format!("tokenizer.ggml.{name}_token_id"))?;
        tokens.get(usize::try_from(number).ok()?).copied()
    };
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": if before == "qwen2" { json!({"type": "NFC"}) } else { Value::Null },
        "pre_tokenizer": cut,
        "post_processor": begun(about, named("bos")),
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": before == "llama-bpe", "vocab": vocabulary, "merges": merges,
        },
    });
    let settings = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": named("bos"),
        "eos_token": named("eos"),
        "pad_token": named("padding").or(named("eos")),
        "unk_token": named("unknown"),
        "model_max_length": about.size("context_length")?,
        "clean_up_tokenization_spaces": false,
        "chat_template": about.text("tokenizer.chat_template"),
    });
    Ok((tokenizer, settings))
}

fn texts<'a>(about: &About<'a>, name: &str) -> Result<Vec<&'a str>, LearnError> {
    let entries = about.entries.get(name).and_then(|entry| entry.to_vec().ok());
    let all: Option<Vec<&str>> = entries
        .and_then(|entries| entries.iter().map(|entry| entry.to_string().ok().map(String::as_str)).collect());
    all.ok_or_else(|| wrong(&format!("no `{name}`")))
}

fn kind(entry: &Entry) -> i64 {
    match entry {
        Entry::I32(kind) => i64::from(*kind),
        entry => entry.to_u64().ok().and_then(|kind| i64::try_from(kind).ok()).unwrap_or(0),
    }
}

/// How a text is cut into words before bytes are merged, by the name that llama.cpp gives it.
fn cut(name: &str) -> Result<Value, LearnError> {
    let bytes = |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let words = |digits: &str| {
        let regex = WORDS.join(digits);
        let split =
            json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
        json!({"type": "Sequence", "pretokenizers": [split, bytes(false)]})
    };
    match name {
        "gpt-2" | "gpt2" => Ok(bytes(true)),
        "smollm" => {
            let digits = json!({"type": "Digits", "individual_digits": true});
            Ok(json!({"type": "Sequence", "pretokenizers": [digits, bytes(true)]}))
        }
        "qwen2" => Ok(words("")),
        "llama-bpe" => Ok(words("{1,3}")),
        other => Err(wrong(&format!("a tokenizer that cuts words as `{other}`"))),
    }
}

/// Puts the first token before a text, where the file asks for it.
fn begun(about: &About, token: Option<&str>) -> Value {
    let number = about.number("tokenizer.ggml.bos_token_id");
    let (Some(token), Some(number), true) = (token, number, about.flag("tokenizer.ggml.add_bos_token"))
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
