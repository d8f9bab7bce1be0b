//! Creates the policy of a training configuration.

use crate::files::{WEIGHTS, read};
use crate::{AdamWConfig, LearnError, Policy, TokenizerFiles, Weights, policy_from_weights};
#[cfg(feature = "torch")]
use aske_config::SamplerKind;
use aske_config::{ModelSection, ProviderKind, TrainSection};
use aske_model::{EngineOptions, LlamaConfig};
use std::path::Path;

/// Prefix cache of the policy's engine, in megabytes.
const CACHE_MB: usize = 64;

/// Creates the policy from the model of this section, on the configured device.
pub fn load_policy(section: &ModelSection, config: &TrainSection) -> Result<Box<dyn Policy>, LearnError> {
    let (Some(ProviderKind::Local), Some(path)) = (section.provider, section.path.as_deref()) else {
        let message = "only a model with `provider = \"local\"` and a `path` can be trained";
        return Err(LearnError::Untrainable(message.to_owned()));
    };
    let optimizer = AdamWConfig {
        betas: (config.adam_betas[0], config.adam_betas[1]),
        eps: config.adam_eps,
        weight_decay: config.weight_decay,
        max_grad_norm: (config.max_grad_norm > 0.0).then_some(config.max_grad_norm),
        ema_decay: None,
    };
    let chat_template_kwargs = aske_bench::chat_template_kwargs(section);
    #[cfg(feature = "torch")]
    if (config.device != "cpu" || config.sampler == SamplerKind::Vllm) && !path.starts_with("builtin:") {
        let options = torch_options(config, optimizer);
        let policy = crate::TorchPolicy::from_folder(Path::new(path), &config.device, options)?;
        return Ok(Box::new(policy.with_chat_template_kwargs(chat_template_kwargs)));
    }
    let [model_config, weights, tokenizer, tokenizer_config] = checkpoint_files(path)?;
    let mut model: LlamaConfig = serde_json::from_slice(&model_config)
        .map_err(|error| LearnError::UnsupportedArchitecture(error.to_string()))?;
    let mut weights = Weights::from_safetensors(&model, &weights)?;
    if !weights.is_finite() {
        return Err(LearnError::Untrainable(format!("{path}: some weights are not finite")));
    }
    if config.untie_lm_head {
        (model, weights) = weights.untie_head(&model)?;
    }
    let files = TokenizerFiles { tokenizer, tokenizer_config, chat_template_kwargs };
    let cache = section.cache_mb.unwrap_or(CACHE_MB).saturating_mul(1_000_000);
    let engine =
        EngineOptions { threads: config.threads, prefix_cache_bytes: cache, ..EngineOptions::default() };
    policy_from_weights(&model, &weights, optimizer, &config.device, Some((files, engine)))
}

/// Options for a checkpoint of any size, trained on a GPU.
#[cfg(feature = "torch")]
fn torch_options(config: &TrainSection, optimizer: AdamWConfig) -> crate::TorchOptions {
    let lora = crate::Lora { rank: config.lora_rank, alpha: config.lora_alpha, ..crate::Lora::default() };
    crate::TorchOptions {
        optimizer,
        untie_head: config.untie_lm_head,
        lora: (config.lora_rank > 0).then_some(lora),
        recompute: config.gradient_checkpointing,
        offload_optimizer: config.optim_cpu_offload,
        ..crate::TorchOptions::default()
    }
}

/// `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` of a folder or a bundled model.
fn checkpoint_files(path: &str) -> Result<[Vec<u8>; 4], LearnError> {
    if let Some(name) = path.strip_prefix("builtin:") {
        let bundled = aske_nano::files(name).map_err(|error| LearnError::Untrainable(error.to_string()))?;
        return Ok(bundled.map(|(_, bytes)| bytes.to_vec()));
    }
    let read = |name: &str| read(&Path::new(path).join(name));
    Ok([read("config.json")?, read(WEIGHTS)?, read("tokenizer.json")?, read("tokenizer_config.json")?])
}
