//! The sampling loop: continuous batching, new requests join between two steps and finished ones leave.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use aske_model::{ChatTokenizer, ErrorCause, GenerationRequest, GenerationState, ProviderError, ReplySender};
use tch::{Kind, Tensor, no_grad_guard};

use super::block::{Qkv, causal_attention};
use super::config::ModelConfig;
use super::kv_cache::KvCache;
use super::network::InferenceWeights;
use super::rope::Rope;
use super::sampling::{SamplingParams, sample};
use super::{as_i64, to_device};
use crate::LearnError;

/// Prompt tokens prefilled at once.
const PREFILL_TOKENS: usize = 1 << 15;

/// How long an idle worker waits for more requests after the first, so that they are prefilled together.
const GATHER: Duration = Duration::from_millis(3);

/// Limits on concurrency and memory.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_batch: usize,
    pub(super) kv_cache_bytes: usize,
}

/// A request to the worker.
pub(super) struct Job {
    pub(super) request: GenerationRequest,
    pub(super) params: SamplingParams,
    pub(super) reply: ReplySender,
}

/// A request and its sampling parameters.
struct Sequence {
    state: GenerationState,
    params: SamplingParams,
    rng: fastrand::Rng,
}

impl Sequence {
    fn prompt(&self) -> &[u32] {
        &self.state.tokens()[..self.state.prompt()]
    }

    /// Position of the last token, which is to be read next.
    fn position(&self) -> usize {
        self.state.tokens().len() - 1
    }

    fn last_token(&self) -> u32 {
        self.state.tokens().last().copied().unwrap_or_default()
    }
}

/// The state between two steps.
pub(super) struct Worker {
    weights: InferenceWeights,
    tokenizer: Arc<ChatTokenizer>,
    /// Marks tokens that are never sampled.
    banned: Tensor,
    limits: Limits,
    inbox: Receiver<Job>,
    waiting: VecDeque<Sequence>,
    /// Sequence `i` has row `i` of the cache.
    running: Vec<Sequence>,
    cache: KvCache,
}

impl Worker {
    pub(super) fn new(
        weights: InferenceWeights,
        tokenizer: Arc<ChatTokenizer>,
        limits: Limits,
        inbox: Receiver<Job>,
    ) -> Result<Self, LearnError> {
        let banned = to_device(tokenizer.never(), weights.device)?;
        let cache = KvCache::new(&weights.config, weights.kind, weights.device)?;
        let (waiting, running) = (VecDeque::new(), Vec::new());
        Ok(Self { weights, tokenizer, banned, limits, inbox, waiting, running, cache })
    }

    /// Serves until all handles are gone and all requests are answered.
    pub(super) fn run(mut self) {
        let _no_grad = no_grad_guard();
        while self.receive() {
            if let Err(error) = self.step() {
                let error = ProviderError::new(ErrorCause::Server, error.to_string());
                for mut sequence in self.running.drain(..) {
                    sequence.state.fail(&error);
                    sequence.state.finish();
                }
            }
        }
    }

