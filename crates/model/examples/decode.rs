//! Runs a checkpoint's engine for a while and prints how fast it writes, or the logits of given tokens.
//!
//! `cargo run --release -p aske-model --example decode -- FOLDER --batch 64 --threads 1 --tokens 128 --json`
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use aske_model::{Checkpoint, Engine, EngineOptions, GenerationRequest, Sampling};
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// What was typed.
struct Arguments {
    folder: String,
    batch: usize,
    threads: usize,
    tokens: usize,
    prompt: usize,
    temperature: f64,
    logits: Vec<u32>,
    json: bool,
}

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let mut own = Self {
            folder: String::new(),
            batch: 64,
            threads: 1,
            tokens: 128,
            prompt: 32,
            temperature: 1.0,
            logits: Vec::new(),
            json: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--batch" => own.batch = value()?.parse()?,
                "--threads" => own.threads = value()?.parse()?,
                "--tokens" => own.tokens = value()?.parse()?,
                "--prompt" => own.prompt = value()?.parse()?,
                "--temperature" => own.temperature = value()?.parse()?,
                "--logits" => own.logits = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
                "--json" => own.json = true,
                _ => own.folder = word,
            }
        }
        if own.folder.is_empty() { Err("which folder?".into()) } else { Ok(own) }
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::read()?;
    let options = EngineOptions { threads: arguments.threads, batch: arguments.batch, prefix_cache_bytes: 0 };
    let engine = Checkpoint::from_folder(arguments.folder.as_ref())?.start(&options)?;
    if !arguments.logits.is_empty() {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let logits = runtime.block_on(engine.logits(&arguments.logits)).map_err(|fault| fault.message)?;
        println!("{}", serde_json::to_string(&logits)?);
        return Ok(());
    }
    round(&engine, &arguments, 8)?;
    let begun = Instant::now();
    let written = round(&engine, &arguments, arguments.tokens)?;
    let seconds = begun.elapsed().as_secs_f64();
    let speed = written as f64 / seconds;
    if arguments.json {
        println!("{}", serde_json::json!({ "tokens": written, "seconds": seconds, "tokens_per_s": speed }));
    } else {
        println!("{written} tokens in {seconds:.3} s: {speed:.0} tokens/s");
    }
    Ok(())
}

/// Serves one batch to its end and counts what was written.
fn round(engine: &Engine, arguments: &Arguments, tokens: usize) -> Result<usize, Failure> {
    let size = engine.config().vocab_size as u64;
    let requests = (0..arguments.batch as u64).map(|row| {
        // The same prompts as in `benches/decode.py`.
        let prompt = (0..arguments.prompt as u64).map(|place| 3 + (row * 31 + place * 7) % (size - 3));
        engine.generate(GenerationRequest {
            prompt: prompt.map(|token| u32::try_from(token).unwrap_or_default()).collect(),
            max_tokens: tokens,
            sampling: Sampling { temperature: Some(arguments.temperature), ..Sampling::default() },
            seed: row,
            ignore_eos: true,
            ..GenerationRequest::default()
        })
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let replies = runtime.block_on(futures_util::future::join_all(requests));
    let mut written = 0;
    for reply in replies {
        written += reply.map_err(|fault| fault.message)?.tokens.len();
    }
    Ok(written)
}
