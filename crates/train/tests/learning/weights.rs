//! Weights to safetensors and back.

use crate::common::tiny;
use aske_model::LlamaConfig;
use aske_train::{Weight, Weights};

#[test]
fn full_precision_comes_back_as_it_was() {
    for tied in [true, false] {
        let config = LlamaConfig { tie_word_embeddings: tied, ..tiny() };
        let weights = Weights::random(&config, 4);
        let bytes = weights.to_safetensors(false).unwrap();
        assert_eq!(bytes, weights.to_safetensors(false).unwrap());
        assert!(Weights::from_safetensors(&config, &bytes).unwrap() == weights);
    }
}

#[test]
fn half_precision_comes_back_to_eleven_bits() {
    let config = tiny();
    let weights = Weights::random(&config, 4);
    let bytes = weights.to_safetensors(true).unwrap();
    assert!(bytes.len() < 2 * config.parameters() + 4096);
    let back = Weights::from_safetensors(&config, &bytes).unwrap();
    for (was, is) in weights.iter().zip(&back) {
        for (was, is) in was.data.iter().zip(&is.data) {
            // Half of the last of eleven bits, or half of the smallest number there is.
            assert!((was - is).abs() <= was.abs() / 2048.0 + 3e-8, "{was} {is}");
        }
    }
}

#[test]
fn the_file_has_the_header_that_transformers_asks_for() {
    let bytes = Weights::random(&tiny(), 4).to_safetensors(true).unwrap();
    let long = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + long]).unwrap();
    assert_eq!(header["__metadata__"], serde_json::json!({"format": "pt"}));
    assert_eq!(header["model.layers.1.mlp.down_proj.weight"]["shape"], serde_json::json!([32, 64]));
    assert_eq!(header["model.norm.weight"]["dtype"], "F16");
}

#[test]
fn what_does_not_fit_the_network_is_refused() {
    let config = tiny();
    let bytes = Weights::random(&config, 4).to_safetensors(false).unwrap();
    let said = |config: &LlamaConfig, bytes: &[u8]| {
        Weights::from_safetensors(config, bytes).unwrap_err().to_string()
    };
    assert!(said(&LlamaConfig { vocab_size: 13, ..tiny() }, &bytes).contains("should be [13, 32]"));
    assert!(
        said(&LlamaConfig { tie_word_embeddings: false, ..tiny() }, &bytes)
            .contains("lm_head.weight is missing")
    );
    assert!(
        said(&LlamaConfig { num_hidden_layers: 1, ..tiny() }, &bytes).contains("not part of the network")
    );
    assert!(Weights::from_safetensors(&config, &bytes[..100]).is_err());
    assert!(Weights::new(&config, Vec::<Weight>::new()).is_err());
}

#[test]
fn a_random_start_has_the_spread_it_says() {
    let config = LlamaConfig { hidden_size: 128, head_dim: 32, num_hidden_layers: 8, ..tiny() };
    let weights = Weights::random(&config, 4);
    let spread = |name: &str| {
        let data = &weights.get(name).unwrap().data;
        (data.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>() / data.len() as f64).sqrt()
    };
    let even = 128_f64.sqrt().recip();
    assert!((spread("model.layers.0.self_attn.q_proj.weight") / even - 1.0).abs() < 0.05);
    assert!((spread("model.layers.0.self_attn.o_proj.weight") / (even / 4.0) - 1.0).abs() < 0.05);
    assert!((spread("model.embed_tokens.weight") / (even / 2.0) - 1.0).abs() < 0.1);
    assert!(
        weights
            .get("model.norm.weight")
            .unwrap()
            .data
            .iter()
            .all(|number| (number - 1.0).abs() < f32::EPSILON)
    );
    assert!(weights != Weights::random(&config, 5));
}
