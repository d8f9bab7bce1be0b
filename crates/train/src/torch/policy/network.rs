//! The weights of a network on a device, and what of them is trained.

use std::collections::HashMap;

use tch::{Device, Kind, Tensor};

use super::block::Block;
use super::lora::{Adapter, merged};
use super::options::Lora;
use super::parameter::Parameter;
use super::rotary;
use super::shape::Shape;
use crate::LearnError;
use crate::torch::network::whole;

const EMBEDDING: &str = "model.embed_tokens.weight";
const NORM: &str = "model.norm.weight";
const HEAD: &str = "lm_head.weight";

/// Logits that exist at once: half a gigabyte.
const LOGITS_AT_ONCE: i64 = 1 << 27;

/// A network that can be trained.
pub(super) struct Network {
    pub(super) shape: Shape,
    pub(super) device: Device,
    /// How quickly each pair of a head turns.
    pub(super) speeds: Tensor,
    pub(super) lora: Option<Lora>,
    /// How many logits may exist at once, in learning.
    pub(super) logits_at_once: i64,
    embedding: Parameter,
    layers: Vec<Layer>,
    norm: Parameter,
    /// Where it is not the embedding.
    head: Option<Parameter>,
}

struct Layer {
    base: Block<Parameter>,
    /// One for each matrix of the layer, where adapters are trained and nothing else.
    adapters: Vec<Adapter>,
}

/// The weights at one moment, in the precision of products; later steps do not change them.
pub(super) struct Snapshot {
    pub(super) shape: Shape,
    pub(super) device: Device,
    pub(super) kind: Kind,
    pub(super) speeds: Tensor,
    pub(super) embedding: Tensor,
    pub(super) blocks: Vec<Block<Tensor>>,
    pub(super) norm: Tensor,
    /// In single precision.
    pub(super) head: Tensor,
}

/// Takes tensors out of what a checkpoint holds.
struct Supply {
    all: HashMap<String, Tensor>,
    trained: bool,
}

impl Supply {
    /// The tensors of these names and rows below each other; `columns` is absent for a row of numbers.
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
            let shape: Vec<i64> = [Some(*rows), columns].into_iter().flatten().map(whole).collect();
            if tensor.size() != shape {
                let told = tensor.size();
                return Err(LearnError::Weights(format!("{name} has shape {told:?}, should be {shape:?}")));
            }
            tensors.push(tensor);
        }
        let value = if tensors.len() == 1 { tensors.remove(0) } else { Tensor::f_cat(&tensors, 0)? };
        Parameter::new(parts.to_vec(), value, kind, self.trained)
    }
}

impl Network {
    /// Places a checkpoint's tensors; `kind` is what matrices are multiplied in.
    ///
    /// `untied` gives the network a head of its own, but not where only adapters are trained.
    pub(super) fn new(
        shape: Shape,
        all: HashMap<String, Tensor>,
        kind: Kind,
        device: Device,
        untied: bool,
        lora: Option<Lora>,
    ) -> Result<Self, LearnError> {
        let mut supply = Supply { all, trained: lora.is_none() };
        let (width, vocabulary) = (shape.width, shape.vocabulary);
        supply.all.retain(|name, _| !name.ends_with("rotary_emb.inv_freq"));
        let own = !shape.tied || (untied && lora.is_none());
        match supply.all.get(EMBEDDING) {
            Some(embedding) if shape.tied && own => {
                let start = embedding.f_to_kind(Kind::Float)?.f_detach_copy()?;
                supply.all.insert(HEAD.to_owned(), start);
            }
            Some(embedding) if !own => {
                // It is also the head, and that is in single precision.
                let exact = embedding.f_to_kind(Kind::Float)?;
                supply.all.insert(EMBEDDING.to_owned(), exact);
                supply.all.remove(HEAD);
            }
            _ => {}
        }
        let embedding = supply.take(&[(EMBEDDING.to_owned(), vocabulary)], Some(width), kind)?;
        let mut layers = Vec::new();
        for index in 0..shape.layers {
            let base = block(&mut supply, &shape, index, kind)?;
            let adapters = match &lora {
                Some(lora) => Adapter::all(&base, lora, index)?,
                None => Vec::new(),
            };
            layers.push(Layer { base, adapters });
        }
        let norm = supply.take(&[(NORM.to_owned(), width)], None, Kind::Float)?;
        let mut head = None;
        if own {
            head = Some(supply.take(&[(HEAD.to_owned(), vocabulary)], Some(width), Kind::Float)?);
        }
        if let Some(name) = supply.all.into_keys().min() {
            return Err(LearnError::Weights(format!("{name} is not part of the network")));
        }
        let speeds = rotary::placed(&shape.rotary, shape.head, device)?;
        Ok(Self {
            shape,
            device,
            speeds,
            lora,
            logits_at_once: LOGITS_AT_ONCE,
            embedding,
            layers,
            norm,
            head,
        })
    }

