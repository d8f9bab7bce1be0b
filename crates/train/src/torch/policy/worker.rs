//! The loop that serves requests: new ones join between two steps, finished ones leave.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use aske_model::ChatTokenizer;
use tch::{Kind, Tensor, no_grad_guard};

use super::block::{Looks, causal};
use super::cache::Cache;
use super::choose::{Rules, choose};
use super::network::Snapshot;
use super::rotary::Turn;
use super::row::{Job, Row};
use super::shape::Shape;
use crate::LearnError;
use crate::torch::network::whole;

/// Prompt tokens read at once.
const PROMPT_TOKENS: usize = 1 << 15;

/// How long an idle worker waits for more requests once the first has come: what comes together is read together.
const GATHER: Duration = Duration::from_millis(3);

/// How much is served at once.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) batch: usize,
    pub(super) cache_bytes: usize,
}

/// The state between two steps.
pub(super) struct Worker {
    weights: Snapshot,
    vocabulary: Arc<ChatTokenizer>,
    /// Marks the tokens that may not be written.
    never: Tensor,
    limits: Limits,
    inbox: Receiver<Job>,
    waiting: VecDeque<Row>,
    /// Row `i` has row `i` of the cache.
    running: Vec<Row>,
    cache: Cache,
}

impl Worker {
    pub(super) fn new(
        weights: Snapshot,
        vocabulary: Arc<ChatTokenizer>,
        limits: Limits,
        inbox: Receiver<Job>,
    ) -> Result<Self, LearnError> {
        let never = Tensor::f_from_slice(vocabulary.never())?.f_to_device(weights.device)?;
        let cache = Cache::new(&weights.shape, weights.kind, weights.device)?;
        let (waiting, running) = (VecDeque::new(), Vec::new());
        Ok(Self { weights, vocabulary, never, limits, inbox, waiting, running, cache })
    }

    /// Serves until nobody can ask any more and everybody has an answer.
    pub(super) fn run(mut self) {
        let _still = no_grad_guard();
        while self.collect() {
            if let Err(error) = self.step() {
                let message = error.to_string();
                for row in self.running.drain(..) {
                    row.fail(&message);
                }
            }
        }
    }

    /// Takes what was asked; waits where there is nothing else to do. False once there never will be.
    fn collect(&mut self) -> bool {
        let mut idle = self.waiting.is_empty() && self.running.is_empty();
        let gathering = idle;
        loop {
            let job = match (idle, gathering) {
                (true, _) => self.inbox.recv().map_err(|_| TryRecvError::Disconnected),
                (false, true) => self.inbox.recv_timeout(GATHER).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
                (false, false) => self.inbox.try_recv(),
            };
            match job {
                Ok(job) => self.waiting.push_back(Row::new(job)),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return !idle,
            }
            idle = false;
        }
    }

    fn step(&mut self) -> Result<(), LearnError> {
        self.leave()?;
        let before = self.running.len();
        self.admit();
        if self.running.len() > before {
            self.read_prompts(before)?;
            self.leave()?;
        }
        if self.running.is_empty() { Ok(()) } else { self.advance() }
    }

    /// Sends away who is done or no longer waited for; the last row takes the free place.
    fn leave(&mut self) -> Result<(), LearnError> {
        for index in (0..self.running.len()).rev() {
            if !self.running[index].is_done() && !self.running[index].is_abandoned() {
                continue;
            }
            let last = self.running.len() - 1;
            if index < last {
                let places = self.running[last].place();
                self.cache.move_row(last, index, places)?;
            }
            self.running.swap_remove(index).finish();
        }
        Ok(())
    }

