//! The policy itself: a checkpoint that writes, learns, and is saved.

use std::path::Path;
use std::sync::Arc;

use aske_chat::Message;
use aske_model::{ChatTokenizer, Provider, ProviderError};
use serde_json::{Value, json};
use tch::{Device, Kind, Tensor, no_grad_guard};

use super::adam::{Adam, norm};
use super::files::{WEIGHTS, read as read_file, read_json, read_tensors, read_weights, write, write_tensors};
use super::network::Network;
use super::options::TorchOptions;
use super::parameter::Parameter;
use super::pass::slope;
use super::serve::Served;
use super::shape::{Shape, tokens};
use super::worker::Limits;
use crate::learner::Numbers;
use crate::torch::{all_finite, device_named};
use crate::{Batch, LearnError, Loss, Policy, Reinforced, Weight};

const CONFIG: &str = "config.json";
const GENERATION: &str = "generation_config.json";
const ADAPTERS: &str = "adapter_model.safetensors";
const OPTIMISER: &str = "optimizer.safetensors";
const STEPS: &str = "steps";

/// Files that are saved as they were read, where there are any.
const OTHERS: [&str; 9] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    GENERATION,
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
];

/// A Llama, Qwen2 or Qwen3 checkpoint that writes and learns.
pub struct TorchPolicy {
    config: Value,
    others: Vec<(&'static str, Vec<u8>)>,
    vocabulary: Arc<ChatTokenizer>,
    options: TorchOptions,
    network: Network,
    adam: Adam,
}

impl TorchPolicy {
    /// Reads a folder as transformers writes it: `config.json`, `model.safetensors` or its parts,
    /// `tokenizer.json`, `tokenizer_config.json` and, where there is one, `chat_template.jinja`.
    ///
    /// The device is `cpu`, `cuda` or `cuda:N`.
    pub fn from_folder(folder: &Path, device: &str, options: TorchOptions) -> Result<Self, LearnError> {
        let device = device_named(device)?;
        let exact = !device.is_cuda() || options.optimiser.exact;
        Self::read(folder, device, if exact { Kind::Float } else { Kind::BFloat16 }, options)
    }

    /// The same; `kind` is what matrices are multiplied in.
    fn read(folder: &Path, device: Device, kind: Kind, options: TorchOptions) -> Result<Self, LearnError> {
        if options.optimiser.average.is_some() {
            return Err(LearnError::Weights("a policy keeps no moving average of its weights".to_owned()));
        }
        let config = read_json(&folder.join(CONFIG))?;
        let shape = Shape::read(&config)?;
        let mut others = Vec::new();
        for name in OTHERS.into_iter().filter(|name| folder.join(name).is_file()) {
            others.push((name, read_file(&folder.join(name))?));
        }
        let mut ends = tokens(&config, "eos_token_id");
        if folder.join(GENERATION).is_file() {
            ends.extend(tokens(&read_json(&folder.join(GENERATION))?, "eos_token_id"));
        }
        let vocabulary = ChatTokenizer::from_folder(folder, shape.vocabulary, &ends)
            .map_err(|error| LearnError::Weights(error.to_string()))?;
        let all = read_weights(folder, device)?;
        let network = Network::new(shape, all, kind, device, options.untied, options.lora)?;
        let adam = Adam::new(&network.trained(), options.optimiser)?;
        Ok(Self { config, others, vocabulary: Arc::new(vocabulary), options, network, adam })
    }

    /// Starts from the adapters in a folder as PEFT writes it; needs [`TorchOptions::lora`].
    pub fn with_adapters(mut self, folder: &Path) -> Result<Self, LearnError> {
        let (found, _) = read_tensors(&folder.join(ADAPTERS), Device::Cpu)?;
        self.replace(|name| found.get(name).map(Tensor::shallow_clone))?;
        Ok(self)
    }

    /// The tokens and the chat template.
    pub fn vocabulary(&self) -> &ChatTokenizer {
        &self.vocabulary
    }

