//! The policy on libtorch: training, and checkpoints in the formats of transformers and PEFT.

use std::collections::HashMap;
use std::path::Path;

use aske_chat::Message;
use aske_model::{ChatTokenizer, EngineOptions, LlamaConfig, Provider, ProviderError};
use serde_json::{Map, Value, json};
use tch::{Device, Kind, Tensor, no_grad_guard};

use super::adamw::{AdamW, grad_norm};
use super::config::ModelConfig;
use super::files::{read_json, read_tensors, read_weights, write_tensors};
use super::gradient::loss_and_grad;
use super::network::Network;
use super::options::TorchOptions;
use super::parameter::Parameter;
use super::{all_finite, as_i64, parse_device, to_vec};
use crate::error::require_finite_weights;
use crate::files::{self, OPTIMIZER, STEPS, WEIGHTS, write_json};
use crate::serving::{CpuServing, TokenizerFiles};
use crate::{Batch, LearnError, Loss, Policy, StepStats, Weight, Weights};

const CONFIG: &str = "config.json";
const ADAPTERS: &str = "adapter_model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const TOKENIZER_CONFIG: &str = "tokenizer_config.json";

/// Files that are exported as they were read.
const COPIED_FILES: [&str; 9] = [
    TOKENIZER,
    TOKENIZER_CONFIG,
    "chat_template.jinja",
    "generation_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
];

/// A Llama, Qwen2 or Qwen3 checkpoint that is trained through libtorch.
pub struct TorchPolicy {
    config: Value,
    /// [`COPIED_FILES`] of the checkpoint.
    copied: Vec<(&'static str, Vec<u8>)>,
    prompts: Prompts,
    options: TorchOptions,
    network: Network,
    optimizer: AdamW,
}

/// How prompts are tokenized, and where replies are sampled.
enum Prompts {
    /// The policy has no tokenizer.
    None,
    /// Its own tokenizer; replies are sampled elsewhere.
    Tokenizer(Box<ChatTokenizer>),
    /// The CPU engine also samples, which suits networks of a few million parameters.
    Engine(Box<CpuServing>),
}

impl TorchPolicy {
    /// Reads a checkpoint folder of transformers: `config.json`, `model.safetensors` or its shards, `tokenizer.json`,
    /// `tokenizer_config.json` and, if present, `chat_template.jinja`.
    ///
    /// The device is `cpu`, `cuda` or `cuda:N`.
    pub fn from_folder(folder: &Path, device: &str, options: TorchOptions) -> Result<Self, LearnError> {
        let device = parse_device(device)?;
        Self::read(folder, device, compute_kind(device, &options), options)
    }

    /// Creates a policy without a tokenizer from weights in memory.
    pub fn new(
        config: &LlamaConfig,
        weights: &Weights,
        device: &str,
        options: TorchOptions,
    ) -> Result<Self, LearnError> {
        let device = parse_device(device)?;
        Self::from_weights(config, weights, device, compute_kind(device, &options), options)
    }

    fn from_weights(
        config: &LlamaConfig,
        weights: &Weights,
        device: Device,
        kind: Kind,
        options: TorchOptions,
    ) -> Result<Self, LearnError> {
        weights.check(config)?;
        let config =
            serde_json::to_value(config).map_err(|error| LearnError::library("serde_json", error))?;
        let mut tensors = HashMap::new();
        for Weight { name, shape, data } in weights {
            let shape: Vec<i64> = shape.iter().map(|size| as_i64(*size)).collect();
            let tensor = Tensor::f_from_slice(data)?.f_view(shape.as_slice())?.f_to_device(device)?;
            tensors.insert(name.clone(), tensor);
        }
        Self::build(config, tensors, device, kind, options)
    }

    fn read(folder: &Path, device: Device, kind: Kind, options: TorchOptions) -> Result<Self, LearnError> {
        let config = read_json(&folder.join(CONFIG))?;
        // An unsupported architecture is reported before anything else is read.
        ModelConfig::read(&config)?;
        let mut copied = Vec::new();
        for name in COPIED_FILES.into_iter().filter(|name| folder.join(name).is_file()) {
            copied.push((name, files::read(&folder.join(name))?));
        }
        let tokenizer =
            ChatTokenizer::from_folder(folder).map_err(|error| LearnError::Weights(error.to_string()))?;
        let policy = Self::build(config, read_weights(folder, device)?, device, kind, options)?;
        Ok(Self { copied, prompts: Prompts::Tokenizer(Box::new(tokenizer)), ..policy })
    }

