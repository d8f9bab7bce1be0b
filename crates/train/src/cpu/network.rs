//! One text through a Llama-style network and back: log-probabilities, and the gradient by every weight.

use aske_kernels::{Arch, Gate, Matrix, Normalise, Rotary, Rotate};
use aske_model::LlamaConfig;

use super::attention::{Attention, Desk};
use super::steps::{GateBack, NormaliseBack, transpose};
use crate::LearnError;
use crate::layout::Layout;

/// The shape of a network, and where its weights lie.
pub(super) struct Network {
    config: LlamaConfig,
    attention: Attention,
    arch: Arch,
    epsilon: f32,
    rotary: Rotary,
    embedding: usize,
    layers: Vec<Places>,
    norm: usize,
    head: usize,
}

/// Where the weights of a layer begin, and how many outputs each of its matrices has.
struct Places {
    attention_norm: usize,
    queries_keys_values: [(usize, usize); 3],
    output: [(usize, usize); 1],
    inner_norm: usize,
    gate_up: [(usize, usize); 2],
    down: [(usize, usize); 1],
}

/// A matrix laid out for both ways.
struct Both {
    forth: Matrix,
    back: Matrix,
}

/// The weights of one moment, laid out for products.
pub(super) struct Packed<'r> {
    row: &'r [f32],
    layers: Vec<[Both; 4]>,
    head: Both,
}

/// What the way back needs of a layer.
#[derive(Default)]
struct Kept {
    before: Vec<f32>,
    all: Vec<f32>,
    mixed: Vec<f32>,
    sums: Vec<f32>,
    between: Vec<f32>,
    wide: Vec<f32>,
}

/// Room for one text, kept from text to text.
#[derive(Default)]
pub(super) struct Work {
    layers: Vec<Kept>,
    positions: Vec<usize>,
    stream: Vec<f32>,
    normal: Vec<f32>,
    inner: Vec<f32>,
    back: Vec<f32>,
    wide_back: Vec<f32>,
    turned: Vec<f32>,
    read: Vec<f32>,
    read_normal: Vec<f32>,
    logits: Vec<f32>,
    desk: Desk,
}

/// A prediction that counts.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The place of the token before.
    pub(super) place: usize,
    /// The token.
    pub(super) token: usize,
}

/// What the network thinks of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opinion {
    /// Its log-probability.
    pub(super) logp: f64,
    /// The entropy of what could have stood there.
    pub(super) entropy: f64,
}