    /// How many numbers the network has; adapters are not counted.
    pub fn parameters(&self) -> usize {
        self.network.size()
    }

    /// Additions and multiplications of one step over texts of this length, per token: six for each weight that
    /// is multiplied (Kaplan et al. 2020), and those of causal attention. Work done twice is counted once.
    pub fn work_per_token(&self, length: usize) -> f64 {
        let shape = &self.network.shape;
        let table = shape.vocabulary * shape.width;
        // A head of its own is multiplied and the embedding is not; a shared one is.
        let multiplied = self.network.size() - if self.network.is_tied() { 0 } else { table };
        let attention = shape.layers * shape.heads * shape.head * length;
        6.0 * multiplied as f64 + 6.0 * attention as f64
    }

    /// What the current weights make of these batches, without a step.
    pub fn score(&self, batches: &[Batch], loss: Loss) -> Result<Reinforced, LearnError> {
        slope(&self.network, batches, loss, true, false)?.0.sums.told(0.0, f64::INFINITY)
    }

    /// The log-probabilities, under the current weights, of all tokens that count, in the order of the batches.
    pub fn logprobs(&self, batches: &[Batch], loss: Loss) -> Result<Vec<f32>, LearnError> {
        Ok(slope(&self.network, batches, loss, true, false)?.0.logps)
    }

    /// The gradient of all these batches together, by everything that is trained.
    pub fn gradient(&self, batches: &[Batch], loss: Loss) -> Result<Vec<Weight>, LearnError> {
        let (_, gradients) = slope(&self.network, batches, loss, self.options.recompute, true)?;
        let mut all = Vec::new();
        for (parameter, gradient) in self.network.trained().into_iter().zip(&gradients.all) {
            for (name, part) in parameter.named(gradient)? {
                let part = part.f_to_device(Device::Cpu)?.f_contiguous()?;
                let mut data = vec![0.0; part.numel()];
                part.f_copy_data(&mut data, part.numel())?;
                let shape = part.size().into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
                all.push(Weight { name, shape, data });
            }
        }
        Ok(all)
    }

