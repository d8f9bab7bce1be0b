//! Speed of a GGUF file in this process: so many requests at once, prompt and reply of so many tokens.
//!
//! `gguf FILE SEQUENCES PROMPT REPLY [THREADS]`; prints a line of JSON. `benches/llama.py` compares it with llama.cpp's own
//! Python binding.
#![expect(clippy::print_stdout, reason = "a program that prints what it measures")]

use aske_model::{Generate, Gguf, Llama, LlamaOptions, Sampling, Writer};
use futures_util::future::try_join_all;
use serde_json::{Map, json};
use std::error::Error;
use std::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, sequences, prompt, reply, rest @ ..] = words.as_slice() else {
        return Err("gguf FILE SEQUENCES PROMPT REPLY [THREADS]".into());
    };
    let (sequences, prompt, reply): (usize, usize, usize) =
        (sequences.parse()?, prompt.parse()?, reply.parse()?);
    let usual = LlamaOptions::default();
    let options = LlamaOptions {
        batch: sequences,
        context: u32::try_from(sequences * (prompt + reply) + 64)?,
        threads: rest.first().map_or(Ok(usual.threads), |threads| threads.parse())?,
        ..usual
    };
    let llama = Llama::start(Gguf::open(file.as_ref(), 0, Map::new())?, &options)?;
    // No two prompts begin alike: everything is read.
    let request = |which: usize, most: usize| Generate {
        prompt: (0..prompt)
            .map(|at| 1000 + u32::try_from((which * 7919 + at * 31) % 20_000).unwrap_or(0))
            .collect(),
        max_tokens: most,
        sampling: Sampling { temperature: Some(0.0), ..Sampling::default() },
        ignore_eos: true,
        ..Generate::default()
    };
    llama.write(request(9999, 2)).await.map_err(|fault| fault.message)?;
    let time = async |most| {
        let begun = Instant::now();
        let offset = if most == 1 { 0 } else { 500 };
        let all = (0..sequences).map(|which| llama.write(request(which + offset, most)));
        let done = try_join_all(all).await.map_err(|fault| fault.message)?;
        assert!(done.iter().all(|done| done.tokens.len() == most && done.cached == 0));
        Ok::<f64, String>(begun.elapsed().as_secs_f64())
    };
    let reading = time(1).await?;
    let both = time(reply).await?;
    println!(
        "{}",
        json!({
            "sequences": sequences,
            "prompt_per_s": (sequences * prompt) as f64 / reading,
            "reply_per_s": (sequences * (reply - 1)) as f64 / (both - reading),
        })
    );
    Ok(())
}
