//! The servers that sample the policy.

use aske_bench::chat_template_kwargs;
use aske_config::{ModelSection, SamplerKind, TrainSection};
use aske_train::reinforce::{PolicyServer, TrainError, VllmPolicyServer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the policy of a training is sampled.
pub(super) fn policy_server(
    plan: &TrainSection,
    section: &ModelSection,
    run: &Path,
) -> Result<PolicyServer, TrainError> {
    match plan.sampler {
        SamplerKind::InProcess => Ok(PolicyServer::InProcess),
        SamplerKind::Vllm => {
            let patience = Duration::from_secs_f64(plan.vllm.startup_timeout_s);
            let folder = weights_folder(plan, run);
            let kwargs = chat_template_kwargs(section);
            Ok(PolicyServer::Vllm(VllmPolicyServer::new(plan.vllm.urls.clone(), folder, kwargs, patience)?))
        }
    }
}

/// The folder through which a training passes its weights: the same one after a restart.
pub(super) fn weights_folder(plan: &TrainSection, run: &Path) -> PathBuf {
    let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    Path::new(&plan.vllm.weights_dir).join(format!("aske-{:016x}", hasher.finish()))
}