    /// Takes new requests, waiting if there is nothing else to do. Returns false when all handles are gone and no work is
    /// left.
    fn receive(&mut self) -> bool {
        let mut idle = self.waiting.is_empty() && self.running.is_empty();
        let gathering = idle;
        let size = (self.weights.config.vocab_size, self.weights.config.max_position_embeddings);
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
                Ok(Job { request, params, reply }) => {
                    let rng = fastrand::Rng::with_seed(request.seed);
                    let state = GenerationState::new(request, reply, 0, size);
                    self.waiting.push_back(Sequence { state, params, rng });
                }
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return !idle,
            }
            idle = false;
        }
    }

    fn step(&mut self) -> Result<(), LearnError> {
        self.retire()?;
        let before = self.running.len();
        self.admit();
        if self.running.len() > before {
            self.prefill_from(before)?;
            self.retire()?;
        }
        if self.running.is_empty() { Ok(()) } else { self.decode() }
    }

    /// Removes finished and abandoned sequences; the last row of the cache takes the free one.
    fn retire(&mut self) -> Result<(), LearnError> {
        for index in (0..self.running.len()).rev() {
            if !self.running[index].state.is_done() && !self.running[index].state.is_abandoned() {
                continue;
            }
            let last = self.running.len() - 1;
            if index < last {
                let positions = self.running[last].position();
                self.cache.move_row(last, index, positions)?;
            }
            self.running.swap_remove(index).state.finish();
        }
        Ok(())
    }

    /// Admits requests while the batch has room, and the cache for the longest that all can become.
    fn admit(&mut self) {
        while let Some(sequence) = self.waiting.pop_front() {
            if sequence.state.is_abandoned() || sequence.state.is_done() {
                sequence.state.finish();
                continue;
            }
            let rows = self.running.len() + 1;
            let max_len = self.max_len().max(sequence.state.max_len());
            let bytes = rows.saturating_mul(max_len).saturating_mul(self.cache.bytes_per_position());
            let full = rows > self.limits.max_batch.max(1) || bytes > self.limits.kv_cache_bytes;
            if full && rows > 1 {
                self.waiting.push_front(sequence);
                return;
            }
            self.running.push(sequence);
        }
    }

    /// The longest that a running sequence can become.
    fn max_len(&self) -> usize {
        self.running.iter().map(|sequence| sequence.state.max_len()).max().unwrap_or(0)
    }

    /// Prefills the prompts of sequences from `first` on, and samples their first tokens.
    fn prefill_from(&mut self, mut first: usize) -> Result<(), LearnError> {
        while first < self.running.len() {
            // As many as fit; identical prompts are read once.
            let mut prompts: Vec<Vec<i64>> = Vec::new();
            let mut known: HashMap<&[u32], i64> = HashMap::new();
            let mut prompt_index: Vec<i64> = Vec::new();
            let mut length = 0;
            for sequence in &self.running[first..] {
                let prompt = sequence.prompt();
                let new = !known.contains_key(prompt);
                let new_length = length.max(prompt.len());
                if new && !prompts.is_empty() && (prompts.len() + 1) * new_length > PREFILL_TOKENS {
                    break;
                }
                length = new_length;
                if new {
                    known.insert(prompt, as_i64(prompts.len()));
                    prompts.push(prompt.iter().map(|token| i64::from(*token)).collect());
                }
                prompt_index.push(known.get(prompt).copied().unwrap_or(0));
            }
            let end = first + prompt_index.len();
            let logits = self.prefill(first, &prompts, &prompt_index, length)?;
            self.sample(first, end, &logits)?;
            first = end;
        }
        Ok(())
    }

    /// The logits after each prompt, one row for each element of `prompt_index`.
    fn prefill(
        &mut self,
        first: usize,
        prompts: &[Vec<i64>],
        prompt_index: &[i64],
        length: usize,
    ) -> Result<Tensor, LearnError> {
        let max_len = self.max_len().max(length);
        let Self { weights, cache, limits, .. } = self;
        cache.reserve(first + prompt_index.len(), length, (limits.max_batch, max_len))?;
        let config = &weights.config;
        // Padded at the end: attention is causal.
        let pad = |prompt: &Vec<i64>| {
            prompt.iter().copied().chain(std::iter::repeat(0)).take(length).collect::<Vec<_>>()
        };
        let tokens: Vec<i64> = prompts.iter().flat_map(pad).collect();
        let tokens = to_device(&tokens, weights.device)?.f_view([as_i64(prompts.len()), as_i64(length)])?;
        let prompt_index = to_device(prompt_index, weights.device)?;
        let rope = Rope::first(as_i64(length), &weights.inv_freq)?;
        let mut hidden_states = weights.embed(&tokens)?;
        for (layer, block) in weights.blocks.iter().enumerate() {
            hidden_states = block.forward(config, &hidden_states, &rope, |qkv| {
                let keys = qkv.key.f_index_select(0, &prompt_index)?;
                let values = qkv.value.f_index_select(0, &prompt_index)?;
                cache.write_prompts(layer, first, &keys, &values)?;
                causal_attention(qkv)
            })?;
        }
        let last_positions: Vec<i64> =
            (0..).zip(prompts).map(|(row, prompt)| row * as_i64(length) + as_i64(prompt.len()) - 1).collect();
        let last = hidden_states
            .f_view([-1, as_i64(config.hidden_size)])?
            .f_index_select(0, &to_device(&last_positions, weights.device)?)?;
        Ok(weights.logits(&last)?.f_index_select(0, &prompt_index)?)
    }

    /// Generates one token for every running sequence.
    fn decode(&mut self) -> Result<(), LearnError> {
        let max_len = self.max_len();
        let Self { weights, cache, limits, running, .. } = self;
        let config = &weights.config;
        let rows = running.len();
        let positions: Vec<i64> = running.iter().map(|sequence| as_i64(sequence.position())).collect();
        let length = running.iter().map(Sequence::position).max().unwrap_or(0) + 1;
        cache.reserve(rows, length, (limits.max_batch, max_len.max(length)))?;
        let padded = cache.padded_len(length);
        let last_tokens = running.iter().map(|sequence| i64::from(sequence.last_token()));
        let inputs: Vec<i64> = last_tokens.chain(positions).chain(0..as_i64(rows)).collect();
        let inputs = to_device(&inputs, weights.device)?.f_view([3, as_i64(rows)])?;
        let [tokens, positions, row_index] =
            [inputs.f_select(0, 0)?, inputs.f_select(0, 1)?, inputs.f_select(0, 2)?];
        let rope = Rope::at_positions(&positions.f_unsqueeze(1)?, &weights.inv_freq)?;
        let all = Tensor::f_arange(as_i64(padded), (Kind::Int64, weights.device))?;
        let masked = all.f_unsqueeze(0)?.f_gt_tensor(&positions.f_unsqueeze(1)?)?;
        // An additive mask, so that no layer has to convert a boolean one.
        let mask = Tensor::f_zeros([as_i64(rows), as_i64(padded)], (weights.kind, weights.device))?
            .f_masked_fill_(&masked, f64::NEG_INFINITY)?
            .f_view([as_i64(rows), 1, 1, as_i64(padded)])?;
        let mut hidden_states = weights.embed(&tokens.f_unsqueeze(1)?)?;
        for (layer, block) in weights.blocks.iter().enumerate() {
            hidden_states = block.forward(config, &hidden_states, &rope, |qkv| {
                let (keys, values) = (qkv.key.f_squeeze_dim(1)?, qkv.value.f_squeeze_dim(1)?);
                cache.write(layer, (&row_index, &positions), &keys, &values)?;
                cached_attention(config, qkv, &cache.read(layer, rows, padded)?, &mask)
            })?;
        }
        let logits = weights.logits(&hidden_states.f_squeeze_dim(1)?)?;
        self.sample(0, rows, &logits)
    }

    /// Samples the next tokens of some sequences.
    fn sample(&mut self, begin: usize, end: usize, logits: &Tensor) -> Result<(), LearnError> {
        let sequences = &mut self.running[begin..end];
        let params: Vec<SamplingParams> = sequences.iter().map(|sequence| sequence.params).collect();
        let uniforms: Vec<f64> = sequences.iter_mut().map(|sequence| sequence.rng.f64()).collect();
        let choices = sample(logits, &self.banned, &params, &uniforms)?;
        for (sequence, choice) in sequences.iter_mut().zip(choices) {
            sequence.state.push(Some(choice), &*self.tokenizer);
        }
        Ok(())
    }
}

/// Attention of one new token of each row to its cached keys and values: `[rows, 1, num_heads · head_dim]`.
///
/// The query heads that share a key-value head take the place of query positions, so that nothing is repeated.
fn cached_attention(
    config: &ModelConfig,
    qkv: &Qkv,
    (keys, values): &(Tensor, Tensor),
    mask: &Tensor,
) -> Result<Tensor, LearnError> {
    let (num_heads, num_kv_heads, head_dim) =
        (as_i64(config.num_heads), as_i64(config.num_kv_heads), as_i64(config.head_dim));
    let rows = keys.size4()?.0;
    let query = qkv.query.f_reshape([rows, num_kv_heads, num_heads / num_kv_heads, head_dim])?;
    let attention = Tensor::f_scaled_dot_product_attention(
        &query,
        &keys.f_transpose(1, 2)?,
        &values.f_transpose(1, 2)?,
        Some(mask),
        0.0,
        false,
        None,
        false,
    )?;
    Ok(attention.f_reshape([rows, 1, num_heads * head_dim])?)
}
