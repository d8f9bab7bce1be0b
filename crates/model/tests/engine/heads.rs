//! Wider heads compute the same.

use crate::tiny::{self, Files};
use crate::{greedy, prompt};
use aske_model::{Engine, EngineOptions, GenerationRequest, widen_heads};
use safetensors::{Dtype, SafeTensors};

/// These files with heads of 10 numbers, or of 10 × `factor`.
fn widened(files: &Files, factor: usize) -> Result<Files, String> {
    let config = files.config.to_string();
    let (config, weights) =
        widen_heads(config.as_bytes(), &files.weights, factor).map_err(|error| error.to_string())?;
    Ok(Files { config: serde_json::from_slice(&config).unwrap(), weights, ..files.clone() })
}

fn in_format(format: Dtype) -> Files {
    Files { weights: tiny::weights(&tiny::config(512), format, |_, _| ()), ..Files::new(512) }
}

fn engine(files: &Files) -> Engine {
    files.read().unwrap().start(&EngineOptions { threads: 1, batch: 1, prefix_cache_bytes: 0 }).unwrap()
}

#[tokio::test]
async fn wider_heads_give_the_same_logits_and_greedy_replies() {
    for format in [Dtype::F32, Dtype::F16, Dtype::BF16] {
        let files = in_format(format);
        for factor in [4, 16] {
            let wide = widened(&files, factor).unwrap();
            assert_eq!(wide.config["head_dim"], 10 * factor);
            let engines = [engine(&files), engine(&wide)];
            let text = prompt(300, 1);
            let [narrow, wide] = [engines[0].logits(&text).await, engines[1].logits(&text).await];
            let (narrow, wide) = (narrow.unwrap(), wide.unwrap());
            let difference = narrow.iter().zip(&wide).map(|(a, b)| (a - b).abs());
            // Sums of the same numbers in another order, in single precision.
            let largest = difference.fold(0.0, f32::max);
            assert!(largest < 2e-4, "{format:?} × {factor}: {largest}");
            for seed in 0..8 {
                let request = GenerationRequest {
                    prompt: prompt(20, seed),
                    max_tokens: 100,
                    sampling: greedy(),
                    seed,
                    logprobs: false,
                    ignore_eos: true,
                    client: None,
                    token_sender: None,
                };
                let [narrow, wide] =
                    [&engines[0], &engines[1]].map(|engine| engine.generate(request.clone()));
                assert_eq!(narrow.await.unwrap().tokens, wide.await.unwrap().tokens);
            }
        }
    }
}

#[test]
fn every_number_is_kept_exactly_and_queries_are_doubled() {
    let files = in_format(Dtype::F16);
    let wide = widened(&files, 4).unwrap();
    let [narrow, wide] = [&files.weights, &wide.weights].map(|file| SafeTensors::deserialize(file).unwrap());
    let numbers = |file: &SafeTensors<'_>, name: &str| -> Vec<f32> {
        let data = file.tensor(name).unwrap().data().to_vec();
        data.as_chunks::<2>().0.iter().map(|bytes| half::f16::from_le_bytes(*bytes).to_f32()).collect()
    };
    for name in narrow.names() {
        let (mut before, mut after) = (numbers(&narrow, name), numbers(&wide, name));
        if name.ends_with("q_proj.weight") {
            for number in &mut before {
                *number *= 2.0;
            }
        }
        for numbers in [&mut before, &mut after] {
            numbers.retain(|number| *number != 0.0);
            numbers.sort_by(f32::total_cmp);
        }
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn what_cannot_be_widened_is_an_error() {
    for factor in [0, 2, 3, 8, 1024] {
        let error = widened(&in_format(Dtype::F32), factor).err().unwrap();
        assert!(error.ends_with(", which is no power of four"), "{error}");
    }
    let error = widened(&in_format(Dtype::F64), 4).err().unwrap();
    assert!(
        error.starts_with("model.safetensors: tensor `model.layers.0.self_attn.q_proj.weight` has type"),
        "{error}"
    );
    let mut files = in_format(Dtype::F32);
    files.weights.truncate(900);
    assert!(widened(&files, 4).err().unwrap().starts_with("model.safetensors: not a valid safetensors file"));
    files.config["model_type"] = "gpt2".into();
    assert!(widened(&files, 4).err().unwrap().starts_with("config.json: "));
}
