//! The loop that serves requests: new ones join between two steps, finished ones leave.

use super::file::Gguf;
use super::sequence::Sequence;
use super::shelf::{Place, Shelf, common};
use crate::engine::{Answer, GenerationRequest, Offered, Queue, Ready, Schedule, Weights, arrivals};
use crate::{ErrorCause, ProviderError};
use aske_kernels::Arch;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

/// Tokens read in one step: enough for full speed, few enough that nobody who writes waits long.
pub(super) const STEP: usize = 512;

/// Tokens of a step that are left free.
const SPARE: usize = 16;

/// A beginning this much longer than what is there already is worth waiting for, where another is just reading it.
const WORTH: usize = 16;

/// Whose turn it is to compute. Every file wants all its threads at once: two that compute side by side wait for each
/// other's threads at every layer, and both crawl.
static CORES: Mutex<()> = Mutex::new(());

/// A request, and who waits for it.
pub(super) type Job = (GenerationRequest, Answer);

/// One context's state between two steps.
pub(super) struct Worker<'m> {
    file: &'m Gguf,
    context: LlamaContext<'m>,
    inbox: Receiver<Job>,
    waiting: Queue<Job>,
    running: Vec<Sequence>,
    most_running: usize,
    on_gpu: bool,
    shelf: Shelf,
    schedule: Schedule,
    /// Keys and values can be copied and cut; recurrent networks keep a state instead.
    shares: bool,
    batch: LlamaBatch<'m>,
    allowed: Vec<f32>,
    weights: Weights,
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
            shelf: Shelf::new(most_running, context.n_ctx() as usize),
            context,
            inbox,
            waiting: Queue::default(),
            running: Vec::new(),
            most_running,
            on_gpu,
            schedule: Schedule::default(),
            shares: !file.model.is_recurrent() && !file.model.is_hybrid(),
            batch: LlamaBatch::new(STEP, 1),
            allowed: file.text.allowed(),
            weights: Weights::default(),
        }
    }

    /// Serves until nobody can ask any more and everybody has an answer.
    pub(super) fn run(mut self) {
        while self.collect() {
            self.forget_abandoned();
            self.admit();
            self.step();
            for sequence in self.running.extract_if(.., |sequence| sequence.writing.is_done()) {
                self.shelf.leave(sequence.row);
                sequence.writing.finish();
            }
        }
    }

    /// Takes what was asked; waits where there is nothing else to do. False once there never will be.
    fn collect(&mut self) -> bool {
        let Self { inbox, waiting, running, .. } = self;
        arrivals(inbox, waiting.is_empty() && running.is_empty(), |job| {
            waiting.push(job.0.group, job);
            true
        })
    }

    fn forget_abandoned(&mut self) {
        for sequence in self.running.extract_if(.., |sequence| sequence.writing.is_abandoned()) {
            self.shelf.leave(sequence.row);
        }
        self.waiting.retain(|(_, answer)| !answer.is_closed());
    }

    /// Lets requests join while there is room, one of each group in turn.
    ///
    /// One whose beginning is just being read for another waits until that is done, and then shares it. A group leaves the
    /// last quarter of the places to others: a row of the context cannot be taken from whoever has it.
    fn admit(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.offer(|group, (request, answer)| {
            if self.running.len() >= self.most_running {
                return Offered::Full((request, answer));
            }
            let is_its = |sequence: &&Sequence| group.is_some() && sequence.writing.group() == group;
            let own = self.running.iter().filter(is_its).count();
            let left_to_others = (self.most_running / 4).max(1).min(self.most_running - 1);
            if own > 0 && self.running.len() + left_to_others >= self.most_running {
                return Offered::Later((request, answer));
            }
            if self.shares && self.is_being_read(&request.prompt) {
                return Offered::Later((request, answer));
            }
            let Some(place) = self.shelf.take(&request.prompt, request.max_tokens, self.shares) else {
                return Offered::Full((request, answer));
            };
            match self.prepare(&place) {
                Ok(()) => {
                    let size = self.allowed.len();
                    self.running.push(Sequence::new(request, answer, place.row, place.held, size));
                }
                Err(fault) => {
                    self.shelf.leave(place.row);
                    self.shelf.empty(place.row);
                    let _ = answer.send(Err(fault));
                }
            }
            Offered::Taken
        });
        self.waiting = waiting;
    }

    fn is_being_read(&self, prompt: &[u32]) -> bool {
        let held = self.shelf.longest(prompt).map_or(0, |(_, held)| held);
        let reading = self.running.iter().filter(|sequence| sequence.is_reading());
        reading.map(|sequence| common(sequence.writing.tokens(), prompt)).any(|common| common >= held + WORTH)
    }

    /// Makes the context hold what the shelf says.
    fn prepare(&mut self, place: &Place) -> Result<(), ProviderError> {
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

    /// One step of everyone: who writes has one token in it, long prompts are read in parts.
    fn step(&mut self) {
        if self.running.iter().all(|sequence| sequence.writing.is_done()) {
            return;
        }
        self.batch.clear();
        let ready: Vec<Ready> = self.running.iter().map(Sequence::ready).collect();
        let writers = ready.iter().filter(|one| one.unread == 1).count();
        // The schedule may read a few tokens more where there is no room.
        let room = STEP.saturating_sub(writers + SPARE);
        let shares = self.schedule.shares(&ready, &self.waiting.groups(), room);
        // Of each sequence: how many tokens it has in the step, and the place of its last one.
        let mut shares_and_last = Vec::with_capacity(self.running.len());
        for (sequence, share) in self.running.iter().zip(shares) {
            let (place, tokens) = sequence.next(share);
            let whole = place + tokens.len() == sequence.writing.tokens().len();
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
        let turn = (!self.on_gpu).then(|| CORES.lock().unwrap_or_else(PoisonError::into_inner));
        let computed = self.context.decode(&mut self.batch);
        drop(turn);
        if let Err(error) = computed {
            self.give_up(&ProviderError::new(ErrorCause::Server, format!("llama.cpp: {error}")));
            return;
        }
        let arch = Arch::new();
        for (sequence, (count, last)) in
            self.running.iter_mut().zip(shares_and_last).filter(|(_, (count, _))| *count > 0)
        {
            let (_, tokens) = sequence.next(count);
            for token in tokens {
                self.shelf.read(sequence.row, *token);
            }
            if sequence.advance(count) {
                let logits = self.context.get_logits_ith(last);
                sequence.writing.write((arch, logits), self.file, &self.allowed, &mut self.weights);
            }
        }
    }

    /// A step that failed leaves the context in doubt: nothing of it is used again.
    fn give_up(&mut self, fault: &ProviderError) {
        self.context.clear_kv_cache();
        for sequence in &mut self.running {
            sequence.writing.fail(fault);
        }
        self.shelf.forget();
    }
}

/// Rows, places and tokens are counted in 32 bits by llama.cpp; all of them are small.
fn number<T: TryInto<i32>>(value: T) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}