    fn build(
        config: Value,
        tensors: HashMap<String, Tensor>,
        device: Device,
        kind: Kind,
        options: TorchOptions,
    ) -> Result<Self, LearnError> {
        if options.optimizer.ema_decay.is_some() && options.lora.is_some() {
            return Err(LearnError::Weights("adapters have no moving average".to_owned()));
        }
        let network = Network::new(
            ModelConfig::read(&config)?,
            tensors,
            kind,
            device,
            options.untie_head,
            options.lora,
        )?;
        let optimizer = AdamW::new(&network.trained(), options.optimizer, options.offload_optimizer)?;
        Ok(Self { config, copied: Vec::new(), prompts: Prompts::None, options, network, optimizer })
    }

    /// Adds a tokenizer, if there is one, to a small network, which is then sampled on the CPU.
    pub(crate) fn with_tokenizer(
        mut self,
        tokenizer: Option<(TokenizerFiles, EngineOptions)>,
    ) -> Result<Self, LearnError> {
        let Some((files, engine)) = tokenizer else { return Ok(self) };
        self.copied =
            vec![(TOKENIZER, files.tokenizer.clone()), (TOKENIZER_CONFIG, files.tokenizer_config.clone())];
        let serving = CpuServing::new(&self.llama_config()?, &self.weights()?, files, engine)?;
        self.prompts = Prompts::Engine(Box::new(serving));
        Ok(self)
    }

    /// Sets variables of the chat template of a checkpoint, such as `enable_thinking`.
    #[must_use]
    pub fn with_chat_template_kwargs(self, variables: Map<String, Value>) -> Self {
        let prompts = match self.prompts {
            Prompts::Tokenizer(tokenizer) => {
                Prompts::Tokenizer(Box::new(tokenizer.with_template_variables(variables)))
            }
            other => other,
        };
        Self { prompts, ..self }
    }

    /// Starts from adapters in a PEFT folder; requires [`TorchOptions::lora`].
    pub fn with_adapters(mut self, folder: &Path) -> Result<Self, LearnError> {
        let (found, _) = read_tensors(&folder.join(ADAPTERS), Device::Cpu)?;
        self.replace(|name| found.get(name).map(Tensor::shallow_clone))?;
        Ok(self)
    }

    /// Number of parameters, without adapters.
    pub fn num_parameters(&self) -> usize {
        self.network.num_parameters()
    }

    /// Floating-point operations of one step per token at this sequence length: six per multiplied weight (Kaplan et al.
    /// 2020), plus causal attention. Recomputation is not counted.
    pub fn flops_per_token(&self, length: usize) -> f64 {
        let config = &self.network.config;
        let embedding = config.vocab_size * config.hidden_size;
        // An embedding that is not tied to the head is only looked up.
        let multiplied = self.num_parameters() - if self.network.is_tied() { 0 } else { embedding };
        let attention = config.num_layers * config.num_heads * config.head_dim * length;
        6.0 * multiplied as f64 + 6.0 * attention as f64
    }

    /// Computes the loss of the batches without a step.
    pub fn evaluate(&self, batches: &[Batch], loss: Loss) -> Result<StepStats, LearnError> {
        loss_and_grad(&self.network, batches, loss, true, false)?.0.stats.finish(0.0, f64::INFINITY)
    }

    /// The log-probabilities of all targets, in the order of the batches.
    pub fn logprobs(&self, batches: &[Batch], loss: Loss) -> Result<Vec<f32>, LearnError> {
        Ok(loss_and_grad(&self.network, batches, loss, true, false)?.0.logprobs)
    }

    /// The gradient of all batches together, for every trained parameter.
    pub fn gradient(&self, batches: &[Batch], loss: Loss) -> Result<Weights, LearnError> {
        let (_, gradients) = loss_and_grad(&self.network, batches, loss, self.options.recompute, true)?;
        to_weights(split_named(&self.network.trained(), "", |at, _| &gradients.all[at])?)
    }

    /// The configuration as the CPU engine reads it.
    fn llama_config(&self) -> Result<LlamaConfig, LearnError> {
        let mut config = self.config.clone();
        config["tie_word_embeddings"] = json!(self.network.is_tied());
        serde_json::from_value(config).map_err(|error| LearnError::UnsupportedArchitecture(error.to_string()))
    }

