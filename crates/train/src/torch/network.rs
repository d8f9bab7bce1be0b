//! The parameters of a network on a device, and which of them are trained.

use std::collections::HashMap;

use tch::{Device, Kind, Tensor};

use super::as_i64;
use super::block::Block;
use super::config::ModelConfig;
use super::lora::{Adapter, merged};
use super::options::Lora;
use super::parameter::Parameter;
use crate::LearnError;

const EMBEDDING: &str = "model.embed_tokens.weight";
const NORM: &str = "model.norm.weight";
const HEAD: &str = "lm_head.weight";

/// Logits in memory at once: half a gigabyte.
const MAX_LOGITS: i64 = 1 << 27;

/// A network that can be trained.
pub(super) struct Network {
    pub(super) config: ModelConfig,
    pub(super) device: Device,
    /// Inverse frequencies of the rotary embedding.
    pub(super) inv_freq: Tensor,
    pub(super) lora: Option<Lora>,
    /// Logits in memory at once, in training.
    pub(super) max_logits: i64,
    embedding: Parameter,
    layers: Vec<Layer>,
    final_norm: Parameter,
    /// `None` if tied to the embedding.
    lm_head: Option<Parameter>,
}

struct Layer {
    base: Block<Parameter>,
    /// One for each projection of the layer; empty unless LoRA is used.
    adapters: Vec<Adapter>,
}

/// The tensors of a checkpoint, removed as they are used.
struct TensorSource {
    all: HashMap<String, Tensor>,
    trained: bool,
}

impl TensorSource {
    /// Concatenates the tensors with these names and rows; `columns` is `None` for vectors.
    fn take(
        &mut self,
        parts: &[(String, usize)],
        columns: Option<usize>,
        kind: Kind,
    ) -> Result<Parameter, LearnError> {
        let mut tensors = Vec::new();
        for (name, rows) in parts {
            let tensor =
                self.all.remove(name).ok_or_else(|| LearnError::Weights(format!("{name} is missing")))?;
            let shape: Vec<i64> = [Some(*rows), columns].into_iter().flatten().map(as_i64).collect();
            if tensor.size() != shape {
                let found = tensor.size();
                return Err(LearnError::Weights(format!("{name} has shape {found:?}, should be {shape:?}")));
            }
            tensors.push(tensor);
        }
        let value = if tensors.len() == 1 { tensors.remove(0) } else { Tensor::f_cat(&tensors, 0)? };
        Parameter::new(parts.to_vec(), value, kind, self.trained)
    }
}

impl Network {
    /// Builds a network from a checkpoint's tensors; `kind` is the compute precision.
    ///
    /// `untie_head` has no effect with LoRA.
    pub(super) fn new(
        config: ModelConfig,
        all: HashMap<String, Tensor>,
        kind: Kind,
        device: Device,
        untie_head: bool,
        lora: Option<Lora>,
    ) -> Result<Self, LearnError> {
        let mut source = TensorSource { all, trained: lora.is_none() };
        let (hidden_size, vocab_size) = (config.hidden_size, config.vocab_size);
        source.all.retain(|name, _| !name.ends_with("rotary_emb.inv_freq"));
        let own_head = !config.tie_word_embeddings || (untie_head && lora.is_none());
        match source.all.get(EMBEDDING) {
            Some(embedding) if config.tie_word_embeddings && own_head => {
                let initial = embedding.f_to_kind(Kind::Float)?.f_detach_copy()?;
                source.all.insert(HEAD.to_owned(), initial);
            }
            Some(_) if !own_head => {
                source.all.remove(HEAD);
            }
            _ => {}
        }
        let embedding = source.take(&[(EMBEDDING.to_owned(), vocab_size)], Some(hidden_size), kind)?;
        let mut layers = Vec::new();
        for index in 0..config.num_layers {
            let base = block(&mut source, &config, index, kind)?;
            let adapters = match &lora {
                Some(lora) => Adapter::for_layer(&base, lora, index)?,
                None => Vec::new(),
            };
            layers.push(Layer { base, adapters });
        }
        let final_norm = source.take(&[(NORM.to_owned(), hidden_size)], None, Kind::Float)?;
        let mut lm_head = None;
        if own_head {
            lm_head = Some(source.take(&[(HEAD.to_owned(), vocab_size)], Some(hidden_size), Kind::Float)?);
        }
        if let Some(name) = source.all.into_keys().min() {
            return Err(LearnError::Weights(format!("{name} is not part of the network")));
        }
        let inv_freq = config.rope.inv_freq(config.head_dim, device)?;
        Ok(Self {
            config,
            device,
            inv_freq,
            lora,
            max_logits: MAX_LOGITS,
            embedding,
            layers,
            final_norm,
            lm_head,
        })
    }

