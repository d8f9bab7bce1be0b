//! The loop of a served file: continuous batching, where requests join and leave between two steps.

use super::cells::{Allocation, CellPool, common};
use super::file::Gguf;
use super::sequence::Sequence;
use crate::engine::{
    Admission, GenerationRequest, Queue, ReplySender, SamplerBuffers, Scheduler, SequenceStatus, receive_jobs,
};
use crate::{ErrorCause, ProviderError};
use aske_kernels::Arch;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use parking_lot::Mutex;
use std::sync::mpsc::Receiver;

/// Maximum tokens per step: enough for full speed, few enough that generating requests do not wait long.
pub(super) const STEP: usize = 512;

/// Tokens of a step that are left free.
const SPARE: usize = 16;

/// Wait for a prefix that another request is processing if it is this much longer than the cached one.
const MIN_GAIN: usize = 16;

/// Files take turns: each uses all cores, and two that compute at the same time slow each other down at every layer.
static COMPUTE_LOCK: Mutex<()> = Mutex::new(());

/// A request and where its result goes.
pub(super) type Job = (GenerationRequest, ReplySender);

/// The state of a context between two steps.
pub(super) struct Worker<'m> {
    file: &'m Gguf,
    context: LlamaContext<'m>,
    inbox: Receiver<Job>,
    waiting: Queue<Job>,
    running: Vec<Sequence>,
    most_running: usize,
    on_gpu: bool,
    cells: CellPool,
    scheduler: Scheduler,
    /// Whether prefixes can be shared; recurrent networks have a state instead of keys and values.
    shares: bool,
    batch: LlamaBatch<'m>,
    allowed: Vec<f32>,
    sampler_buffers: SamplerBuffers,
}

impl<'m> Worker<'m> {
    pub(super) fn new(
        file: &'m Gguf,
        context: LlamaContext<'m>,
        inbox: Receiver<Job>,
        most_running: usize,
        on_gpu: bool,
    ) -> Self {
        Self {
            file,
            cells: CellPool::new(most_running, context.n_ctx() as usize),
            context,
            inbox,
            waiting: Queue::default(),
            running: Vec::new(),
            most_running,
            on_gpu,
            scheduler: Scheduler::default(),
            shares: !file.model.is_recurrent() && !file.model.is_hybrid(),
            batch: LlamaBatch::new(STEP, 1),
            allowed: file.tokenizer.allowed(),
            sampler_buffers: SamplerBuffers::default(),
        }
    }

    /// Serves until all senders are gone and all requests are answered.
    pub(super) fn run(mut self) {
        while self.collect() {
            self.remove_cancelled();
            self.admit();
            self.step();
            for sequence in self.running.extract_if(.., |sequence| sequence.state.is_done()) {
                self.cells.release(sequence.row);
                sequence.state.finish();
            }
        }
    }

    /// Receives new requests; blocks while idle. False once there will be none.
    fn collect(&mut self) -> bool {
        let Self { inbox, waiting, running, .. } = self;
        receive_jobs(inbox, waiting.is_empty() && running.is_empty(), |job| {
            waiting.push(job.0.client, job);
            true
        })
    }

    fn remove_cancelled(&mut self) {
        for sequence in self.running.extract_if(.., |sequence| sequence.state.is_cancelled()) {
            self.cells.release(sequence.row);
        }
        self.waiting.retain(|(_, answer)| !answer.is_closed());
    }

    /// Adds waiting requests to the batch, one of each client in turn.
    ///
    /// A request whose prefix another one is processing waits, and then shares it. A client leaves the last quarter of the
    /// rows to others, since rows in use cannot be taken back.
    fn admit(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.offer(|client, (request, answer)| {
            if self.running.len() >= self.most_running {
                return Admission::Full((request, answer));
            }
            let is_its = |sequence: &&Sequence| client.is_some() && sequence.state.client == client;
            let own = self.running.iter().filter(is_its).count();
            let left_to_others = (self.most_running / 4).max(1).min(self.most_running - 1);
            if own > 0 && self.running.len() + left_to_others >= self.most_running {
                return Admission::Later((request, answer));
            }
            if self.shares && self.is_being_prefilled(&request.prompt) {
                return Admission::Later((request, answer));
            }
            let Some(place) = self.cells.allocate(&request.prompt, request.max_tokens, self.shares) else {
                return Admission::Full((request, answer));
            };
            match self.prepare(&place) {
                Ok(()) => {
                    let size = self.allowed.len();
                    self.running.push(Sequence::new(request, answer, place.row, place.held, size));
                }
                Err(error) => {
                    self.cells.release(place.row);
                    self.cells.empty(place.row);
                    let _ = answer.send(Err(error));
                }
            }
            Admission::Taken
        });
        self.waiting = waiting;
    }

