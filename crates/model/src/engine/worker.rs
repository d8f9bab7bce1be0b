//! The loop of the engine: continuous batching, where requests join and leave between two steps.

use super::cache::KvCache;
use super::checkpoint::Checkpoint;
use super::network::{LogitRows, Network, Scratch, SequenceInput};
use super::prefix_cache::{Key, PrefixCache};
use super::queue::{Admission, Queue};
use super::receive::receive_jobs;
use super::sampler::{SamplerBuffers, mask};
use super::scheduler::{Scheduler, SequenceStatus};
use super::sequence::Sequence;
use super::state::ReplySender;
use super::tokenizer::ChatTokenizer;
use super::{EngineOptions, GenerationRequest};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use tokio::sync::oneshot;

/// Maximum prompt tokens per step: enough for full speed, few enough that generating requests do not wait long.
const PROMPT_TOKENS: usize = 384;

/// The first request of a client joins a full batch, up to this many times its size.
const OVERCOMMIT: usize = 4;

/// A request to the engine.
pub(super) enum Job {
    Generate(Box<GenerationRequest>, ReplySender),
    Logits(Vec<u32>, oneshot::Sender<Vec<f32>>),
}

/// The buffers of one thread.
#[derive(Default)]
struct Workspace {
    scratch: Scratch,
    sampler_buffers: SamplerBuffers,
}

/// The engine's state between two steps.
pub(super) struct Worker {
    checkpoint: Arc<Checkpoint>,
    allowed: Vec<f32>,
    inbox: Receiver<Job>,
    waiting: Queue<(GenerationRequest, ReplySender)>,
    running: Vec<Sequence>,
    batch: usize,
    prefix_cache: PrefixCache,
    scheduler: Scheduler,
    workspaces: Vec<Workspace>,
}

impl Worker {
    pub(super) fn new(checkpoint: Arc<Checkpoint>, options: &EngineOptions, inbox: Receiver<Job>) -> Self {
        Self {
            allowed: mask(checkpoint.tokenizer.suppressed()),
            prefix_cache: PrefixCache::new(checkpoint.network.layout, options.prefix_cache_bytes),
            checkpoint,
            inbox,
            waiting: Queue::default(),
            running: Vec::new(),
            batch: options.batch.max(1),
            scheduler: Scheduler::default(),
            workspaces: (0..options.threads.max(1)).map(|_| Workspace::default()).collect(),
        }
    }

    /// Serves until all senders are gone and all requests are answered.
    pub(super) fn run(mut self) {
        while self.collect() {
            self.running.retain(|sequence| !sequence.state.is_cancelled());
            self.admit();
            self.step();
            self.cache_and_reply();
        }
    }

    /// Receives new requests; blocks while idle. False once there will be none.
    fn collect(&mut self) -> bool {
        let Self { checkpoint, inbox, waiting, running, workspaces, .. } = self;
        receive_jobs(inbox, waiting.is_empty() && running.is_empty(), |job| match job {
            Job::Generate(request, reply) => {
                waiting.push(request.client, (*request, reply));
                true
            }
            Job::Logits(tokens, reply) => {
                // The receiver may be gone.
                let _ = reply.send(logits(&checkpoint.network, &tokens, &mut workspaces[0]));
                false
            }
        })
    }

