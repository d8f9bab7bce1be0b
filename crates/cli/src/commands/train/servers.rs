//! The servers of a training: those that sample the policy and, with `--gpus`, those of the other models.

use crate::arguments::{FleetRun, Planning, Train};
use crate::commands::fleet::{models, up};
use crate::error::CliError;
use crate::runs::servers::stop_earlier;
use aske_bench::chat_template_kwargs;
use aske_config::{Layers, ModelSection, OneOrMany, SamplerKind, Settings, TrainSection};
use aske_fleet::{GB, Gpus, Model, Plan, SearchBudget, Supervisor, SupervisorOptions};
use aske_train::reinforce::{PolicyServer, TrainError, VllmPolicyServer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first port of servers that are started here.
const FIRST_PORT: u16 = 8001;

/// The vLLM servers that a training starts itself.
pub(super) struct Fleet {
    plan: Plan,
    run: FleetRun,
    /// Addresses of the servers that sample the policy.
    policy_urls: Vec<String>,
}

impl Fleet {
    /// Plans the servers of a training; `None` if it starts none.
    pub(super) fn plan(
        arguments: &Train,
        layers: &Layers,
        settings: &Settings,
        run: &Path,
    ) -> Result<Option<Self>, CliError> {
        let train = &layers.config().train;
        let Some(gpus) = arguments.gpus else {
            if train.sampler == SamplerKind::Vllm && train.vllm.urls.is_empty() {
                return Err(CliError::usage(
                    "train.sampler is vllm, and there is no server",
                    "start one here with --gpus 1x141, or name running ones in train.vllm.urls",
                ));
            }
            return Ok(None);
        };
        let mut others = settings.clone();
        if let Some(watch) = &train.watch.model {
            let (role, section) =
                layers.extra_role("train.watch.model", watch, &aske_model::Sampling::default())?;
            others.models.insert(watch.clone(), section);
            others.check = role;
        }
        let planning = Planning {
            configuration: arguments.configuration.clone(),
            gpus,
            sequences: None,
            length: None,
            quantisation: Vec::new(),
            flag: Vec::new(),
            port: FIRST_PORT,
        };
        let mut served = models::served(&others, &planning)?;
        let replicas = match train.sampler {
            SamplerKind::Vllm if train.vllm.urls.is_empty() => train.vllm.replicas,
            _ => 0,
        };
        if served.models.is_empty() && replicas == 0 {
            // The GPUs serve the measurements only.
            return Ok(None);
        }
        let policy = policy_model(train, settings, run);
        served.models.extend((0..replicas).map(|index| {
            let name =
                if index == 0 { policy.name.clone() } else { format!("{}-{}", policy.name, index + 1) };
            Model { name, ..policy.clone() }
        }));
        let reserved = reserved_bytes(train, &settings.models[&settings.asker.model], gpus);
        let plan = Plan::new(
            &served.models,
            &served.elsewhere,
            gpus,
            &reserved,
            FIRST_PORT,
            SearchBudget::default(),
        )?;
        if !plan.at_once() {
            return Err(CliError::usage(
                format!("the servers of this training do not fit on {gpus} at once"),
                "use more GPUs, fewer or smaller solvers, or a smaller train.vllm.trainer_gb",
            ));
        }
        let urls = plan.servers.iter().filter(|server| server.model.hub == policy.hub);
        let policy_urls = urls.map(|server| url(server.port)).collect();
        let run = FleetRun {
            vllm: arguments.vllm.clone(),
            folder: run.join("servers"),
            endpoints: PathBuf::new(),
            ready_minutes: train.vllm.startup_timeout_s / 60.0,
            restarts: 5,
        };
        Ok(Some(Self { plan, run, policy_urls }))
    }

    /// The addresses of the servers that sample the policy.
    pub(super) fn policy_urls(&self) -> &[String] {
        &self.policy_urls
    }

    /// Gives the models of a configuration the addresses of their servers.
    pub(super) fn set_urls(&self, models: &mut std::collections::BTreeMap<String, ModelSection>) {
        for server in &self.plan.servers {
            let names = std::iter::once(&server.model.name).chain(&server.model.aliases);
            for name in names {
                if let Some(section) = models.get_mut(name).filter(|section| !section.url.is_empty()) {
                    section.url = OneOrMany::One(url(server.port));
                }
            }
        }
    }

    /// Starts all servers and waits until they are ready.
    pub(super) async fn start(self) -> Result<Supervisor, CliError> {
        let options = SupervisorOptions { kill_on_exit: true, ..up::options(&self.run)? };
        stop_earlier(&options.folder).await?;
        let mut supervisor = Supervisor::open(self.plan, options, up::report)?;
        match supervisor.enter(0).await {
            Ok(()) => Ok(supervisor),
            Err(error) => {
                supervisor.close().await;
                Err(error.into())
            }
        }
    }
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

/// The server of the policy: it reads the current weights wherever it is started.
fn policy_model(train: &TrainSection, settings: &Settings, run: &Path) -> Model {
    let rollouts = u64::from(train.group_size) * train.groups as u64;
    let rollouts = u32::try_from(rollouts).unwrap_or(u32::MAX).min(1024);
    let name = &settings.asker.model;
    let mut flags = vec!["--generation-config".to_owned(), "vllm".to_owned()];
    flags.extend(train.vllm.flags.iter().cloned());
    Model {
        params: settings.models[name].params,
        length: models::asker_length(&settings.protocol),
        sequences: rollouts.div_ceil(4),
        max_num_seqs: rollouts,
        solver: false,
        resident: true,
        flags,
        // The routes that load weights exist in this mode only; servers listen on the loopback interface.
        environment: vec![("VLLM_SERVER_DEV_MODE".to_owned(), "1".to_owned())],
        ..Model::solver(name, &weights_folder(train, run).to_string_lossy())
    }
}

/// Bytes on each GPU that the trainer needs.
///
/// Per parameter 18 bytes for all weights (master weights, gradient and two moments in single precision, a bfloat16
/// copy) and 4 with adapters; and 20 GB for activations and logits of a micro-batch.
fn reserved_bytes(train: &TrainSection, section: &ModelSection, gpus: Gpus) -> Vec<u64> {
    let Some(index) = train.device.strip_prefix("cuda") else { return Vec::new() };
    let gpu: usize = index.trim_start_matches(':').parse().unwrap_or(0);
    let per_parameter = if train.lora_rank > 0 { 4.0 } else { 18.0 };
    let gb = train.vllm.trainer_gb.unwrap_or(20.0 + per_parameter * section.params.unwrap_or(1.0));
    let mut reserved = vec![0; gpus.count.max(gpu + 1)];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let bytes = (gb * GB as f64) as u64;
    reserved[gpu] = bytes;
    reserved
}

/// Where the policy of a training is sampled; `urls` are those of servers started for it.
pub(super) fn policy_server(
    train: &TrainSection,
    section: &ModelSection,
    run: &Path,
    urls: &[String],
) -> Result<PolicyServer, TrainError> {
    match train.sampler {
        SamplerKind::InProcess => Ok(PolicyServer::InProcess),
        SamplerKind::Vllm => {
            let urls = if urls.is_empty() { &train.vllm.urls } else { urls };
            let patience = Duration::from_secs_f64(train.vllm.startup_timeout_s);
            let kwargs = chat_template_kwargs(section);
            let folder = weights_folder(train, run);
            Ok(PolicyServer::Vllm(VllmPolicyServer::new(urls.to_vec(), folder, kwargs, patience)?))
        }
    }
}

/// The folder through which a training passes its weights: the same one after a restart.
fn weights_folder(train: &TrainSection, run: &Path) -> PathBuf {
    let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    Path::new(&train.vllm.weights_dir).join(format!("aske-{:016x}", hasher.finish()))
}