    fn is_being_prefilled(&self, prompt: &[u32]) -> bool {
        let held = self.cells.longest(prompt).map_or(0, |(_, held)| held);
        let prefilling = self.running.iter().filter(|sequence| sequence.is_prefilling());
        prefilling
            .map(|sequence| common(&sequence.state.tokens, prompt))
            .any(|common| common >= held + MIN_GAIN)
    }

    /// Brings the context in line with an allocation.
    fn prepare(&mut self, place: &Allocation) -> Result<(), ProviderError> {
        let failed = |error: &dyn std::fmt::Display| {
            ProviderError::new(ErrorCause::Server, format!("llama.cpp: {error}"))
        };
        for row in &place.emptied {
            self.context.kv_cache_seq_rm(number(*row), None, None).map_err(|error| failed(&error))?;
        }
        let held = u32::try_from(place.held).ok();
        let (row, context) = (number(place.row), &mut self.context);
        match place.from {
            Some(from) => context.kv_cache_seq_cp(number(from), row, Some(0), held),
            None => context.kv_cache_seq_rm(row, held, None),
        }
        .map_err(|error| failed(&error))
    }

    /// Runs one step: one token of each generating sequence, and long prompts in parts.
    fn step(&mut self) {
        if self.running.iter().all(|sequence| sequence.state.is_done()) {
            return;
        }
        self.batch.clear();
        let ready: Vec<SequenceStatus> = self.running.iter().map(Sequence::status).collect();
        let decoding = ready.iter().filter(|one| one.pending == 1).count();
        // The scheduler may exceed its limit by a few tokens.
        let room = STEP.saturating_sub(decoding + SPARE);
        let shares = self.scheduler.schedule(&ready, &self.waiting.clients(), room);
        // For each sequence: its tokens in the step, and the index of the last one.
        let mut shares_and_last = Vec::with_capacity(self.running.len());
        for (sequence, share) in self.running.iter().zip(shares) {
            let (place, tokens) = sequence.next(share);
            let whole = place + tokens.len() == sequence.state.tokens.len();
            for (at, token) in tokens.iter().enumerate() {
                let wanted = whole && at + 1 == tokens.len();
                // There is room for a whole step, by the lines above.
                let _ = self.batch.add(
                    LlamaToken(number(*token)),
                    number(place + at),
                    &[number(sequence.row)],
                    wanted,
                );
            }
            shares_and_last.push((tokens.len(), self.batch.n_tokens() - 1));
        }
        let turn = (!self.on_gpu).then(|| COMPUTE_LOCK.lock());
        let computed = self.context.decode(&mut self.batch);
        drop(turn);
        if let Err(error) = computed {
            self.discard(&ProviderError::new(ErrorCause::Server, format!("llama.cpp: {error}")));
            return;
        }
        let arch = Arch::new();
        for (sequence, (count, last)) in
            self.running.iter_mut().zip(shares_and_last).filter(|(_, (count, _))| *count > 0)
        {
            let (_, tokens) = sequence.next(count);
            for token in tokens {
                self.cells.append(sequence.row, *token);
            }
            if sequence.advance(count) {
                let logits = self.context.get_logits_ith(last);
                sequence.state.append((arch, logits), self.file, &self.allowed, &mut self.sampler_buffers);
            }
        }
    }

    /// Discards the context after a failed step.
    fn discard(&mut self, error: &ProviderError) {
        self.context.clear_kv_cache();
        for sequence in &mut self.running {
            sequence.state.fail(error);
        }
        self.cells.clear();
    }
}

/// llama.cpp counts rows, positions and tokens in 32 bits; all of them are small.
fn number<T: TryInto<i32>>(value: T) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}