    /// Lets requests join while there are places, and bytes for the longest that all can become.
    fn admit(&mut self) {
        while let Some(row) = self.waiting.pop_front() {
            if row.is_abandoned() || row.is_done() {
                row.finish();
                continue;
            }
            let rows = self.running.len() + 1;
            let longest = self.running.iter().map(Row::most).chain([row.most()]).max().unwrap_or(0);
            let bytes = rows.saturating_mul(longest).saturating_mul(self.cache.bytes());
            let full = rows > self.limits.batch.max(1) || bytes > self.limits.cache_bytes;
            if full && rows > 1 {
                self.waiting.push_front(row);
                return;
            }
            self.running.push(row);
        }
    }

    /// Reads the prompts of rows from this one on, and writes their first tokens.
    fn read_prompts(&mut self, mut first: usize) -> Result<(), LearnError> {
        while first < self.running.len() {
            // As many as fit; requests with one prompt read it once.
            let mut prompts: Vec<Vec<i64>> = Vec::new();
            let mut known: HashMap<&[u32], i64> = HashMap::new();
            let mut which: Vec<i64> = Vec::new();
            let mut longest = 0;
            for row in &self.running[first..] {
                let prompt = row.prompt();
                let new = !known.contains_key(prompt);
                let long = longest.max(prompt.len());
                if new && !prompts.is_empty() && (prompts.len() + 1) * long > PROMPT_TOKENS {
                    break;
                }
                longest = long;
                if new {
                    known.insert(prompt, whole(prompts.len()));
                    prompts.push(prompt.iter().map(|token| i64::from(*token)).collect());
                }
                which.push(known.get(prompt).copied().unwrap_or(0));
            }
            let end = first + which.len();
            let logits = self.prefill(first, &prompts, &which, longest)?;
            self.write(first, end, &logits)?;
            first = end;
        }
        Ok(())
    }

    /// The logits after each prompt, one row for each of `which`.
    fn prefill(
        &mut self,
        first: usize,
        prompts: &[Vec<i64>],
        which: &[i64],
        longest: usize,
    ) -> Result<Tensor, LearnError> {
        let Self { weights, cache, limits, running, .. } = self;
        let most = running.iter().map(Row::most).max().unwrap_or(longest);
        cache.reserve(first + which.len(), longest, (limits.batch, most))?;
        let shape = &weights.shape;
        // Filled at the end: attention looks back only.
        let fill = |prompt: &Vec<i64>| {
            prompt.iter().copied().chain(std::iter::repeat(0)).take(longest).collect::<Vec<_>>()
        };
        let tokens: Vec<i64> = prompts.iter().flat_map(fill).collect();
        let sent = |numbers: &[i64]| -> Result<Tensor, LearnError> {
            Ok(Tensor::f_from_slice(numbers)?.f_to_device(weights.device)?)
        };
        let tokens = sent(&tokens)?.f_view([whole(prompts.len()), whole(longest)])?;
        let which = sent(which)?;
        let turn = Turn::first(whole(longest), &weights.speeds)?;
        let mut stream = embedded(weights, &tokens)?;
        for (layer, block) in weights.blocks.iter().enumerate() {
            stream = block.run(shape, &stream, &turn, |looks| {
                let (keys, values) =
                    (looks.keys.f_index_select(0, &which)?, looks.values.f_index_select(0, &which)?);
                cache.begin(layer, first, &keys, &values)?;
                causal(looks)
            })?;
        }
        let lasts: Vec<i64> =
            (0..).zip(prompts).map(|(row, prompt)| row * whole(longest) + whole(prompt.len()) - 1).collect();
        let stream = stream.f_view([-1, whole(shape.width)])?.f_index_select(0, &sent(&lasts)?)?;
        Ok(logits(weights, &stream)?.f_index_select(0, &which)?)
    }

