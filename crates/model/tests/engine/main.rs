//! The engine, proved on random networks: what it writes depends on the request alone.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod chat;
mod files;
mod heads;
mod tiny;

use aske_chat::Finish;
use aske_model::{Engine, EngineOptions, ErrorCause, Generation, GenerationRequest, Sampling};
use futures_util::future::join_all;
use std::time::Duration;
use tiny::{CONTROL, EOS, HOLE};

fn prompt(length: usize, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..length).map(|_| random.u32(CONTROL..HOLE)).collect()
}

fn greedy() -> Sampling {
    Sampling { temperature: Some(0.0), ..Sampling::default() }
}

/// Requests of all kinds: long and short, warm and cold, with limits and penalties.
fn request(index: u64) -> GenerationRequest {
    let sampling = match index % 5 {
        0 => Sampling::default(),
        1 => greedy(),
        2 => Sampling { top_k: Some(5), temperature: Some(1.5), ..Sampling::default() },
        3 => Sampling { top_p: Some(0.8), min_p: Some(0.01), ..Sampling::default() },
        _ => Sampling {
            presence_penalty: Some(0.5),
            frequency_penalty: Some(0.2),
            repetition_penalty: Some(1.2),
            ..Sampling::default()
        },
    };
    let length = 1 + usize::try_from(index).unwrap() * 29 % 200;
    GenerationRequest {
        prompt: prompt(length, index),
        max_tokens: 40,
        sampling,
        seed: index,
        logprobs: true,
        ignore_eos: true,
        client: None,
        token_sender: None,
    }
}

fn cold(threads: usize, batch: usize) -> Engine {
    tiny::engine(&EngineOptions { threads, batch, prefix_cache_bytes: 0 })
}

#[tokio::test]
async fn a_request_gives_the_same_alone_and_in_company_and_on_any_number_of_threads() {
    let alone = cold(1, 1);
    let mut expected = Vec::new();
    for index in 0..64 {
        expected.push(alone.generate(request(index)).await.unwrap());
    }
    assert!(expected.iter().all(|one| one.tokens.len() == 40 && one.finish == Finish::Length));
    for engine in [cold(1, 64), cold(2, 64), cold(3, 7), tiny::engine(&EngineOptions::default())] {
        for _ in 0..2 {
            let together = join_all((0..64).map(|index| engine.generate(request(index)))).await;
            for (index, (together, alone)) in together.into_iter().zip(&expected).enumerate() {
                // Log-probabilities too, to the last bit; what was taken from the store may differ.
                assert_eq!(Generation { cached: 0, ..together.unwrap() }, *alone, "request {index}");
            }
        }
    }
}

#[tokio::test]
async fn a_conversation_that_grows_is_not_read_again_and_goes_on_the_same() {
    let (warm, cold) = (tiny::engine(&EngineOptions::default()), cold(1, 64));
    let mut text = prompt(50, 3);
    for turn in 0..4_usize {
        let request = GenerationRequest {
            prompt: text.clone(),
            max_tokens: 40,
            seed: 9,
            logprobs: true,
            ignore_eos: true,
            ..GenerationRequest::default()
        };
        let (with, without) =
            (warm.generate(request.clone()).await.unwrap(), cold.generate(request).await.unwrap());
        // All whole blocks of the turn before: its prompt and its reply but the last token, which is never read.
        let expected = if turn == 0 { 0 } else { (text.len() - 10 - 1) / 16 * 16 };
        assert_eq!((with.prompt, with.cached, without.cached), (text.len(), expected, 0));
        assert_eq!(Generation { cached: 0, ..with.clone() }, without);
        text.extend(with.tokens);
        text.extend(prompt(10, turn as u64));
    }
}

#[tokio::test]
async fn of_many_requests_with_one_prompt_one_reads_it() {
    let engine = tiny::engine(&EngineOptions::default());
    let ask = |seed| GenerationRequest {
        prompt: prompt(101, 1),
        max_tokens: 5,
        seed,
        ignore_eos: true,
        ..GenerationRequest::default()
    };
    let replies = join_all((0..20).map(|seed| engine.generate(ask(seed)))).await;
    let cached: Vec<usize> = replies.iter().map(|reply| reply.as_ref().unwrap().cached).collect();
    assert_eq!(cached[0], 0);
    assert!(cached[1..].iter().all(|cached| *cached == 96), "{cached:?}");
    let same = engine.generate(ask(0)).await.unwrap();
    assert_eq!((same.cached, &same.tokens), (96, &replies[0].as_ref().unwrap().tokens));
}

#[tokio::test]
async fn at_temperature_zero_and_within_the_tightest_limits_the_likeliest_token_is_written() {
    let engine = cold(1, 64);
    let tight = [
        greedy(),
        Sampling { top_k: Some(1), ..Sampling::default() },
        Sampling { top_p: Some(1e-6), ..Sampling::default() },
        Sampling { min_p: Some(1.0), ..Sampling::default() },
    ];
    for sampling in tight {
        let request = GenerationRequest {
            prompt: prompt(20, 4),
            max_tokens: 30,
            sampling,
            logprobs: true,
            ignore_eos: true,
            ..GenerationRequest::default()
        };
        let written = engine.generate(request.clone()).await.unwrap();
        let text: Vec<u32> = request.prompt.iter().chain(&written.tokens).copied().collect();
        let logits = engine.logits(&text).await.unwrap();
        assert_eq!(logits.len(), text.len() * 104);
        for (place, token) in written.tokens.iter().enumerate() {
            let row = &logits[(19 + place) * 104..(20 + place) * 104];
            let may = |id: &u32| *id == EOS || (CONTROL..HOLE).contains(id);
            let best = (0..104_u32).filter(may).max_by(|a, b| row[*a as usize].total_cmp(&row[*b as usize]));
            assert_eq!(Some(*token), best);
            let total: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
            let logprob = f64::from(row[*token as usize]) - total.ln();
            let found = written.logprobs.as_ref().unwrap()[place];
            assert!((f64::from(found) - logprob).abs() < 1e-5, "{found} {logprob}");
        }
    }
}

