//! Trains a policy to write replies of a given length, and measures each part: handing the weights to vLLM, sampling,
//! learning, and how far the log-probabilities of learner and sampler differ.
//!
//! `reward_length FOLDER DEVICE URL WEIGHTS [steps] [groups] [group size] [max tokens] [target] [rate] [micro tokens] [lora rank] [rollouts.jsonl]`
//!
//! URL is that of a vLLM server with `VLLM_SERVER_DEV_MODE=1`; several are separated by commas. WEIGHTS is a folder that it
//! can read. The rollouts of the first step are written to the last argument, for `benches/reinforce.py`, which does the
//! same work in plain PyTorch. A target of 0 rewards shortness.
#![expect(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use std::io::Write;
use std::time::Duration;

use aske_chat::{Reply, Trace};
use aske_config::PolicyLoss;
use aske_model::{HttpClient, Local, Provider, Request, VllmServers};
use aske_train::{AdamWConfig, Batch, Lora, Objective, Policy, TorchOptions, TorchPolicy};
use futures_util::future::try_join_all;

const PROMPTS: [&str; 8] = [
    "What is the capital of France?",
    "Write a sentence about the sea.",
    "Name three colours and say why you like them.",
    "Explain what a prime number is.",
    "Tell me a short story about a cat.",
    "How do you boil an egg?",
    "What is 17 times 23?",
    "Give me some advice on learning a language.",
];

/// Dense bfloat16 of an H200, in operations per second.
const PEAK: f64 = 989.5e12;

/// One rollout: prompt, sampled tokens, and loss weight.
struct Rollout {
    prompt: Vec<u32>,
    trace: Trace,
    weight: f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().ok_or("which folder?")?);
    let device = words.next().unwrap_or_else(|| "cpu".to_owned());
    let urls: Vec<String> = words.next().ok_or("which server?")?.split(',').map(str::to_owned).collect();
    let shared = PathBuf::from(words.next().ok_or("which folder is shared with it?")?);
    let mut number = |usual: f64| words.next().map_or(Ok(usual), |word| word.parse::<f64>());
    let (steps, groups, many) = (whole(number(10.0)?), whole(number(8.0)?), whole(number(16.0)?));
    let most = number(128.0)?;
    let (target, rate) = (number(most / 4.0)?, number(1e-5)?);
    let (micro, rank) = (whole(number(16_384.0)?), whole(number(0.0)?));

    let saved = words.next().map(PathBuf::from);
    let lora = (rank > 0).then_some(Lora { rank, alpha: 2.0 * rank as f64, seed: 0 });
    let optimizer = AdamWConfig { betas: (0.9, 0.95), weight_decay: 0.0, ..AdamWConfig::default() };
    let options = TorchOptions { optimizer, lora, untie_head: false, ..TorchOptions::default() };
    let mut policy = TorchPolicy::from_folder(&folder, &device, options)?;
    println!("{} parameters on {device}", policy.num_parameters());
    let objective = Objective::new(PolicyLoss::Cispo, None, None, None);
    let http = HttpClient::new(1)?;
    let mut servers: Option<VllmServers> = None;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

    for step in 0..steps {
        let requests: Vec<Request> = (0..groups * many)
            .map(|at| {
                let seed = u32::try_from(step * groups * many + at).unwrap_or(0);
                let prompt = PROMPTS[at / many % PROMPTS.len()];
                Request { max_tokens: count(most), seed, ..Request::user(prompt) }
            })
            .collect();
        let begun = Instant::now();
        std::fs::create_dir_all(&shared)?;
        policy.export(&shared)?;
        let exporting = begun.elapsed().as_secs_f64();
        let servers = match &mut servers {
            Some(servers) => servers,
            none => {
                let open = VllmServers::open(&http, &urls, &shared, serde_json::Map::new(), PATIENCE);
                none.insert(runtime.block_on(open).map_err(|error| error.message)?)
            }
        };
        runtime.block_on(servers.load_weights(&shared, PATIENCE)).map_err(|error| error.message)?;
        let pushing = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let serve = Local::new(servers.clone()).traced(step as u64);
        let replies = runtime.block_on(sampled(&serve, &requests))?;
        let sampling = begun.elapsed().as_secs_f64();

        let lengths: Vec<f64> = replies.iter().map(|reply| reply.usage.completion as f64).collect();
        let rewards: Vec<f64> = lengths.iter().map(|length| -(length - target).abs() / most).collect();
        let written: f64 = lengths.iter().sum();
        let mut rollouts = Vec::new();
        let groups: Vec<Vec<f64>> = rewards.chunks(many).map(<[f64]>::to_vec).collect();
        for (group, advantages) in objective.advantages(&groups).into_iter().enumerate() {
            for (at, advantage) in advantages.into_iter().enumerate() {
                let index = group * many + at;
                let prompt = policy.prompt(&requests[index].messages).map_err(|error| error.message)?;
                let trace = replies[index].trace.clone().ok_or("a reply without its tokens")?;
                rollouts.push(Rollout { prompt, trace, weight: narrow(advantage / written) });
            }
        }
        let read: usize =
            rollouts.iter().map(|rollout| rollout.prompt.len() + rollout.trace.tokens.len()).sum();
        let longest = read as f64 / rollouts.len() as f64;
        let batches = batches(rollouts, micro);
        if let (Some(path), true) = (&saved, step == 0 || step + 1 == steps) {
            write_rollouts(
                &mut std::fs::File::options().create(true).append(true).open(path)?,
                step,
                &batches,
            )?;
        }
        let begun = Instant::now();
        let stats = policy.step(&batches, objective.loss, rate, 1e4)?;
        wait(&device);
        let training = begun.elapsed().as_secs_f64();
        let share = policy.flops_per_token(whole(longest)) * read as f64 / training / PEAK;
        println!(
            "step {step}: reward {:.4}, length {:.1}, ratio {:.5} (mean |log| {:.3e}), gradient {:.3e}, entropy \
             {:.3}, exported in {exporting:.2} s, loaded in {:.2} s, sampled {:.0} tokens/s, trained {:.0} tokens/s \
             in {training:.2} s, {:.2}% of peak",
            mean(&rewards),
            mean(&lengths),
            stats.mean_ratio,
            stats.mean_abs_log_ratio,
            stats.grad_norm,
            stats.entropy,
            pushing - exporting,
            written / sampling,
            read as f64 / training,
            100.0 * share,
        );
    }
    Ok(())
}

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_mins(10);

