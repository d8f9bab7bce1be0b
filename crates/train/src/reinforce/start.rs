//! Where a policy begins.

use crate::local::read;
use crate::{Files, LearnError, LocalPolicy, Options, Policy, Weights};
use aske_config::{ModelSection, ProviderKind, TrainSection};
use aske_model::{EngineOptions, LlamaConfig};
use std::path::Path;

/// Megabytes of conversations that a policy remembers, so that a next turn reads only what is new.
const CACHE_MB: usize = 64;

/// The policy that starts from the model of this section, on the device that the plan names.
pub fn policy(section: &ModelSection, plan: &TrainSection) -> Result<Box<dyn Policy>, LearnError> {
    let (Some(ProviderKind::Local), Some(path)) = (section.provider, section.path.as_deref()) else {
        let what = "only a model with `provider = \"local\"` and a `path` can learn";
        return Err(LearnError::Start(what.to_owned()));
    };
    let options = Options {
        betas: (plan.adam_betas[0], plan.adam_betas[1]),
        epsilon: plan.adam_eps,
        decay: plan.weight_decay,
        clip: (plan.max_grad_norm > 0.0).then_some(plan.max_grad_norm),
        average: None,
        exact: false,
    };
    // Networks of the nano world are sampled on the processor wherever they learn: they are too small for a GPU.
    #[cfg(feature = "torch")]
    if plan.device != "cpu" && !path.starts_with("builtin:") {
        return on_device(path, plan, options);
    }
    let [config, weights, tokenizer, tokenizer_config] = files(path)?;
    let config: LlamaConfig =
        serde_json::from_slice(&config).map_err(|error| LearnError::Network(error.to_string()))?;
    let weights = Weights::from_safetensors(&config, &weights)?;
    if !weights.is_finite() {
        return Err(LearnError::Start(format!("{path}: some weights are not finite")));
    }
    let files = Files { tokenizer, tokenizer_config };
    let cache = section.cache_mb.unwrap_or(CACHE_MB).saturating_mul(1_000_000);
    let engine = EngineOptions { threads: plan.threads, store_bytes: cache, ..EngineOptions::default() };
    Ok(Box::new(LocalPolicy::new(
        &config,
        &weights,
        files,
        options,
        engine,
        plan.untie_lm_head,
        &plan.device,
    )?))
}

/// A checkpoint of any size that is sampled and learns on a GPU.
#[cfg(feature = "torch")]
fn on_device(path: &str, plan: &TrainSection, optimiser: Options) -> Result<Box<dyn Policy>, LearnError> {
    let lora = crate::Lora { rank: plan.lora_rank, alpha: plan.lora_alpha, ..crate::Lora::default() };
    let options = crate::TorchOptions {
        optimiser,
        untied: plan.untie_lm_head,
        lora: (plan.lora_rank > 0).then_some(lora),
        recompute: plan.gradient_checkpointing,
        ..crate::TorchOptions::default()
    };
    Ok(Box::new(crate::TorchPolicy::from_folder(Path::new(path), &plan.device, options)?))
}

/// `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` of a folder, or of one that ships.
fn files(path: &str) -> Result<[Vec<u8>; 4], LearnError> {
    if let Some(name) = path.strip_prefix("builtin:") {
        let shipped = aske_nano::files(name).map_err(|error| LearnError::Start(error.to_string()))?;
        return Ok(shipped.map(|(_, bytes)| bytes.to_vec()));
    }
    let read = |name: &str| read(Path::new(path), name);
    Ok([
        read("config.json")?,
        read("model.safetensors")?,
        read("tokenizer.json")?,
        read("tokenizer_config.json")?,
    ])
}