    /// The head is the embedding.
    pub(super) fn is_tied(&self) -> bool {
        self.head.is_none()
    }

    /// What tokens become.
    pub(super) fn embedding(&self) -> &Tensor {
        self.embedding.used()
    }

    /// The last norm's scale.
    pub(super) fn norm(&self) -> &Parameter {
        &self.norm
    }

    /// The head in single precision.
    pub(super) fn head(&self) -> &Tensor {
        self.head.as_ref().map_or(self.embedding.value(), Parameter::used)
    }

    /// A layer, and the leaves of its graph in the order of [`Network::trained`].
    pub(super) fn open(&self, layer: usize) -> Result<(Block<Tensor>, Vec<Tensor>), LearnError> {
        let Layer { base, adapters } = &self.layers[layer];
        if adapters.is_empty() {
            let block = base.map(Parameter::leaf)?;
            let leaves = block.all().into_iter().map(Tensor::shallow_clone).collect();
            return Ok((block, leaves));
        }
        let mut leaves = Vec::new();
        for parameter in adapters.iter().flat_map(Adapter::both) {
            leaves.push(parameter.leaf()?);
        }
        Ok((self.with_adapters(base, &leaves)?, leaves))
    }

    /// A layer outside any graph.
    pub(super) fn closed(&self, layer: usize) -> Result<Block<Tensor>, LearnError> {
        let Layer { base, adapters } = &self.layers[layer];
        if adapters.is_empty() {
            return base.map(|parameter| Ok(parameter.used().shallow_clone()));
        }
        let both = adapters.iter().flat_map(Adapter::both);
        let now: Vec<Tensor> = both.map(|parameter| parameter.used().shallow_clone()).collect();
        self.with_adapters(base, &now)
    }

    /// A layer whose adapters are part of its matrices, so that learning and sampling multiply the same numbers.
    fn with_adapters(
        &self,
        base: &Block<Parameter>,
        adapters: &[Tensor],
    ) -> Result<Block<Tensor>, LearnError> {
        let lora = self.lora.unwrap_or_default();
        let block = base.map(|parameter| Ok(parameter.used().shallow_clone()))?;
        let mut matrices = Vec::new();
        for (matrix, pair) in base.matrices().into_iter().zip(adapters.as_chunks::<2>().0) {
            matrices.push(merged(matrix, pair, &lora)?.f_to_kind(matrix.used().f_kind()?)?);
        }
        let matrices = <[Tensor; 4]>::try_from(matrices)
            .map_err(|_| LearnError::Weights("a layer lacks some of its adapters".to_owned()))?;
        Ok(block.with_matrices(matrices))
    }

    /// What is trained: embedding, layers, norm and head; or adapters, layer by layer.
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

    /// Every weight but adapters.
    fn weights(&self) -> Vec<&Parameter> {
        let first = std::iter::once(&self.embedding);
        let layers = self.layers.iter().flat_map(|layer| layer.base.all());
        first.chain(layers).chain([&self.norm]).chain(&self.head).collect()
    }

    /// The same to change.
    pub(super) fn trained_mut(&mut self) -> Vec<&mut Parameter> {
        if self.lora.is_some() {
            let adapters = self.layers.iter_mut().flat_map(|layer| &mut layer.adapters);
            return adapters.flat_map(Adapter::both_mut).collect();
        }
        let first = std::iter::once(&mut self.embedding);
        let layers = self.layers.iter_mut().flat_map(|layer| layer.base.all_mut());
        first.chain(layers).chain([&mut self.norm]).chain(&mut self.head).collect()
    }