    /// Whether the output head is tied to the embedding.
    pub(super) fn is_tied(&self) -> bool {
        self.lm_head.is_none()
    }

    /// The embeddings of tokens, in single precision.
    pub(super) fn embed(&self, tokens: &Tensor) -> Result<Tensor, LearnError> {
        let embedding = self.embedding.compute();
        Ok(Tensor::f_embedding(embedding, tokens, -1, false, false)?.f_to_kind(Kind::Float)?)
    }

    pub(super) fn final_norm(&self) -> &Parameter {
        &self.final_norm
    }

    /// The output head: in single precision if it is untied, otherwise in compute precision.
    pub(super) fn lm_head(&self) -> &Tensor {
        self.lm_head.as_ref().unwrap_or(&self.embedding).compute()
    }

    /// A layer and its autograd leaves, in the order of [`Network::trained`].
    pub(super) fn layer_with_grad(&self, layer: usize) -> Result<(Block<Tensor>, Vec<Tensor>), LearnError> {
        let Layer { base, adapters } = &self.layers[layer];
        if adapters.is_empty() {
            let block = base.map(Parameter::leaf)?;
            let leaves = block.parameters().into_iter().map(Tensor::shallow_clone).collect();
            return Ok((block, leaves));
        }
        let mut leaves = Vec::new();
        for parameter in adapters.iter().flat_map(Adapter::both) {
            leaves.push(parameter.leaf()?);
        }
        Ok((self.with_adapters(base, &leaves)?, leaves))
    }

    /// A layer without autograd leaves.
    pub(super) fn layer_without_grad(&self, layer: usize) -> Result<Block<Tensor>, LearnError> {
        let Layer { base, adapters } = &self.layers[layer];
        if adapters.is_empty() {
            return base.map(|parameter| Ok(parameter.compute().shallow_clone()));
        }
        let both = adapters.iter().flat_map(Adapter::both);
        let adapters: Vec<Tensor> = both.map(|parameter| parameter.compute().shallow_clone()).collect();
        self.with_adapters(base, &adapters)
    }

    /// A layer with adapters merged into its projections, as they are when the policy is exported to be sampled.
    fn with_adapters(
        &self,
        base: &Block<Parameter>,
        adapters: &[Tensor],
    ) -> Result<Block<Tensor>, LearnError> {
        let lora = self.lora.unwrap_or_default();
        let block = base.map(|parameter| Ok(parameter.compute().shallow_clone()))?;
        let mut projections = Vec::new();
        for (projection, pair) in base.projections().into_iter().zip(adapters.as_chunks::<2>().0) {
            projections.push(merged(projection, pair, &lora)?.f_to_kind(projection.compute().f_kind()?)?);
        }
        let projections = <[Tensor; 4]>::try_from(projections)
            .map_err(|_| LearnError::Weights("a layer lacks some of its adapters".to_owned()))?;
        Ok(block.with_projections(projections))
    }

    /// The trained parameters: embedding, layers, final norm and head; or the adapters, layer by layer.
    pub(super) fn trained(&self) -> Vec<&Parameter> {
        if self.lora.is_some() {
            return self
                .layers
                .iter()
                .flat_map(|layer| layer.adapters.iter().flat_map(Adapter::both))
                .collect();
        }
        self.weights()
    }

    /// All parameters except adapters.
    fn weights(&self) -> Vec<&Parameter> {
        let first = std::iter::once(&self.embedding);
        let layers = self.layers.iter().flat_map(|layer| layer.base.parameters());
        first.chain(layers).chain([&self.final_norm]).chain(&self.lm_head).collect()
    }