    /// Replaces all trained parameters, or none if one is missing.
    fn replace(&mut self, find: impl Fn(&str) -> Option<Tensor>) -> Result<(), LearnError> {
        let mut values = Vec::new();
        for parameter in self.network.trained() {
            values.push(parameter.concat_named(&find)?);
        }
        for (parameter, value) in self.network.trained_mut().into_iter().zip(values) {
            parameter.update(|old| {
                *old = value;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes all weights, the configuration and the tokenizer.
    fn write(&self, folder: &Path, bf16: bool) -> Result<(), LearnError> {
        let mut config = self.config.clone();
        config["tie_word_embeddings"] = json!(self.network.is_tied());
        let key = if config.get("dtype").is_some() { "dtype" } else { "torch_dtype" };
        config[key] = json!(if bf16 { "bfloat16" } else { "float32" });
        write_json(&folder.join(CONFIG), &config)?;
        for (name, bytes) in &self.copied {
            files::write(&folder.join(name), bytes)?;
        }
        let tensors = self.network.named(if bf16 { Kind::BFloat16 } else { Kind::Float })?;
        write_tensors(&folder.join(WEIGHTS), tensors, &[("format", "pt".to_owned())])
    }

    /// Writes the adapters in PEFT's format.
    fn write_adapters(&self, folder: &Path) -> Result<(), LearnError> {
        let Some(lora) = &self.network.lora else { return Ok(()) };
        let config = json!({
            "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": lora.rank, "lora_alpha": lora.alpha,
            "lora_dropout": 0.0, "bias": "none", "base_model_name_or_path": null,
            "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        });
        write_json(&folder.join("adapter_config.json"), &config)?;
        let tensors = split_named(&self.network.trained(), "", |_, parameter| parameter.value())?;
        write_tensors(&folder.join(ADAPTERS), tensors, &[("format", "pt".to_owned())])
    }
}

impl Policy for TorchPolicy {
    fn serve(&self, version: u64) -> Result<Box<dyn Provider>, LearnError> {
        match &self.prompts {
            Prompts::None => Err(LearnError::NoTokenizer),
            Prompts::Tokenizer(_) => Err(LearnError::NoSampler),
            Prompts::Engine(serving) => serving.serve(&self.llama_config()?, &self.weights()?, version),
        }
    }

    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        match &self.prompts {
            Prompts::None => Err(LearnError::NoTokenizer.into()),
            Prompts::Tokenizer(tokenizer) => tokenizer.prompt(messages),
            Prompts::Engine(serving) => serving.prompt(messages),
        }
    }

    fn step(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        learning_rate: f64,
        abort_grad_norm: f64,
    ) -> Result<StepStats, LearnError> {
        let (evaluation, gradients) =
            loss_and_grad(&self.network, batches, loss, self.options.recompute, true)?;
        let _no_grad = no_grad_guard();
        let grad_norm = grad_norm(&gradients.all)?;
        let stats = evaluation.stats.finish(grad_norm, abort_grad_norm)?;
        self.optimizer.step(self.network.trained_mut(), gradients.all, grad_norm, learning_rate)?;
        Ok(stats)
    }

    fn check_finite(&self) -> Result<(), LearnError> {
        for parameter in self.network.trained() {
            require_finite_weights(all_finite(parameter.value())?)?;
        }
        self.optimizer.check_finite()
    }

    fn weights(&self) -> Result<Weights, LearnError> {
        let _no_grad = no_grad_guard();
        to_weights(match &self.optimizer.ema {
            Some(ema) => split_named(&self.network.trained(), "", |at, _| &ema[at])?,
            None => self.network.named(Kind::Float)?,
        })
    }

    fn export(&self, folder: &Path) -> Result<(), LearnError> {
        let _no_grad = no_grad_guard();
        self.write(folder, self.options.export_bf16)
    }

    fn save_checkpoint(&self, folder: &Path) -> Result<(), LearnError> {
        let _no_grad = no_grad_guard();
        match self.network.lora {
            Some(_) => self.write_adapters(folder)?,
            None => self.write(folder, false)?,
        }
        let trained = self.network.trained();
        let mut tensors = split_named(&trained, "first.", |at, _| &self.optimizer.moments[at][0])?;
        tensors.extend(split_named(&trained, "second.", |at, _| &self.optimizer.moments[at][1])?);
        let metadata = [(STEPS, self.optimizer.steps.to_string())];
        write_tensors(&folder.join(OPTIMIZER), tensors, &metadata)
    }

    fn load_checkpoint(&mut self, folder: &Path) -> Result<(), LearnError> {
        let _no_grad = no_grad_guard();
        let (state, metadata) = read_tensors(&folder.join(OPTIMIZER), self.network.device)?;
        let steps = files::optimizer_steps(Some(&metadata))?;
        let mut moments = Vec::new();
        for parameter in self.network.trained() {
            let moment = |which: &str| {
                parameter
                    .concat_named(|name| state.get(&format!("{which}.{name}")).map(Tensor::shallow_clone))
            };
            let device = self.optimizer.device(parameter);
            moments.push([moment("first")?.f_to_device(device)?, moment("second")?.f_to_device(device)?]);
        }
        let file = if self.network.lora.is_some() { ADAPTERS } else { WEIGHTS };
        let (found, _) = read_tensors(&folder.join(file), self.network.device)?;
        self.replace(|name| found.get(name).map(Tensor::shallow_clone))?;
        let TorchOptions { optimizer, offload_optimizer, .. } = self.options;
        self.optimizer = AdamW::new(&self.network.trained(), optimizer, offload_optimizer)?;
        (self.optimizer.steps, self.optimizer.moments) = (steps, moments);
        Ok(())
    }

    fn max_sequence_length(&self) -> usize {
        self.network.config.max_position_embeddings
    }
}

/// The compute precision: bfloat16 on a GPU, unless single precision is asked for.
fn compute_kind(device: Device, options: &TorchOptions) -> Kind {
    if device.is_cuda() && !options.full_precision { Kind::BFloat16 } else { Kind::Float }
}

/// One tensor per parameter, split into its parts, with a prefix before their names.
fn split_named<'t>(
    trained: &[&'t Parameter],
    prefix: &str,
    tensor: impl Fn(usize, &'t Parameter) -> &'t Tensor,
) -> Result<Vec<(String, Tensor)>, LearnError> {
    let mut all = Vec::new();
    for (at, parameter) in trained.iter().enumerate() {
        let parts = parameter.split_named(tensor(at, parameter))?;
        all.extend(parts.into_iter().map(|(name, part)| (format!("{prefix}{name}"), part)));
    }
    Ok(all)
}

/// Copies named tensors to the host.
fn to_weights(tensors: Vec<(String, Tensor)>) -> Result<Weights, LearnError> {
    let mut all = Vec::new();
    for (name, tensor) in tensors {
        let shape = tensor.size().into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
        all.push(Weight { name, shape, data: to_vec(&tensor.f_to_kind(Kind::Float)?)? });
    }
    Ok(Weights::from_tensors(all))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tch::{Device, Kind};

    use super::{TorchOptions, TorchPolicy};
    use crate::torch::Lora;
    use crate::{Batch, Loss, Policy};

    #[test]
    fn a_head_in_chunks_gives_the_gradient_of_the_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch_policy/qwen2");
        let mut policy =
            TorchPolicy::read(&folder, Device::Cpu, Kind::Float, TorchOptions::default()).unwrap();
        let tokens: Vec<u32> = (0..36).map(|at| 3 + at * at % 47).collect();
        let weights = (0..36).map(|at: i16| f32::from(at % 5 - 2) / 9.0).collect();
        let batch = [Batch { lengths: vec![18; 2], tokens, weights, old_logprobs: vec![-3.0; 36] }];
        let loss = Loss::Cispo { low: 0.75, high: 3.0 };
        let (stats, grads) = (policy.evaluate(&batch, loss).unwrap(), policy.gradient(&batch, loss).unwrap());
        // Five targets of 52 logits: seven chunks, the last one short.
        policy.network.max_logits = 5 * 52 + 3;
        let again = policy.evaluate(&batch, loss).unwrap();
        assert_eq!(again.tokens, stats.tokens);
        assert!((again.loss - stats.loss).abs() < 1e-5 && (again.entropy - stats.entropy).abs() < 1e-5);
        for (one, other) in grads.iter().zip(&policy.gradient(&batch, loss).unwrap()) {
            for (one, other) in one.data.iter().zip(&other.data) {
                assert!((one - other).abs() < 1e-4, "{one} {other}");
            }
        }
    }

    /// Emulates a GPU on the CPU: products in bfloat16, everything else in single precision.
    #[test]
    #[ignore = "some virtual machines announce AMX and cannot run it: set ONEDNN_MAX_CPU_ISA=AVX2"]
    fn half_precision_learns_nearly_the_same() {
        let loss = Loss::Cispo { low: 0.75, high: 3.0 };
        for (model, lora) in [("llama", None), ("qwen2", Some(Lora::default())), ("qwen3", None)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch_policy").join(model);
            let options = TorchOptions { lora, ..TorchOptions::default() };
            let read = |kind| TorchPolicy::read(&folder, Device::Cpu, kind, options).unwrap();
            let (full, mut half) = (read(Kind::Float), read(Kind::BFloat16));
            let mut random = fastrand::Rng::with_seed(4);
            let mut batches = Vec::new();
            for at in 0..8 {
                let tokens: Vec<u32> = (0..30 + at).map(|_| random.u32(3..50)).collect();
                let sign = if at % 2 == 0 { 0.01 } else { -0.01 };
                let weights = vec![sign; tokens.len()];
                let mut batch =
                    Batch { lengths: vec![tokens.len()], tokens, weights, old_logprobs: Vec::new() };
                let old = full.logprobs(std::slice::from_ref(&batch), Loss::Likelihood).unwrap();
                batch.old_logprobs = std::iter::once(f32::NAN).chain(old).collect();
                batches.push(batch);
            }
            let stats = half.evaluate(&batches, loss).unwrap();
            let near = (stats.mean_ratio - 1.0).abs() < 0.01 && stats.mean_abs_log_ratio < 0.02;
            assert!(near, "{model}: {stats:?}");
            // Eight bits of precision: a part in 256, through a few layers.
            let grads = (full.gradient(&batches, loss).unwrap(), half.gradient(&batches, loss).unwrap());
            let (mut dot, mut one, mut other) = (0.0_f64, 0.0_f64, 0.0_f64);
            for (full, half) in grads.0.iter().zip(&grads.1) {
                for (full, half) in full.data.iter().zip(&half.data) {
                    let (full, half) = (f64::from(*full), f64::from(*half));
                    (dot, one, other) = (dot + full * half, one + full * full, other + half * half);
                }
            }
            let cosine = dot / (one * other).sqrt();
            println!("{model}: {stats:?}, cosine of gradients {cosine}");
            assert!(cosine > 0.99, "{model}: {cosine}");
            // Of the ratios themselves, which is what a step should raise and lower.
            let plain = Loss::Surrogate { low: 1.0, high: 99.0 };
            let before = half.evaluate(&batches, plain).unwrap().loss;
            half.step(&batches, loss, 1e-3, f64::INFINITY).unwrap();
            assert!(half.evaluate(&batches, plain).unwrap().loss < before);
        }
    }

    /// The same for supervised learning of a small network, as in the nano recipe.
    #[test]
    #[ignore = "some virtual machines announce AMX and cannot run it: set ONEDNN_MAX_CPU_ISA=AVX2"]
    fn half_precision_learns_a_small_network_nearly_the_same() {
        let text = include_str!("../../tests/learning/tiny.json");
        let config: aske_model::LlamaConfig = serde_json::from_str(text).unwrap();
        let start = crate::Weights::random(&config, 3);
        let new = |kind| {
            TorchPolicy::from_weights(&config, &start, Device::Cpu, kind, TorchOptions::small_network())
                .unwrap()
        };
        let (mut full, mut half) = (new(Kind::Float), new(Kind::BFloat16));
        let tokens: Vec<u32> = (0..64).map(|at| at * at % 11).collect();
        let batch = Batch { lengths: vec![16; 4], tokens, weights: vec![1.0; 64], old_logprobs: Vec::new() };
        let train = |policy: &mut TorchPolicy| {
            let (mut loss, mut norm) = (0.0, 0.0);
            for _ in 0..30 {
                let batch = std::slice::from_ref(&batch);
                let stats = policy.step(batch, Loss::Likelihood, 3e-3, f64::INFINITY).unwrap();
                (loss, norm) = (loss + stats.loss / 30.0, norm + stats.grad_norm / 30.0);
            }
            (loss, norm)
        };
        let (full, half) = (train(&mut full), train(&mut half));
        assert!(full.0 < 2.0, "{full:?}");
        // Eight bits of precision: a part in 256, and a little for thirty steps of drift.
        assert!((full.0 / half.0 - 1.0).abs() < 0.02, "{full:?} {half:?}");
        assert!((full.1 / half.1 - 1.0).abs() < 0.05, "{full:?} {half:?}");
    }
}