    /// How many tensors of a layer are trained.
    pub(super) fn trained_per_layer(&self) -> usize {
        let layer = self.layers.first();
        layer.map_or(
            0,
            |layer| if self.lora.is_some() { 2 * layer.adapters.len() } else { layer.base.all().len() },
        )
    }

    /// Every tensor under its name in files, adapters merged; in single precision where it is trained.
    pub(super) fn named(&self) -> Result<Vec<(String, Tensor)>, LearnError> {
        let mut all = Vec::new();
        for parameter in self.weights() {
            all.extend(parameter.named(parameter.value())?);
        }
        let Some(lora) = &self.lora else { return Ok(all) };
        let mut changed = HashMap::new();
        for layer in &self.layers {
            for (matrix, adapter) in layer.base.matrices().into_iter().zip(&layer.adapters) {
                let now = adapter.both().map(|parameter| parameter.value().shallow_clone());
                changed.extend(matrix.named(&merged(matrix, &now, lora)?)?);
            }
        }
        Ok(all
            .into_iter()
            .map(|(name, was)| changed.remove(&name).map_or((name.clone(), was), |is| (name, is)))
            .collect())
    }

    /// The weights as they are now.
    pub(super) fn snapshot(&self) -> Result<Snapshot, LearnError> {
        let mut blocks = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let plain = layer.adapters.is_empty();
            blocks.push(if plain { layer.base.map(Parameter::kept)? } else { self.closed(index)? });
        }
        let head = self.head.as_ref().unwrap_or(&self.embedding).kept_value()?;
        Ok(Snapshot {
            shape: self.shape.clone(),
            device: self.device,
            kind: self.embedding.used().f_kind()?,
            speeds: self.speeds.shallow_clone(),
            embedding: self.embedding.kept()?,
            blocks,
            norm: self.norm.kept()?,
            head: head.f_to_kind(Kind::Float)?,
        })
    }

    /// How many numbers the network has, without adapters.
    pub(super) fn size(&self) -> usize {
        self.weights().iter().map(|parameter| parameter.value().numel()).sum()
    }
}

fn block(
    supply: &mut Supply,
    shape: &Shape,
    layer: usize,
    kind: Kind,
) -> Result<Block<Parameter>, LearnError> {
    let (width, inner) = (shape.width, shape.inner);
    let (queries, keys) = (shape.heads * shape.head, shape.shared * shape.head);
    let named = |name: &str, rows: usize| (format!("model.layers.{layer}.{name}"), rows);
    let row =
        |supply: &mut Supply, name: &str, size: usize| supply.take(&[named(name, size)], None, Kind::Float);
    let all = |end: &str| {
        [("q", queries), ("k", keys), ("v", keys)]
            .map(|(part, rows)| named(&format!("self_attn.{part}_proj.{end}"), rows))
    };
    let bias = if shape.bias { Some(supply.take(&all("bias"), None, kind)?) } else { None };
    let (mut query_norm, mut key_norm) = (None, None);
    if shape.head_norms {
        query_norm = Some(row(supply, "self_attn.q_norm.weight", shape.head)?);
        key_norm = Some(row(supply, "self_attn.k_norm.weight", shape.head)?);
    }
    let pair = [named("mlp.gate_proj.weight", inner), named("mlp.up_proj.weight", inner)];
    Ok(Block {
        input_norm: row(supply, "input_layernorm.weight", width)?,
        queries_keys_values: supply.take(&all("weight"), Some(width), kind)?,
        bias,
        query_norm,
        key_norm,
        output: supply.take(&[named("self_attn.o_proj.weight", width)], Some(queries), kind)?,
        inner_norm: row(supply, "post_attention_layernorm.weight", width)?,
        gate_up: supply.take(&pair, Some(width), kind)?,
        down: supply.take(&[named("mlp.down_proj.weight", width)], Some(inner), kind)?,
    })
}