/// The first `length` numbers of a buffer that grows and never shrinks.
fn room(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

fn copy(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_from_slice(from);
}

impl Network {
    #[expect(clippy::cast_possible_truncation, reason = "single precision is what is computed in")]
    pub(super) fn new(config: &LlamaConfig, layout: &Layout) -> Result<Self, LearnError> {
        let find = |name: &str| {
            let found = layout.iter().find(|(other, ..)| *other == name);
            found
                .map(|(_, shape, place)| (place, shape[0]))
                .ok_or_else(|| LearnError::Weights(format!("{name} is missing")))
        };
        let layer = |index: usize| -> Result<Places, LearnError> {
            let own = |part: &str| find(&format!("model.layers.{index}.{part}.weight"));
            Ok(Places {
                attention_norm: own("input_layernorm")?.0,
                queries_keys_values: [
                    own("self_attn.q_proj")?,
                    own("self_attn.k_proj")?,
                    own("self_attn.v_proj")?,
                ],
                output: [own("self_attn.o_proj")?],
                inner_norm: own("post_attention_layernorm")?.0,
                gate_up: [own("mlp.gate_proj")?, own("mlp.up_proj")?],
                down: [own("mlp.down_proj")?],
            })
        };
        let embedding = find("model.embed_tokens.weight")?.0;
        let arch = Arch::new();
        let (heads, shared) = (config.num_attention_heads, config.num_key_value_heads);
        Ok(Self {
            attention: Attention { arch, heads, shared, wide: config.head_dim },
            arch,
            epsilon: config.rms_norm_eps as f32,
            rotary: Rotary::new(config.max_position_embeddings, config.head_dim, config.rope_theta),
            embedding,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            norm: find("model.norm.weight")?.0,
            head: if config.tie_word_embeddings { embedding } else { find("lm_head.weight")?.0 },
            config: config.clone(),
        })
    }

    /// Lays out a row of weights.
    pub(super) fn pack<'r>(&self, row: &'r [f32]) -> Packed<'r> {
        let (width, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let mixed = self.config.num_attention_heads * self.config.head_dim;
        let both = |inputs: usize, parts: &[(usize, usize)]| {
            let parts: Vec<&[f32]> =
                parts.iter().map(|(place, outputs)| &row[*place..place + outputs * inputs]).collect();
            Both { forth: Matrix::pack(inputs, &parts), back: Matrix::pack_columns(inputs, &parts.concat()) }
        };
        let layers = self.layers.iter().map(|places| {
            [
                both(width, &places.queries_keys_values),
                both(mixed, &places.output),
                both(width, &places.gate_up),
                both(inner, &places.down),
            ]
        });
        Packed { row, layers: layers.collect(), head: both(width, &[(self.head, self.config.vocab_size)]) }
    }

    /// Reads a text and gives an opinion of each wanted token.
    pub(super) fn forth(
        &self,
        packed: &Packed,
        tokens: &[u32],
        wanted: &[Wanted],
        work: &mut Work,
    ) -> Vec<Opinion> {
        let (width, arch) = (self.config.hidden_size, self.arch);
        let length = tokens.len();
        work.positions.clear();
        work.positions.extend(0..length);
        work.stream.clear();
        for token in tokens {
            let place = self.embedding + *token as usize * width;
            work.stream.extend_from_slice(&packed.row[place..place + width]);
        }
        work.layers.resize_with(self.layers.len(), Kept::default);
        for ((places, matrices), kept) in self.layers.iter().zip(&packed.layers).zip(&mut work.layers) {
            let [queries_keys_values, output, gate_up, down] = matrices;
            copy(&work.stream, &mut kept.before);
            let normal = self.normalise(packed.row, places.attention_norm, &kept.before, &mut work.normal);
            let row = queries_keys_values.forth.outputs();
            kept.all.resize(length * row, 0.0);
            queries_keys_values.forth.multiply(arch, normal, &mut kept.all);
            self.turn(&mut kept.all, &work.positions, 1.0);
            kept.mixed.resize(length * self.attention.heads * self.attention.wide, 0.0);
            self.attention.forth(&kept.all, &mut kept.mixed, &mut kept.sums, &mut work.desk);
            output.forth.multiply_add(arch, &kept.mixed, &mut work.stream);
            copy(&work.stream, &mut kept.between);
            let normal = self.normalise(packed.row, places.inner_norm, &kept.between, &mut work.normal);
            kept.wide.resize(length * gate_up.forth.outputs(), 0.0);
            gate_up.forth.multiply(arch, normal, &mut kept.wide);
            let inner = room(&mut work.inner, length * self.config.intermediate_size);
            arch.dispatch(Gate { x: &kept.wide, width: self.config.intermediate_size, out: inner });
            down.forth.multiply_add(arch, inner, &mut work.stream);
        }
        work.read.clear();
        for Wanted { place, .. } in wanted {
            work.read.extend_from_slice(&work.stream[place * width..][..width]);
        }
        let normal = self.normalise(packed.row, self.norm, &work.read, &mut work.read_normal);
        let size = self.config.vocab_size;
        work.logits.resize(wanted.len() * size, 0.0);
        packed.head.forth.multiply(arch, normal, &mut work.logits);
        work.logits
            .chunks_exact_mut(size)
            .zip(wanted)
            .map(|(logits, wanted)| opinion(logits, wanted.token))
            .collect()
    }

    /// Goes back from the slope of each wanted log-probability; adds the gradient by every weight.
    ///
    /// Must follow [`Network::forth`] with the same text.
    pub(super) fn back(
        &self,
        packed: &Packed,
        tokens: &[u32],
        (wanted, slopes): (&[Wanted], &[f64]),
        work: &mut Work,
        gradient: &mut [f32],
    ) {
        let (width, size, arch) = (self.config.hidden_size, self.config.vocab_size, self.arch);
        let (length, inner) = (tokens.len(), self.config.intermediate_size);
        // By each logit: slope·(1 where it is the token, less its probability).
        for ((shares, wanted), slope) in work.logits.chunks_exact_mut(size).zip(wanted).zip(slopes) {
            #[expect(clippy::cast_possible_truncation, reason = "single precision is what is computed in")]
            let slope = *slope as f32;
            for share in shares.iter_mut() {
                *share *= -slope;
            }
            shares[wanted.token] += slope;
        }
        let normal = &work.read_normal[..wanted.len() * width];
        self.learn(&[(self.head, size)], &work.logits, normal, &mut work.turned, gradient);
        let normal_back = room(&mut work.normal, wanted.len() * width);
        packed.head.back.multiply(arch, &work.logits, normal_back);
        let mut read_back = vec![0.0; wanted.len() * width];
        self.normalise_back(packed.row, self.norm, &work.read, normal_back, &mut read_back, gradient);
        work.back.clear();
        work.back.resize(length * width, 0.0);
        for (wanted, from) in wanted.iter().zip(read_back.chunks_exact(width)) {
            add(from, &mut work.back[wanted.place * width..][..width]);
        }
        for ((places, matrices), kept) in self.layers.iter().zip(&packed.layers).zip(&mut work.layers).rev() {
            let [queries_keys_values, output, gate_up, down] = matrices;
            let held = room(&mut work.inner, length * inner);
            arch.dispatch(Gate { x: &kept.wide, width: inner, out: held });
            self.learn(&places.down, &work.back, held, &mut work.turned, gradient);
            down.back.multiply(arch, &work.back, held);
            arch.dispatch(GateBack { x: &mut kept.wide, width: inner, dy: held });
            let normal = self.normalise(packed.row, places.inner_norm, &kept.between, &mut work.normal);
            self.learn(&places.gate_up, &kept.wide, normal, &mut work.turned, gradient);
            let normal_back = room(&mut work.normal, length * width);
            gate_up.back.multiply(arch, &kept.wide, normal_back);
            self.normalise_back(
                packed.row,
                places.inner_norm,
                &kept.between,
                normal_back,
                &mut work.back,
                gradient,
            );

            self.learn(&places.output, &work.back, &kept.mixed, &mut work.turned, gradient);
            let mixed_back = room(&mut work.inner, kept.mixed.len());
            output.back.multiply(arch, &work.back, mixed_back);
            let all_back = room(&mut work.wide_back, kept.all.len());
            self.attention.back(&kept.all, (&kept.mixed, &kept.sums), mixed_back, all_back, &mut work.desk);
            self.turn(all_back, &work.positions, -1.0);
            let normal = self.normalise(packed.row, places.attention_norm, &kept.before, &mut work.normal);
            self.learn(&places.queries_keys_values, all_back, normal, &mut work.turned, gradient);
            let normal_back = room(&mut work.normal, length * width);
            queries_keys_values.back.multiply(arch, all_back, normal_back);
            self.normalise_back(
                packed.row,
                places.attention_norm,
                &kept.before,
                normal_back,
                &mut work.back,
                gradient,
            );
        }
        for (token, from) in tokens.iter().zip(work.back.chunks_exact(width)) {
            add(from, &mut gradient[self.embedding + *token as usize * width..][..width]);
        }
    }

    /// Adds the gradient of matrices that read `x` and wrote one after the other into rows whose slopes are `dy`.
    fn learn(
        &self,
        parts: &[(usize, usize)],
        dy: &[f32],
        x: &[f32],
        turned: &mut Vec<f32>,
        gradient: &mut [f32],
    ) {
        let outputs: usize = parts.iter().map(|(_, outputs)| outputs).sum();
        let length = dy.len() / outputs;
        let inputs = x.len() / length.max(1);
        transpose(dy, outputs, turned);
        let columns = Matrix::pack_columns(inputs, x);
        let mut turned = turned.as_slice();
        for (place, outputs) in parts {
            let (own, rest) = turned.split_at(outputs * length);
            columns.multiply_add(self.arch, own, &mut gradient[*place..place + outputs * inputs]);
            turned = rest;
        }
    }

    fn turn(&self, rows: &mut [f32], positions: &[usize], sign: f32) {
        let Attention { heads, shared, wide, .. } = self.attention;
        let width = (heads + 2 * shared) * wide;
        self.arch.dispatch(Rotate {
            rotary: &self.rotary,
            rows,
            width,
            heads: heads + shared,
            positions,
            sign,
        });
    }

    fn normalise<'a>(&self, row: &[f32], place: usize, x: &[f32], out: &'a mut Vec<f32>) -> &'a [f32] {
        let out = room(out, x.len());
        let weight = &row[place..place + self.config.hidden_size];
        self.arch.dispatch(Normalise { x, weight, epsilon: self.epsilon, out });
        out
    }

    fn normalise_back(
        &self,
        row: &[f32],
        place: usize,
        x: &[f32],
        dy: &[f32],
        out: &mut [f32],
        gradient: &mut [f32],
    ) {
        let ends = place..place + self.config.hidden_size;
        let (weight, slope) = (&row[ends.clone()], &mut gradient[ends]);
        self.arch.dispatch(NormaliseBack { x, weight, epsilon: self.epsilon, dy, out, slope });
    }
}

fn add(from: &[f32], to: &mut [f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// The log-probability of a token and the entropy; logits become probabilities.
#[expect(clippy::cast_possible_truncation, reason = "single precision is what is computed in")]
fn opinion(logits: &mut [f32], token: usize) -> Opinion {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let own = f64::from(logits[token] - largest);
    let (mut total, mut weighted) = (0.0, 0.0);
    for logit in logits.iter_mut() {
        let above = f64::from(*logit - largest);
        let weight = above.exp();
        total += weight;
        weighted += weight * above;
        *logit = weight as f32;
    }
    let share = (1.0 / total) as f32;
    for logit in logits.iter_mut() {
        *logit *= share;
    }
    Opinion { logp: own - total.ln(), entropy: total.ln() - weighted / total }
}
