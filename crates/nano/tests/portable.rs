//! Networks for other programs: their heads are wide enough for vLLM, and they compute the same.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use aske_model::{Checkpoint, Engine, EngineOptions, GenerationRequest, LlamaConfig, Sampling};
use aske_nano::{
    Family, NumberSet, QuestionSampler, TAUGHT_LEVELS, checkpoint, files, networks, portable_files,
};
use aske_session::Pack;
use futures_util::future::join_all;

/// `CPUAttentionBackend.get_supported_head_sizes` of vLLM 0.32.
const SUPPORTED: [usize; 11] = [32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512];

#[test]
fn every_network_has_heads_that_vllm_supports() {
    let mut widened = Vec::new();
    for name in networks() {
        let [config, weights, ..] = portable_files(name).unwrap();
        let shape: LlamaConfig = serde_json::from_slice(&config.1).unwrap();
        assert!(SUPPORTED.contains(&shape.head_dim), "{name}: {}", shape.head_dim);
        let bundled = files(name).unwrap();
        if config.1 != bundled[0].1 || weights.1 != bundled[1].1 {
            widened.push((name, shape.head_dim));
        }
    }
    // Widths of 12, 20, 16 and 24, times a power of four.
    assert_eq!(widened, [("nano-15k", 192), ("nano-40k", 80), ("nano-100k", 64), ("nano-250k", 96)]);
}

/// The tokens of greedy replies to the prompts of a solver.
async fn replies(checkpoint: Checkpoint, questions: &[String]) -> Vec<Vec<u32>> {
    let pack = Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap();
    let prompts: Vec<Vec<u32>> = questions
        .iter()
        .map(|question| checkpoint.tokenizer().prompt(&pack.probing_question(question)).unwrap())
        .collect();
    let engine: Engine =
        checkpoint.start(&EngineOptions { threads: 1, batch: 65, prefix_cache_bytes: 0 }).unwrap();
    let requests = prompts.into_iter().map(|prompt| {
        engine.generate(GenerationRequest {
            prompt,
            max_tokens: 200,
            sampling: Sampling { temperature: Some(0.0), ..Sampling::default() },
            seed: 0,
            logprobs: false,
            ignore_eos: false,
            client: None,
            token_sender: None,
        })
    });
    join_all(requests).await.into_iter().map(|reply| reply.unwrap().tokens).collect()
}

#[tokio::test]
async fn no_greedy_reply_changes() {
    let mut sampler = QuestionSampler::new(1, NumberSet::Any);
    let mut questions = Vec::new();
    for _ in 0..4 {
        for family in Family::ALL {
            for level in 1..=TAUGHT_LEVELS {
                questions.push(sampler.question(*family, level).unwrap().text().to_owned());
            }
        }
    }
    for name in ["nano-15k", "nano-40k", "nano-100k", "nano-250k"] {
        let [config, weights, tokenizer, settings] = portable_files(name).unwrap();
        let wide = Checkpoint::from_bytes(&config.1, &weights.1, &tokenizer.1, &settings.1).unwrap();
        let (before, after) =
            (replies(checkpoint(name).unwrap(), &questions).await, replies(wide, &questions).await);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert_eq!((before.len(), changed), (260, 0), "{name}");
    }
}
