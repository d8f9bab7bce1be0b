//! What is sampled: texts, ends, and log-probabilities that the learner agrees with.

use aske_chat::{Finish, Message, Reply};
use aske_model::{Request, Sampling};
use aske_train::{Lora, Policy, TorchOptions};

use crate::common::{MODELS, ask, folder, logps, plain, policy};

/// Requests of many lengths and ways, more than are served at once.
fn requests() -> Vec<Request> {
    let ways = [
        Sampling::default(),
        Sampling { temperature: Some(0.7), ..Sampling::default() },
        Sampling { top_p: Some(0.8), ..Sampling::default() },
        Sampling { top_k: Some(5), min_p: Some(0.01), ..Sampling::default() },
        Sampling { temperature: Some(0.0), ..Sampling::default() },
    ];
    let all = (0_u32..23).map(|at| {
        let words: Vec<String> = (0..=at % 7).map(|word| format!("w{}", 10 + word)).collect();
        let messages = vec![Message::system("w9"), Message::user(words.join(" "))];
        Request {
            messages,
            max_tokens: 3 + at * 5,
            sampling: ways[at as usize % 5].clone(),
            seed: at / 2,
            group: None,
        }
    });
    all.collect()
}

fn mean_drift(policy: &aske_train::TorchPolicy, requests: &[Request], replies: &[Reply]) -> (f64, f64) {
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0.0);
    for (request, reply) in requests.iter().zip(replies) {
        let trace = reply.trace.as_ref().unwrap();
        assert_eq!(trace.tokens.len(), trace.logprobs.len());
        let prompt = policy.prompt(&request.messages).unwrap();
        let text = [prompt.as_slice(), trace.tokens.as_slice()].concat();
        for (found, stats) in logps(policy, &text)[prompt.len() - 1..].iter().zip(&trace.logprobs) {
            let apart = (found - f64::from(*stats)).abs();
            (sum, most, count) = (sum + apart, most.max(apart), count + 1.0);
        }
    }
    (sum / count, most)
}

#[test]
fn sampled_log_probabilities_are_those_of_the_learner() {
    for (model, lora) in MODELS.into_iter().zip([None, Some(Lora { rank: 3, alpha: 5.0, seed: 0 }), None]) {
        let mut policy = policy(model, TorchOptions { max_batch: 6, lora, ..plain() });
        if lora.is_some() {
            policy = policy.with_adapters(&folder(model)).unwrap();
        }
        let requests = requests();
        let replies = ask(&*policy.serve().unwrap(), &requests);
        let (mean, most) = mean_drift(&policy, &requests, &replies);
        println!("{model}: sampled and learnt apart by {mean:e} in the mean, {most:e} at most");
        assert!(mean < 1e-5 && most < 1e-4, "{model}: {mean} {most}");
        assert!(replies.iter().any(|reply| reply.finish == Finish::Stop));
        assert!(replies.iter().any(|reply| reply.finish == Finish::Length));
        for (request, reply) in requests.iter().zip(&replies) {
            let tokens = &reply.trace.as_ref().unwrap().tokens;
            assert_eq!(reply.usage.completion, tokens.len() as u64);
            assert!(tokens.len() <= request.max_tokens as usize);
            let (last, rest) = tokens.split_last().unwrap();
            assert_eq!(*last == 1, reply.finish == Finish::Stop);
            // Control tokens but the end, and the two numbers without a token, are never written.
            assert!(rest.iter().all(|token| (4..50).contains(token)), "{tokens:?}");
        }
    }
}

#[test]
fn a_seed_decides_and_a_budget_of_bytes_only_delays() {
    let requests = requests();
    let small = TorchOptions { kv_cache_bytes: 100_000, ..plain() };
    let (one, other) = (policy("qwen3", plain()), policy("qwen3", small));
    let (one, other) = (one.serve().unwrap(), other.serve().unwrap());
    let texts = |replies: Vec<Reply>| replies.into_iter().map(|reply| reply.content).collect::<Vec<_>>();
    let first = texts(ask(&*one, &requests));
    assert_eq!(first, texts(ask(&*one, &requests)));
    assert_eq!(first, texts(ask(&*other, &requests)));
}

#[test]
fn a_stop_string_ends_a_reply_and_is_no_part_of_it() {
    let policy = policy("llama", plain());
    let serve = policy.serve().unwrap();
    let plain = Request { max_tokens: 60, seed: 3, ..Request::user("w8") };
    let whole = ask(&*serve, std::slice::from_ref(&plain)).remove(0).content;
    let word = whole.split(' ').nth(2).unwrap().to_owned();
    let sampling = Sampling { stop: Some(vec![word.clone()]), ..Sampling::default() };
    let reply = ask(&*serve, &[Request { sampling, ..plain }]).remove(0);
    assert_eq!(reply.finish, Finish::Stop);
    assert!(whole.starts_with(&reply.content) && !reply.content.contains(&word), "{whole} {}", reply.content);
}

#[test]
fn who_no_longer_waits_frees_a_place_and_what_does_not_fit_is_refused() {
    let policy = policy("llama", TorchOptions { max_batch: 1, ..plain() });
    let serve = policy.serve().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let long = Request { max_tokens: 200, ..Request::user("w8") };
    runtime.block_on(async {
        let waits = tokio::time::timeout(std::time::Duration::from_millis(5), serve.attempt(&long));
        let _ = waits.await;
    });
    let short = Request { max_tokens: 2, ..Request::user("w8") };
    assert!(ask(&*serve, &[short])[0].usage.completion <= 2);
    let huge = Request::user(&"w8 ".repeat(300));
    let fault = runtime.block_on(serve.attempt(&huge)).unwrap_err();
    assert!(fault.message.contains("context"), "{}", fault.message);
}

#[test]
fn what_is_served_stays_as_it_was() {
    let mut policy = policy("qwen2", plain());
    let before = policy.serve().unwrap();
    let requests = requests();
    let first = ask(&*before, &requests);
    let expected = crate::common::expected("qwen2");
    policy.step(&[expected.batch()], expected.loss_kind(), 0.05, f64::INFINITY).unwrap();
    assert_eq!(ask(&*before, &requests), first);
    assert_ne!(ask(&*policy.serve().unwrap(), &requests), first);
}