    /// Mutable [`Network::trained`].
    pub(super) fn trained_mut(&mut self) -> Vec<&mut Parameter> {
        if self.lora.is_some() {
            let adapters = self.layers.iter_mut().flat_map(|layer| &mut layer.adapters);
            return adapters.flat_map(Adapter::both_mut).collect();
        }
        let first = std::iter::once(&mut self.embedding);
        let layers = self.layers.iter_mut().flat_map(|layer| layer.base.parameters_mut());
        first.chain(layers).chain([&mut self.final_norm]).chain(&mut self.lm_head).collect()
    }

    /// Number of trained tensors per layer.
    pub(super) fn trained_per_layer(&self) -> usize {
        let layer = self.layers.first();
        layer.map_or(0, |layer| {
            if self.lora.is_some() { 2 * layer.adapters.len() } else { layer.base.parameters().len() }
        })
    }

    /// All tensors with their names in checkpoint files, adapters merged, in this precision.
    pub(super) fn named(&self, kind: Kind) -> Result<Vec<(String, Tensor)>, LearnError> {
        let mut all = Vec::new();
        for parameter in self.weights() {
            all.extend(parameter.split_named(&parameter.value().f_to_kind(kind)?)?);
        }
        let Some(lora) = &self.lora else { return Ok(all) };
        let mut merged_parts = HashMap::new();
        for layer in &self.layers {
            for (projection, adapter) in layer.base.projections().into_iter().zip(&layer.adapters) {
                let pair = adapter.both().map(|parameter| parameter.value().shallow_clone());
                let merged = merged(projection, &pair, lora)?.f_to_kind(kind)?;
                merged_parts.extend(projection.split_named(&merged)?);
            }
        }
        Ok(all
            .into_iter()
            .map(|(name, base)| {
                let tensor = merged_parts.remove(&name).unwrap_or(base);
                (name, tensor)
            })
            .collect())
    }

    /// Number of parameters, without adapters.
    pub(super) fn num_parameters(&self) -> usize {
        self.weights().iter().map(|parameter| parameter.value().numel()).sum()
    }
}

fn block(
    source: &mut TensorSource,
    config: &ModelConfig,
    layer: usize,
    kind: Kind,
) -> Result<Block<Parameter>, LearnError> {
    let (hidden_size, intermediate_size) = (config.hidden_size, config.intermediate_size);
    let (queries, keys) = (config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim);
    let named = |name: &str, rows: usize| (format!("model.layers.{layer}.{name}"), rows);
    let vector = |source: &mut TensorSource, name: &str, size: usize| {
        source.take(&[named(name, size)], None, Kind::Float)
    };
    let qkv = |end: &str| {
        [("q", queries), ("k", keys), ("v", keys)]
            .map(|(part, rows)| named(&format!("self_attn.{part}_proj.{end}"), rows))
    };
    let qkv_bias = if config.qkv_bias { Some(source.take(&qkv("bias"), None, kind)?) } else { None };
    let (mut q_norm, mut k_norm) = (None, None);
    if config.qk_norm {
        q_norm = Some(vector(source, "self_attn.q_norm.weight", config.head_dim)?);
        k_norm = Some(vector(source, "self_attn.k_norm.weight", config.head_dim)?);
    }
    let gate_up =
        [named("mlp.gate_proj.weight", intermediate_size), named("mlp.up_proj.weight", intermediate_size)];
    Ok(Block {
        input_norm: vector(source, "input_layernorm.weight", hidden_size)?,
        qkv: source.take(&qkv("weight"), Some(hidden_size), kind)?,
        qkv_bias,
        q_norm,
        k_norm,
        o_proj: source.take(&[named("self_attn.o_proj.weight", hidden_size)], Some(queries), kind)?,
        post_attention_norm: vector(source, "post_attention_layernorm.weight", hidden_size)?,
        gate_up: source.take(&gate_up, Some(hidden_size), kind)?,
        down_proj: source.take(
            &[named("mlp.down_proj.weight", hidden_size)],
            Some(intermediate_size),
            kind,
        )?,
    })
}
