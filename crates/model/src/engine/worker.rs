//! The loop that serves requests: new ones join between two steps, finished ones leave.

use super::cache::Cache;
use super::checkpoint::Checkpoint;
use super::inbox::arrivals;
use super::network::{Network, Part, Scratch, Wanted};
use super::queue::{Offered, Queue};
use super::sampler::{Weights, factors};
use super::schedule::{Ready, Schedule};
use super::sequence::Sequence;
use super::store::{Key, Store};
use super::tokenizer::ChatTokenizer;
use super::writing::Answer;
use super::{EngineOptions, GenerationRequest};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use tokio::sync::oneshot;

/// Prompt tokens read in one step: enough for full speed, few enough that nobody who writes waits long.
const PROMPT_TOKENS: usize = 384;

/// The first request of a group joins also where all places are taken, until there are so many times as many.
const BEYOND: usize = 4;

/// What an engine is asked.
pub(super) enum Job {
    Generate(Box<GenerationRequest>, Answer),
    Logits(Vec<u32>, oneshot::Sender<Vec<f32>>),
}

/// Room that one thread works in.
#[derive(Default)]
struct Desk {
    scratch: Scratch,
    weights: Weights,
}

/// One engine's state between two steps.
pub(super) struct Worker {
    checkpoint: Arc<Checkpoint>,
    allowed: Vec<f32>,
    inbox: Receiver<Job>,
    waiting: Queue<(GenerationRequest, Answer)>,
    running: Vec<Sequence>,
    batch: usize,
    store: Store,
    schedule: Schedule,
    desks: Vec<Desk>,
}

impl Worker {
    pub(super) fn new(checkpoint: Arc<Checkpoint>, options: &EngineOptions, inbox: Receiver<Job>) -> Self {
        Self {
            allowed: factors(checkpoint.vocabulary.never()),
            store: Store::new(checkpoint.network.layout, options.store_bytes),
            checkpoint,
            inbox,
            waiting: Queue::default(),
            running: Vec::new(),
            batch: options.batch.max(1),
            schedule: Schedule::default(),
            desks: (0..options.threads.max(1)).map(|_| Desk::default()).collect(),
        }
    }

    /// Serves until nobody can ask any more and everybody has an answer.
    pub(super) fn run(mut self) {
        while self.collect() {
            self.running.retain(|sequence| !sequence.writing.is_abandoned());
            self.admit();
            self.step();
            self.keep_and_answer();
        }
    }

    /// Takes what was asked; waits where there is nothing else to do. False once there never will be.
    fn collect(&mut self) -> bool {
        let Self { checkpoint, inbox, waiting, running, desks, .. } = self;
        arrivals(inbox, waiting.is_empty() && running.is_empty(), |job| match job {
            Job::Generate(request, answer) => {
                waiting.push(request.group, (*request, answer));
                true
            }
            Job::Logits(tokens, answer) => {
                // Nobody may be waiting any more.
                let _ = answer.send(logits(&checkpoint.network, &tokens, &mut desks[0]));
                false
            }
        })
    }