#[tokio::test]
async fn who_stops_waiting_frees_the_place() {
    let options = EngineOptions { batch: 1, ..EngineOptions::default() };
    let engine = tiny::Files::new(100_000).read().unwrap().start(&options).unwrap();
    let ask = |max_tokens| {
        let request = GenerationRequest {
            prompt: prompt(4, 0),
            max_tokens,
            ignore_eos: true,
            ..GenerationRequest::default()
        };
        engine.generate(request)
    };
    // Served to the end, each of these would take many minutes.
    for _ in 0..1000 {
        drop(ask(99_000));
    }
    let begun = tokio::time::timeout(Duration::from_millis(50), ask(99_000)).await;
    assert!(begun.is_err(), "it was being served");
    let last = tokio::time::timeout(Duration::from_mins(1), ask(1)).await.unwrap().unwrap();
    assert_eq!(last.tokens.len(), 1);
}

#[tokio::test]
async fn the_context_ends_a_reply_and_a_prompt_beyond_it_is_refused() {
    let engine = tiny::Files::new(64).read().unwrap().start(&EngineOptions::default()).unwrap();
    let ask = |prompt: Vec<u32>| {
        engine.generate(GenerationRequest {
            prompt,
            max_tokens: 99,
            ignore_eos: true,
            ..GenerationRequest::default()
        })
    };
    for (length, written) in [(60, 4), (63, 1), (64, 0)] {
        let reply = ask(prompt(length, 1)).await.unwrap();
        assert_eq!((reply.tokens.len(), reply.finish), (written, Finish::Length));
    }
    for (prompt, word) in [(prompt(65, 1), "65 tokens"), (vec![], "empty"), (vec![104], "token 104")] {
        let fault = ask(prompt).await.unwrap_err();
        assert_eq!(fault.cause, ErrorCause::Rejected);
        assert!(fault.message.contains(word), "{}", fault.message);
    }
}

#[tokio::test]
async fn control_tokens_and_numbers_without_a_token_are_never_written() {
    let engine = cold(1, 64);
    let hot = Sampling { temperature: Some(50.0), ..Sampling::default() };
    let ask = |seed| GenerationRequest {
        prompt: prompt(4, 1),
        max_tokens: 400,
        sampling: hot.clone(),
        seed,
        ignore_eos: true,
        ..GenerationRequest::default()
    };
    let replies = join_all((0..10).map(|seed| engine.generate(ask(seed)))).await;
    let mut seen = [0; 104];
    for token in replies.iter().flat_map(|reply| &reply.as_ref().unwrap().tokens) {
        seen[*token as usize] += 1;
    }
    for (id, count) in (0..).zip(seen) {
        assert_eq!(
            count > 0,
            id == EOS || (CONTROL..HOLE).contains(&id),
            "token {id} was written {count} times"
        );
    }
    let reply = engine.generate(GenerationRequest { ignore_eos: false, ..ask(1) }).await.unwrap();
    assert_eq!(
        (reply.finish, reply.tokens.iter().position(|token| *token == EOS)),
        (Finish::Stop, Some(reply.tokens.len() - 1))
    );
}

/// Which of these requests ends first: those of one client that asks for much, and one of another that comes later.
async fn order(
    engine: &Engine,
    much: impl Fn(u64) -> GenerationRequest,
    other: GenerationRequest,
) -> Vec<&'static str> {
    let ended = std::sync::Mutex::new(Vec::new());
    let one = async |name, request| {
        engine.generate(request).await.unwrap();
        ended.lock().unwrap().push(name);
    };
    let many = join_all((0..64).map(|seed| one("much", much(seed))));
    let late = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        one("other", other).await;
    };
    tokio::join!(many, late);
    ended.into_inner().unwrap()
}

#[tokio::test]
async fn a_client_that_asks_for_much_does_not_hold_up_another() {
    let engine = cold(1, 8);
    let much = |seed| GenerationRequest {
        prompt: prompt(20, seed),
        max_tokens: 100,
        seed,
        ignore_eos: true,
        client: Some(1),
        ..GenerationRequest::default()
    };
    let other = GenerationRequest { max_tokens: 10, client: Some(2), ..much(999) };
    let ended = order(&engine, much, other.clone()).await;
    let before = ended.iter().position(|name| *name == "other").unwrap();
    assert!(before <= 8, "{before} of 64 replies ended before it");
    // Without groups it waits for its turn.
    let alone = |request| GenerationRequest { client: None, ..request };
    let ended = order(&engine, |seed| alone(much(seed)), alone(other)).await;
    assert!(ended.iter().position(|name| *name == "other").unwrap() > 32);
}

#[tokio::test]
async fn a_request_gives_the_same_whatever_its_client() {
    let engine = cold(2, 4);
    let clients = [None, Some(1), Some(1), Some(2)];
    let ask = |index: u64| GenerationRequest {
        client: clients[usize::try_from(index % 4).unwrap()],
        ..request(index)
    };
    let together = join_all((0..40).map(|index| engine.generate(ask(index)))).await;
    for (index, one) in (0..).zip(together) {
        assert_eq!(one.unwrap(), engine.generate(request(index)).await.unwrap(), "{index}");
    }
}