    /// Puts other numbers in the place of everything that is trained; all or nothing.
    fn replace(&mut self, find: impl Fn(&str) -> Option<Tensor>) -> Result<(), LearnError> {
        let mut values = Vec::new();
        for parameter in self.network.trained() {
            values.push(parameter.gathered(&find)?);
        }
        for (parameter, value) in self.network.trained_mut().into_iter().zip(values) {
            parameter.change(|old| {
                *old = value;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes every weight and all that goes with them.
    fn write(&self, folder: &Path, half: bool) -> Result<(), LearnError> {
        let mut config = self.config.clone();
        config["tie_word_embeddings"] = json!(self.network.is_tied());
        let dtype = if half { "bfloat16" } else { "float32" };
        let newer = config.get("dtype").is_some();
        config[if newer { "dtype" } else { "torch_dtype" }] = json!(dtype);
        write_json(&folder.join(CONFIG), &config)?;
        for (name, bytes) in &self.others {
            write(&folder.join(name), bytes)?;
        }
        let format = [("format", "pt".to_owned())];
        write_tensors(&folder.join(WEIGHTS), &self.network.named()?, half, &format)
    }

    /// Writes the adapters as PEFT does.
    fn write_adapters(&self, folder: &Path) -> Result<(), LearnError> {
        let Some(lora) = &self.network.lora else { return Ok(()) };
        let described = json!({
            "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": lora.rank, "lora_alpha": lora.alpha,
            "lora_dropout": 0.0, "bias": "none", "base_model_name_or_path": null,
            "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        });
        write_json(&folder.join("adapter_config.json"), &described)?;
        let tensors = named(&self.network.trained(), "", |_, parameter| parameter.value())?;
        write_tensors(&folder.join(ADAPTERS), &tensors, false, &[("format", "pt".to_owned())])
    }
}

impl Policy for TorchPolicy {
    fn serve(&self) -> Result<Box<dyn Provider>, LearnError> {
        let _still = no_grad_guard();
        let limits = Limits { batch: self.options.batch, cache_bytes: self.options.cache_bytes };
        let told = format!("a policy of {} parameters on {:?}", self.parameters(), self.network.device);
        let served = Served::start(self.network.snapshot()?, &self.vocabulary, limits, told)?;
        Ok(Box::new(served))
    }

    fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>, ProviderError> {
        self.vocabulary.prompt(messages)
    }

    fn learn(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError> {
        let (tally, gradients) = slope(&self.network, batches, loss, self.options.recompute, true)?;
        let _still = no_grad_guard();
        let norm = norm(&gradients.all)?;
        let told = tally.sums.told(norm, longest)?;
        self.adam.step(self.network.trained_mut(), gradients.all, norm, rate)?;
        Ok(told)
    }

    fn check(&self) -> Result<(), LearnError> {
        for parameter in self.network.trained() {
            Numbers::Weights.finite(all_finite(parameter.value())?)?;
        }
        self.adam.check()
    }

    fn save(&self, folder: &Path) -> Result<(), LearnError> {
        let _still = no_grad_guard();
        self.write(folder, self.options.half)
    }

    fn keep(&self, folder: &Path) -> Result<(), LearnError> {
        let _still = no_grad_guard();
        match self.network.lora {
            Some(_) => self.write_adapters(folder)?,
            None => self.write(folder, false)?,
        }
        let trained = self.network.trained();
        let mut tensors = named(&trained, "first.", |at, _| &self.adam.moments[at][0])?;
        tensors.extend(named(&trained, "second.", |at, _| &self.adam.moments[at][1])?);
        let text = [(STEPS, self.adam.steps.to_string())];
        write_tensors(&folder.join(OPTIMISER), &tensors, false, &text)
    }

    fn restore(&mut self, folder: &Path) -> Result<(), LearnError> {
        let _still = no_grad_guard();
        let (memory, text) = read_tensors(&folder.join(OPTIMISER), self.network.device)?;
        let steps = text.get(STEPS).and_then(|steps| steps.parse().ok());
        let steps =
            steps.ok_or_else(|| LearnError::Weights("the optimiser's memory lacks its steps".to_owned()))?;
        let mut moments = Vec::new();
        for parameter in self.network.trained() {
            let moment = |which: &str| {
                parameter.gathered(|name| memory.get(&format!("{which}.{name}")).map(Tensor::shallow_clone))
            };
            moments.push([moment("first")?, moment("second")?]);
        }
        let file = if self.network.lora.is_some() { ADAPTERS } else { WEIGHTS };
        let (found, _) = read_tensors(&folder.join(file), self.network.device)?;
        self.replace(|name| found.get(name).map(Tensor::shallow_clone))?;
        (self.adam.steps, self.adam.moments) = (steps, moments);
        Ok(())
    }

    fn longest(&self) -> usize {
        self.network.shape.longest
    }
}

fn write_json(path: &Path, value: &Value) -> Result<(), LearnError> {
    let bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| LearnError::Library { library: "serde_json", message: error.to_string() })?;
    write(path, &bytes)
}

/// A tensor for each of these, part by part under the names in files.
fn named<'t>(
    trained: &[&'t Parameter],
    before: &str,
    tensor: impl Fn(usize, &'t Parameter) -> &'t Tensor,
) -> Result<Vec<(String, Tensor)>, LearnError> {
    let mut all = Vec::new();
    for (at, parameter) in trained.iter().enumerate() {
        let parts = parameter.named(tensor(at, parameter))?;
        all.extend(parts.into_iter().map(|(name, part)| (format!("{before}{name}"), part)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Device, Kind, Policy, TorchOptions, TorchPolicy};
    use crate::torch::policy::Lora;
    use crate::{Batch, Loss};
    use aske_model::Request;
    use std::path::Path;

    #[test]
    fn a_head_in_pieces_gives_the_gradient_of_the_whole() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch_policy/qwen2");
        let mut policy =
            TorchPolicy::read(&folder, Device::Cpu, Kind::Float, TorchOptions::default()).unwrap();
        let tokens: Vec<u32> = (0..36).map(|at| 3 + at * at % 47).collect();
        let weights = (0..36).map(|at: i16| f32::from(at % 5 - 2) / 9.0).collect();
        let batch = [Batch { rows: 2, length: 18, tokens, weights, before: vec![-3.0; 36] }];
        let loss = Loss::Cispo { low: 0.75, high: 3.0 };
        let (told, slopes) = (policy.score(&batch, loss).unwrap(), policy.gradient(&batch, loss).unwrap());
        // Five places of 52 logits: seven pieces, the last one short.
        policy.network.logits_at_once = 5 * 52 + 3;
        let again = policy.score(&batch, loss).unwrap();
        assert_eq!(again.tokens, told.tokens);
        assert!((again.loss - told.loss).abs() < 1e-5 && (again.entropy - told.entropy).abs() < 1e-5);
        for (one, other) in slopes.iter().zip(policy.gradient(&batch, loss).unwrap()) {
            for (one, other) in one.data.iter().zip(other.data) {
                assert!((one - other).abs() < 1e-4, "{one} {other}");
            }
        }
    }

    /// What a GPU does, on the processor: products in bfloat16, everything else in single precision.
    #[test]
    #[ignore = "some virtual machines announce AMX and cannot run it: set ONEDNN_MAX_CPU_ISA=AVX2"]
    fn half_precision_samples_and_learns_nearly_the_same() {
        let loss = Loss::Cispo { low: 0.75, high: 3.0 };
        for (model, lora) in [("llama", None), ("qwen2", Some(Lora::default())), ("qwen3", None)] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch_policy").join(model);
            let options = TorchOptions { lora, ..TorchOptions::default() };
            let read = |kind| TorchPolicy::read(&folder, Device::Cpu, kind, options).unwrap();
            let (full, mut half) = (read(Kind::Float), read(Kind::BFloat16));
            let serve = half.serve().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let mut batches = Vec::new();
            for seed in 0..8 {
                let request = Request { max_tokens: 40, seed, ..Request::user("w8 w9") };
                let trace = runtime.block_on(serve.attempt(&request)).unwrap().trace.unwrap();
                let prompt = half.prompt(&request.messages).unwrap();
                let tokens = [prompt.as_slice(), &trace.tokens].concat();
                let sign = if seed % 2 == 0 { 0.01 } else { -0.01 };
                batches.push(Batch {
                    rows: 1,
                    length: tokens.len(),
                    weights: vec![sign; tokens.len()],
                    before: [vec![f32::NAN; prompt.len()], trace.logprobs].concat(),
                    tokens,
                });
            }
            let told = half.score(&batches, loss).unwrap();
            assert!((told.ratio - 1.0).abs() < 0.01 && told.drift < 0.02, "{model}: {told:?}");
            // Eight bits of precision: a part in 256, through a few layers.
            let slopes = (full.gradient(&batches, loss).unwrap(), half.gradient(&batches, loss).unwrap());
            let (mut dot, mut one, mut other) = (0.0_f64, 0.0_f64, 0.0_f64);
            for (full, half) in slopes.0.iter().zip(&slopes.1) {
                for (full, half) in full.data.iter().zip(&half.data) {
                    let (full, half) = (f64::from(*full), f64::from(*half));
                    (dot, one, other) = (dot + full * half, one + full * full, other + half * half);
                }
            }
            let cosine = dot / (one * other).sqrt();
            println!("{model}: {told:?}, cosine of gradients {cosine}");
            assert!(cosine > 0.99, "{model}: {cosine}");
            // Of the ratios themselves, which is what a step should raise and lower.
            let plain = Loss::Surrogate { low: 1.0, high: 99.0 };
            let before = half.score(&batches, plain).unwrap().loss;
            half.learn(&batches, loss, 1e-3, f64::INFINITY).unwrap();
            assert!(half.score(&batches, plain).unwrap().loss < before);
        }
    }
}