    /// Lets requests join while there are places, one of each group in turn.
    ///
    /// A prompt whose next block is just being read for another waits for the next step, and then shares it: of
    /// many requests with one prompt that come together, one reads it.
    fn admit(&mut self) {
        let Self { checkpoint, waiting, running, batch, store, .. } = self;
        if waiting.is_empty() {
            return;
        }
        let mut being_read: HashSet<Key> = HashSet::new();
        for sequence in running.iter().filter(|sequence| sequence.is_reading()) {
            being_read.extend(store.find(sequence.beginning()).next);
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for group in running.iter().filter_map(|sequence| sequence.writing.group()) {
            *counts.entry(group).or_default() += 1;
        }
        let config = &checkpoint.network.config;
        let (layout, longest) = (checkpoint.network.layout, config.max_position_embeddings);
        let limits = (config.vocab_size, longest);
        waiting.offer(|group, (request, answer)| {
            let first = group.is_some_and(|group| !counts.contains_key(&group));
            let places = if first { BEYOND * *batch } else { *batch };
            if running.len() >= places {
                let job = (request, answer);
                return if group.is_some() { Offered::Later(job) } else { Offered::Full(job) };
            }
            if answer.is_closed() {
                return Offered::Taken;
            }
            let found = store.find(&request.prompt[..request.prompt.len() - 1]);
            if found.next.is_some_and(|key| !being_read.insert(key)) {
                return Offered::Later((request, answer));
            }
            if let Some(group) = group {
                *counts.entry(group).or_default() += 1;
            }
            running.push(Sequence::new(request, answer, layout, limits, found));
            Offered::Taken
        });
    }

    /// One step of everyone whose turn it is, shared among the threads.
    fn step(&mut self) {
        let Self { checkpoint, allowed, waiting, running, schedule, desks, .. } = self;
        let mut open: Vec<&mut Sequence> =
            running.iter_mut().filter(|sequence| !sequence.writing.is_done()).collect();
        let ready: Vec<Ready> = open.iter().map(|sequence| sequence.ready()).collect();
        let mut loads = vec![0; desks.len()];
        let mut groups: Vec<Vec<&mut Sequence>> = desks.iter().map(|_| Vec::new()).collect();
        for (sequence, share) in open.drain(..).zip(schedule.shares(&ready, &waiting.groups(), PROMPT_TOKENS))
        {
            sequence.plan(share);
            if share == 0 {
                continue;
            }
            let lightest = (0..loads.len()).min_by_key(|group| loads[*group]).unwrap_or_default();
            loads[lightest] += share;
            groups[lightest].push(sequence);
        }
        // A row's result does not depend on its company, so texts are dealt out and no thread waits for another
        // before the step is over.
        if let [desk] = &mut desks[..] {
            for group in groups {
                advance(checkpoint, allowed, group, desk);
            }
        } else {
            rayon::scope(|scope| {
                for (group, desk) in groups.into_iter().zip(desks).filter(|(group, _)| !group.is_empty()) {
                    scope.spawn(|_| advance(checkpoint, allowed, group, desk));
                }
            });
        }
    }

    /// Keeps the keys and values of prompts that were read and of texts that are done; answers for the latter.
    fn keep_and_answer(&mut self) {
        for sequence in self.running.iter_mut().filter(|sequence| sequence.is_worth_keeping()) {
            let (tokens, cache) = sequence.read();
            self.store.keep(tokens, cache.blocks());
        }
        for sequence in self.running.extract_if(.., |sequence| sequence.writing.is_done()) {
            sequence.writing.finish();
        }
    }
}

/// The logits after every token of a text.
fn logits(network: &Network, tokens: &[u32], desk: &mut Desk) -> Vec<f32> {
    let mut cache = Cache::new(network.layout, Vec::new());
    let mut logits = Vec::with_capacity(tokens.len() * network.config.vocab_size);
    for tokens in tokens.chunks(PROMPT_TOKENS) {
        let mut parts = [Part { cache: &mut cache, tokens, wanted: Wanted::All }];
        logits.extend_from_slice(network.read(&mut parts, &mut desk.scratch));
    }
    logits
}

/// Reads a group's tokens and writes its next ones.
fn advance(checkpoint: &Checkpoint, allowed: &[f32], mut group: Vec<&mut Sequence>, desk: &mut Desk) {
    let (network, vocabulary): (&Network, &ChatTokenizer) = (&checkpoint.network, &checkpoint.vocabulary);
    let mut parts: Vec<Part<'_>> = group.iter_mut().map(|sequence| sequence.part()).collect();
    let logits = network.read(&mut parts, &mut desk.scratch);
    let rows = logits.chunks_exact(network.config.vocab_size);
    let writers = group.iter_mut().filter(|sequence| sequence.is_writing());
    for (sequence, logits) in writers.zip(rows) {
        sequence.writing.write((network.arch, logits), vocabulary, allowed, &mut desk.weights);
    }
}