/// Writes tokens and the sampler's log-probabilities, one sequence per line.
fn write_rollouts(file: &mut impl Write, step: usize, batches: &[Batch]) -> Result<(), Box<dyn Error>> {
    for batch in batches {
        let mut begin = 0;
        for length in &batch.lengths {
            let (tokens, old) = (&batch.tokens[begin..][..*length], &batch.old_logprobs[begin..][..*length]);
            let old: Vec<Option<f32>> = old.iter().map(|old| (!old.is_nan()).then_some(*old)).collect();
            writeln!(file, "{}", serde_json::json!({"step": step, "tokens": tokens, "logprobs": old}))?;
            begin += length;
        }
    }
    Ok(())
}

async fn sampled(serve: &dyn Provider, requests: &[Request]) -> Result<Vec<Reply>, String> {
    let all = requests.iter().map(|request| serve.attempt(request));
    try_join_all(all).await.map_err(|error| error.message)
}

/// Packs rollouts into batches of at most `micro` tokens.
fn batches(mut rollouts: Vec<Rollout>, micro: usize) -> Vec<Batch> {
    let long = |rollout: &Rollout| rollout.prompt.len() + rollout.trace.tokens.len();
    rollouts.sort_by_key(long);
    let mut batches: Vec<Batch> = Vec::new();
    for rollout in rollouts {
        if batches.last().is_none_or(|batch| batch.size() + long(&rollout) > micro) {
            batches.push(Batch::default());
        }
        let Some(batch) = batches.last_mut() else { continue };
        batch.lengths.push(long(&rollout));
        let Rollout { prompt, trace, weight } = rollout;
        batch.weights.extend([vec![0.0; prompt.len()], vec![weight; trace.tokens.len()]].concat());
        batch.old_logprobs.extend([vec![f32::NAN; prompt.len()], trace.logprobs].concat());
        batch.tokens.extend([prompt, trace.tokens].concat());
    }
    batches
}

/// Waits for the device.
fn wait(device: &str) {
    if let Some(index) = device.strip_prefix("cuda") {
        tch::Cuda::synchronize(index.trim_start_matches(':').parse().unwrap_or(0));
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn whole(number: f64) -> usize {
    number as usize
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn count(number: f64) -> u32 {
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
fn narrow(number: f64) -> f32 {
    number as f32
}