    /// Adds waiting requests to the batch, one of each client in turn.
    ///
    /// A prompt whose next block another request is processing waits for the next step, and then shares the block: of many
    /// concurrent requests with one prompt, one processes it.
    fn admit(&mut self) {
        let Self { checkpoint, waiting, running, batch, prefix_cache, .. } = self;
        if waiting.is_empty() {
            return;
        }
        let mut being_prefilled: HashSet<Key> = HashSet::new();
        for sequence in running.iter().filter(|sequence| sequence.is_prefilling()) {
            being_prefilled.extend(prefix_cache.find(sequence.cacheable_prompt()).next);
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for client in running.iter().filter_map(|sequence| sequence.state.client) {
            *counts.entry(client).or_default() += 1;
        }
        let config = &checkpoint.network.config;
        let (layout, longest) = (checkpoint.network.layout, config.max_position_embeddings);
        let limits = (config.vocab_size, longest);
        waiting.offer(|client, (request, reply)| {
            let first = client.is_some_and(|client| !counts.contains_key(&client));
            let places = if first { OVERCOMMIT * *batch } else { *batch };
            if running.len() >= places {
                let job = (request, reply);
                return if client.is_some() { Admission::Later(job) } else { Admission::Full(job) };
            }
            if reply.is_closed() {
                return Admission::Taken;
            }
            let found = prefix_cache.find(&request.prompt[..request.prompt.len() - 1]);
            if found.next.is_some_and(|key| !being_prefilled.insert(key)) {
                return Admission::Later((request, reply));
            }
            if let Some(client) = client {
                *counts.entry(client).or_default() += 1;
            }
            running.push(Sequence::new(request, reply, layout, limits, found));
            Admission::Taken
        });
    }

    /// Runs one step, distributed over the threads.
    fn step(&mut self) {
        let Self { checkpoint, allowed, waiting, running, scheduler, workspaces, .. } = self;
        let mut open: Vec<&mut Sequence> =
            running.iter_mut().filter(|sequence| !sequence.state.is_done()).collect();
        let ready: Vec<SequenceStatus> = open.iter().map(|sequence| sequence.status()).collect();
        let mut loads = vec![0; workspaces.len()];
        let mut batches: Vec<Vec<&mut Sequence>> = workspaces.iter().map(|_| Vec::new()).collect();
        for (sequence, share) in
            open.drain(..).zip(scheduler.schedule(&ready, &waiting.clients(), PROMPT_TOKENS))
        {
            sequence.plan(share);
            if share == 0 {
                continue;
            }
            let lightest = (0..loads.len()).min_by_key(|thread| loads[*thread]).unwrap_or_default();
            loads[lightest] += share;
            batches[lightest].push(sequence);
        }
        // Results do not depend on the batch, so sequences are distributed and threads meet at the end of the step only.
        if let [workspace] = &mut workspaces[..] {
            for batch in batches {
                advance(checkpoint, allowed, batch, workspace);
            }
        } else {
            rayon::scope(|scope| {
                for (batch, workspace) in
                    batches.into_iter().zip(workspaces).filter(|(batch, _)| !batch.is_empty())
                {
                    scope.spawn(|_| advance(checkpoint, allowed, batch, workspace));
                }
            });
        }
    }

    /// Adds processed prompts and finished sequences to the prefix cache, and sends the results of the latter.
    fn cache_and_reply(&mut self) {
        for sequence in self.running.iter_mut().filter(|sequence| sequence.should_cache()) {
            let (tokens, cache) = sequence.computed();
            self.prefix_cache.insert(tokens, &cache.blocks);
        }
        for sequence in self.running.extract_if(.., |sequence| sequence.state.is_done()) {
            sequence.state.finish();
        }
    }
}

/// The logits after every token of a sequence.
fn logits(network: &Network, tokens: &[u32], workspace: &mut Workspace) -> Vec<f32> {
    let mut cache = KvCache::new(network.layout, Vec::new());
    let mut logits = Vec::with_capacity(tokens.len() * network.config.vocab_size);
    for tokens in tokens.chunks(PROMPT_TOKENS) {
        let mut parts = [SequenceInput { cache: &mut cache, tokens, logits: LogitRows::All }];
        logits.extend_from_slice(network.forward(&mut parts, &mut workspace.scratch));
    }
    logits
}

/// Processes the tokens of some sequences and samples their next ones.
fn advance(
    checkpoint: &Checkpoint,
    allowed: &[f32],
    mut batch: Vec<&mut Sequence>,
    workspace: &mut Workspace,
) {
    let (network, tokenizer): (&Network, &ChatTokenizer) = (&checkpoint.network, &checkpoint.tokenizer);
    let mut parts: Vec<SequenceInput<'_>> = batch.iter_mut().map(|sequence| sequence.input()).collect();
    let logits = network.forward(&mut parts, &mut workspace.scratch);
    let rows = logits.chunks_exact(network.config.vocab_size);
    let decoding = batch.iter_mut().filter(|sequence| sequence.is_decoding());
    for (sequence, logits) in decoding.zip(rows) {
        sequence.state.append((network.arch, logits), tokenizer, allowed, &mut workspace.sampler_buffers);
    }
}