    /// One token more for everyone.
    fn advance(&mut self) -> Result<(), LearnError> {
        let Self { weights, cache, limits, running, .. } = self;
        let shape = &weights.shape;
        let rows = running.len();
        let places: Vec<i64> = running.iter().map(|row| whole(row.place())).collect();
        let longest = running.iter().map(Row::place).max().unwrap_or(0) + 1;
        let most = running.iter().map(Row::most).max().unwrap_or(longest);
        cache.reserve(rows, longest, (limits.batch, most))?;
        let looked = cache.looked(longest);
        let numbers: Vec<i64> =
            running.iter().map(|row| i64::from(row.last())).chain(places).chain(0..whole(rows)).collect();
        let numbers =
            Tensor::f_from_slice(&numbers)?.f_to_device(weights.device)?.f_view([3, whole(rows)])?;
        let [tokens, places, indices] =
            [numbers.f_select(0, 0)?, numbers.f_select(0, 1)?, numbers.f_select(0, 2)?];
        let turn = Turn::at(&places.f_unsqueeze(1)?, &weights.speeds)?;
        let all = Tensor::f_arange(whole(looked), (Kind::Int64, weights.device))?;
        let unseen = all.f_unsqueeze(0)?.f_gt_tensor(&places.f_unsqueeze(1)?)?;
        // As something to add to what attention weighs, so that no layer has to make it of truths.
        let mask = Tensor::f_zeros([whole(rows), whole(looked)], (weights.kind, weights.device))?
            .f_masked_fill_(&unseen, f64::NEG_INFINITY)?
            .f_view([whole(rows), 1, 1, whole(looked)])?;
        let mut stream = embedded(weights, &tokens.f_unsqueeze(1)?)?;
        for (layer, block) in weights.blocks.iter().enumerate() {
            stream = block.run(shape, &stream, &turn, |looks| {
                let (keys, values) = (looks.keys.f_squeeze_dim(1)?, looks.values.f_squeeze_dim(1)?);
                cache.write(layer, (&indices, &places), &keys, &values)?;
                looked_back(shape, looks, &cache.read(layer, rows, looked)?, &mask)
            })?;
        }
        let logits = logits(weights, &stream.f_squeeze_dim(1)?)?;
        self.write(0, rows, &logits)
    }

    /// Chooses the next tokens of some rows.
    fn write(&mut self, begin: usize, end: usize, logits: &Tensor) -> Result<(), LearnError> {
        let rows = &mut self.running[begin..end];
        let rules: Vec<Rules> = rows.iter().map(Row::rules).collect();
        let points: Vec<f64> = rows.iter_mut().map(Row::point).collect();
        let choices = choose(logits, &self.never, &rules, &points)?;
        for (row, choice) in rows.iter_mut().zip(choices) {
            row.write(choice, &self.vocabulary);
        }
        Ok(())
    }
}

fn embedded(weights: &Snapshot, tokens: &Tensor) -> Result<Tensor, LearnError> {
    let stream = Tensor::f_embedding(&weights.embedding, tokens, -1, false, false)?;
    Ok(stream.f_to_kind(Kind::Float)?)
}

fn logits(weights: &Snapshot, stream: &Tensor) -> Result<Tensor, LearnError> {
    let read = stream.f_rms_norm(whole(weights.shape.width), Some(&weights.norm), weights.shape.epsilon)?;
    Ok(read.f_linear(&weights.head, None::<Tensor>)?)
}

/// Attention of one place of each row to what it has seen: `[rows, 1, heads · head]`.
///
/// The query heads that share a key stand where places would, so that nothing is repeated.
fn looked_back(
    shape: &Shape,
    looks: &Looks,
    (keys, values): &(Tensor, Tensor),
    mask: &Tensor,
) -> Result<Tensor, LearnError> {
    let (heads, shared, head) = (whole(shape.heads), whole(shape.shared), whole(shape.head));
    let rows = keys.size4()?.0;
    let queries = looks.queries.f_reshape([rows, shared, heads / shared, head])?;
    let mixed = Tensor::f_scaled_dot_product_attention(
        &queries,
        &keys.f_transpose(1, 2)?,
        &values.f_transpose(1, 2)?,
        Some(mask),
        0.0,
        false,
        None,
        false,
    )?;
    Ok(mixed.f_reshape([rows, 1, heads * head])?)
}
