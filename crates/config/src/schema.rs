//! The keys of a configuration. Every key has a default, so that each layer is a valid file of its own. TOML has no null: a key
//! without a value is not written.

use crate::ProviderSection;
use aske_answer::{NotationPolicy, Rules};
use aske_chat::Price;
use aske_model::{Limits, Sampling, TokensField};
use aske_session::Protocol;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The configurations that this one extends: names of built-in ones, or paths.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub extends: OneOrMany,
    /// The dialogue.
    pub protocol: ProtocolSection,
    /// The asker.
    pub asker: AskerSection,
    /// The boundary solvers.
    pub boundary: BoundarySection,
    /// The cross-check solver.
    pub check: CheckSection,
    /// The equivalence checker.
    pub equivalence: EquivalenceSection,
    /// What `aske difficulty` compares.
    #[serde(skip_serializing_if = "is_default")]
    pub difficulty: DifficultySection,
    /// `aske eval`.
    pub eval: EvalSection,
    /// Execution of the plan.
    pub run: RunSection,
    /// Training of the asker.
    pub train: TrainSection,
    /// Named boundary sets.
    pub sets: BTreeMap<String, SetSection>,
    /// Every model by its name.
    pub models: BTreeMap<String, ModelSection>,
    /// The providers of models that are named `PROVIDER/MODEL`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, ProviderSection>,
}

/// One string or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    /// All of them.
    pub fn to_vec(&self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::Many(many) => many.clone(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Many(many) if many.is_empty())
    }
}

/// `[protocol]`: rounds, token budgets, prompt pack and domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the budgets are documented where they are used, in the session's protocol")]
pub struct ProtocolSection {
    pub rounds: u32,
    pub asker_tokens: u32,
    pub asker_final_tokens: u32,
    pub solver_tokens: u32,
    pub solver_final_tokens: u32,
    pub check_tokens: u32,
    pub question_words: usize,
    pub summary_chars: usize,
    /// `math`, `choice`, `number` or `text`.
    pub domain: String,
    /// How mathematical answers are compared: `aske`, or `paper` for math-verify's rules and the paper's fall-throughs.
    pub comparison: AnswerComparison,
    /// Policy for ambiguous notation, in the comparison `aske`.
    #[serde(skip_serializing_if = "is_default")]
    pub policy: NotationPolicy,
    /// Relative tolerance of the domain `number`.
    pub tolerance: Option<f64>,
    /// A folder of prompts; by default those of the domain.
    pub prompts: Option<String>,
}

impl Default for ProtocolSection {
    fn default() -> Self {
        let paper = Protocol::default();
        Self {
            rounds: paper.rounds,
            asker_tokens: paper.asker_tokens,
            asker_final_tokens: paper.asker_final_tokens,
            solver_tokens: paper.solver_tokens,
            solver_final_tokens: paper.solver_final_tokens,
            check_tokens: paper.check_tokens,
            question_words: paper.question_words,
            summary_chars: paper.summary_chars,
            domain: "math".to_owned(),
            comparison: AnswerComparison::default(),
            policy: NotationPolicy::default(),
            tolerance: None,
            prompts: None,
        }
    }
}

/// How mathematical answers are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerComparison {
    /// This project's comparison, with a policy for what notation leaves open.
    #[default]
    Aske,
    /// math-verify's rules and the paper's fall-throughs.
    Paper,
}

impl AnswerComparison {
    /// The rules, with a policy for the comparison `aske`.
    pub fn rules(self, policy: NotationPolicy) -> Rules {
        match self {
            Self::Aske => Rules::Aske(policy),
            Self::Paper => Rules::Paper,
        }
    }
}

/// `[asker]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AskerSection {
    /// The model's name.
    pub model: Option<String>,
    /// Overrides the model's sampling.
    pub sampling: Sampling,
}

/// `[boundary]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoundarySection {
    /// A named set.
    pub set: Option<String>,
    /// Names of models; they win over the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub solvers: Vec<String>,
    /// Overrides each model's sampling. Keys that are not set have the paper's values.
    #[serde(deserialize_with = "over_solver_sampling")]
    pub sampling: Sampling,
}

impl Default for BoundarySection {
    fn default() -> Self {
        Self { set: None, solvers: Vec::new(), sampling: solver_sampling() }
    }
}

/// `[check]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckSection {
    /// The model's name.
    pub model: Option<String>,
    /// Number of draws; all answers must agree.
    pub draws: u32,
    /// Overrides the model's sampling. Keys that are not set have the paper's values.
    #[serde(deserialize_with = "over_solver_sampling")]
    pub sampling: Sampling,
}

impl Default for CheckSection {
    fn default() -> Self {
        Self { model: None, draws: Protocol::default().check_draws, sampling: solver_sampling() }
    }
}

/// The paper's sampling of boundary solvers and the cross-check solver.
fn solver_sampling() -> Sampling {
    Sampling { temperature: Some(0.7), ..Sampling::default() }
}

fn over_solver_sampling<'d, D: Deserializer<'d>>(given: D) -> Result<Sampling, D::Error> {
    Ok(Sampling::deserialize(given)?.over(&solver_sampling()))
}

/// `[equivalence]` and `[eval.judge]`: a model that answers yes or no. There is none unless `model` is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EquivalenceSection {
    /// The model's name.
    pub model: Option<String>,
    /// Maximum number of tokens of a verdict.
    pub max_tokens: u32,
    /// Overrides the model's sampling.
    pub sampling: Sampling,
}

impl Default for EquivalenceSection {
    fn default() -> Self {
        Self { model: None, max_tokens: 4_000, sampling: Sampling::default() }
    }
}

/// `[difficulty]`: two target pairs and an independent solver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DifficultySection {
    /// The easy pair, `a:b`.
    pub easy: Option<String>,
    /// The hard pair, `a:b`.
    pub hard: Option<String>,
    /// The independent solver.
    pub solver: Option<String>,
}

/// `[eval]`: a model on the problems of mathematics benchmarks. The defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalSection {
    /// Answers to each problem.
    pub samples: u32,
    /// Maximum number of tokens of an answer.
    pub max_tokens: u32,
    /// The instruction after every problem, instead of the model's and the datasets' own; empty for none.
    pub instruction: Option<String>,
    /// Overrides the model's sampling. Keys that are not set have the paper's values.
    #[serde(deserialize_with = "over_eval_sampling")]
    pub sampling: Sampling,
    /// Chat template variables for models in this process or on a server without a key, unless the model's section sets
    /// them. By default thinking is off.
    pub chat_template_kwargs: toml::Table,
    /// The judge of datasets that require one.
    pub judge: EquivalenceSection,
}

impl EvalSection {
    /// The instruction for this model, unless the dataset's applies.
    pub fn instruction_for<'a>(&'a self, model: &'a ModelSection) -> Option<&'a str> {
        self.instruction.as_deref().or(model.instruction.as_deref())
    }
}

impl Default for EvalSection {
    fn default() -> Self {
        Self {
            samples: 8,
            max_tokens: 32_000,
            sampling: eval_sampling(),
            instruction: None,
            chat_template_kwargs: toml::Table::from_iter([(
                "enable_thinking".to_owned(),
                toml::Value::Boolean(false),
            )]),
            judge: EquivalenceSection::default(),
        }
    }
}

/// The paper's sampling on downstream benchmarks.
fn eval_sampling() -> Sampling {
    Sampling {
        temperature: Some(1.0),
        top_p: Some(0.95),
        top_k: Some(20),
        min_p: Some(0.0),
        presence_penalty: Some(1.5),
        repetition_penalty: Some(1.0),
        ..Sampling::default()
    }
}

fn over_eval_sampling<'d, D: Deserializer<'d>>(given: D) -> Result<Sampling, D::Error> {
    Ok(Sampling::deserialize(given)?.over(&eval_sampling()))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// `[train]`. The defaults are the paper's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainSection {
    /// Optimiser steps.
    pub steps: u64,
    /// Pairs per step.
    pub groups: usize,
    /// Rollouts per pair, as in GRPO.
    pub group_size: u32,
    /// `cispo`, `grpo` or `dapo`.
    pub loss: PolicyLoss,
    // Options of this section are left out of its JSON, by which a run folder recognises its training.
    /// The importance ratio is clipped to at least 1 minus this; by default the loss's own bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip_ratio_low: Option<f64>,
    /// The importance ratio is clipped to at most 1 plus this; by default the loss's own bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip_ratio_high: Option<f64>,
    /// Divides advantages by a standard deviation: `none`, `group` or `batch`; by default as the loss defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_rewards: Option<ScaleRewards>,
    /// The learning rate after the warm-up.
    pub learning_rate: f64,
    /// Steps of the linear warm-up.
    pub warmup_steps: u64,
    /// AdamW's betas.
    pub adam_betas: [f64; 2],
    /// AdamW's epsilon.
    pub adam_eps: f64,
    /// AdamW's weight decay.
    pub weight_decay: f64,
    /// The gradient norm is clipped to this value; 0 does not clip.
    pub max_grad_norm: f64,
    /// A larger gradient norm ends the run.
    pub stop_grad_norm: f64,
    /// Unties the output head from the embedding, and keeps it in single precision.
    pub untie_lm_head: bool,
    /// LoRA rank, on a GPU; 0 trains all weights.
    pub lora_rank: usize,
    /// LoRA alpha.
    pub lora_alpha: f64,
    /// Recomputes activations in the backward pass to save memory, on a GPU.
    pub gradient_checkpointing: bool,
    /// Keeps the optimizer state in the memory of the CPU, to save memory on a GPU.
    #[serde(skip_serializing_if = "is_default")]
    pub optim_cpu_offload: bool,
    /// Coefficient of the diversity bonus.
    pub diversity_coef: f64,
    /// Number of nearest neighbours in the diversity bonus.
    pub num_neighbors: usize,
    /// Questions in the diversity buffer.
    pub buffer_size: usize,
    /// The embedding model: `ngram`, a folder, or a name in the Hugging Face cache.
    pub embedder: String,
    /// Longer rollouts are skipped and counted.
    pub max_train_tokens: usize,
    /// Maximum number of tokens that the asker samples in one rollout, over all its turns.
    pub max_sample_tokens: usize,
    /// Tokens per micro-batch on a GPU, including padding; 0 for one sequence at a time.
    pub micro_batch_tokens: usize,
    /// Steps between two checkpoints.
    pub checkpoint_every: u64,
    /// Number of checkpoints to keep.
    pub keep_checkpoints: usize,
    /// `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// Where the policy is sampled: `in_process` (small networks, on the CPU) or `vllm`.
    #[serde(skip_serializing_if = "is_default")]
    pub sampler: SamplerKind,
    /// The vLLM servers that sample the policy.
    #[serde(skip_serializing_if = "is_default")]
    pub vllm: VllmSection,
    /// Sampling threads.
    pub threads: usize,
    /// Experiment trackers that get the metrics of every step: `wandb`, `mlflow`, `trackio`. TensorBoard's event files are
    /// always written.
    #[serde(deserialize_with = "one_or_many")]
    pub report_to: Vec<TrackerKind>,
    /// The trackers' project (`mlflow`: experiment); by default as the client's environment variable says, else `aske`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The trackers' name of this training: the group of its seeds, and the beginning of their names; by default the name of
    /// the training folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_name: Option<String>,
    /// The Python interpreter that the trackers' packages are installed for.
    pub tracker_python: String,
    /// How long a tracker may take to accept a step or to finish before it is reported, in seconds.
    pub tracker_timeout_s: f64,
    /// Monitoring for collapse.
    pub watch: WatchSection,
    /// Measurements before and after training.
    pub measure: MeasureSection,
}

impl Default for TrainSection {
    fn default() -> Self {
        Self {
            steps: 200,
            groups: 16,
            group_size: 16,
            loss: PolicyLoss::default(),
            clip_ratio_low: None,
            clip_ratio_high: None,
            scale_rewards: None,
            learning_rate: 1e-6,
            warmup_steps: 60,
            adam_betas: [0.9, 0.999],
            adam_eps: 1e-8,
            weight_decay: 0.01,
            max_grad_norm: 1.0,
            stop_grad_norm: 1e4,
            untie_lm_head: true,
            lora_rank: 0,
            lora_alpha: 32.0,
            gradient_checkpointing: true,
            optim_cpu_offload: false,
            diversity_coef: 1.0,
            num_neighbors: 5,
            buffer_size: 5_000,
            embedder: "BAAI/bge-small-en-v1.5".to_owned(),
            max_train_tokens: 24_576,
            max_sample_tokens: 32_768,
            micro_batch_tokens: 0,
            checkpoint_every: 10,
            keep_checkpoints: 3,
            device: "cpu".to_owned(),
            sampler: SamplerKind::default(),
            vllm: VllmSection::default(),
            threads: 2,
            report_to: Vec::new(),
            project: None,
            run_name: None,
            tracker_python: "python3".to_owned(),
            tracker_timeout_s: 120.0,
            watch: WatchSection::default(),
            measure: MeasureSection::default(),
        }
    }
}

/// Where the policy is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplerKind {
    /// The CPU engine in this process, for small networks.
    #[default]
    InProcess,
    /// vLLM servers.
    Vllm,
}

/// An experiment tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackerKind {
    /// TensorBoard, whose event files are always written.
    Tensorboard,
    /// Weights & Biases.
    Wandb,
    /// MLflow.
    Mlflow,
    /// Trackio.
    Trackio,
}

impl TrackerKind {
    /// The name in a configuration, which is also that of its Python package.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tensorboard => "tensorboard",
            Self::Wandb => "wandb",
            Self::Mlflow => "mlflow",
            Self::Trackio => "trackio",
        }
    }
}

/// A list, or a single value of it.
fn one_or_many<'d, D: Deserializer<'d>, T: Deserialize<'d>>(given: D) -> Result<Vec<T>, D::Error> {
    struct OneOrManyOf<T>(PhantomData<T>);
    impl<'d, T: Deserialize<'d>> Visitor<'d> for OneOrManyOf<T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a name or a list of names")
        }
        fn visit_str<E: de::Error>(self, one: &str) -> Result<Vec<T>, E> {
            Ok(vec![T::deserialize(one.into_deserializer())?])
        }
        fn visit_seq<A: SeqAccess<'d>>(self, many: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(many))
        }
    }
    given.deserialize_any(OneOrManyOf(PhantomData))
}

/// `[train.vllm]`: the vLLM servers that sample the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VllmSection {
    /// Addresses of running servers; `aske train --gpus` starts servers instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// A folder that trainer and servers share, through which weights are passed; best in memory.
    pub weights_dir: String,
    /// Trainer and servers share a GPU, so they take turns: the next step is sampled before this one is learned from, not at
    /// the same time. The rollouts are the same.
    #[serde(skip_serializing_if = "is_default")]
    pub colocate: bool,
    /// How long a server may take to start, in seconds.
    pub startup_timeout_s: f64,
    /// With `--gpus`: the number of servers of the policy.
    pub replicas: usize,
    /// With `--gpus`: gigabytes of GPU memory that the trainer needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trainer_gb: Option<f64>,
    /// With `--gpus`: further vLLM flags of the policy's servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl Default for VllmSection {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            weights_dir: "/dev/shm".to_owned(),
            colocate: false,
            startup_timeout_s: 900.0,
            replicas: 1,
            trainer_gb: None,
            flags: Vec::new(),
        }
    }
}

/// The policy-gradient loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyLoss {
    /// CISPO, the paper's.
    #[default]
    Cispo,
    /// GRPO.
    Grpo,
    /// DAPO.
    Dapo,
}

impl PolicyLoss {
    /// The name in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cispo => "cispo",
            Self::Grpo => "grpo",
            Self::Dapo => "dapo",
        }
    }
}

/// What the advantage of a rollout, its reward minus the mean of its group, is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleRewards {
    /// Nothing.
    None,
    /// The standard deviation of the group's rewards.
    Group,
    /// The standard deviation of all rewards of the step.
    Batch,
}

/// `[train.watch]`: metrics of every step and the limits that end a run. None of them enters the reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchSection {
    /// A fixed cross-check solver; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Maximum number of questions per step for the cross-check solver.
    pub max_questions: usize,
    /// Compare with the oracle of the nano world.
    pub oracle: bool,
    /// Minimum share of distinct questions.
    pub min_distinct: f64,
    /// Minimum share of rollouts with a question that has an answer.
    pub min_valid: f64,
    /// Minimum agreement of the policy's answers with the fixed solver's and the oracle's.
    pub min_agreement: f64,
    /// Minimum token entropy.
    pub min_entropy: f64,
    /// Steps below a limit after which a run ends; 0 never ends it.
    pub patience: u64,
}

impl Default for WatchSection {
    fn default() -> Self {
        Self {
            model: None,
            max_questions: 64,
            oracle: false,
            min_distinct: 0.3,
            min_valid: 0.7,
            min_agreement: 0.7,
            min_entropy: 0.0,
            patience: 5,
        }
    }
}

/// `[train.measure]`: the benchmark before and after, and an exam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureSection {
    /// The configuration of the benchmark that measures the asker, with a fixed cross-check solver; by default nothing is
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Sessions for each pair.
    pub samples: u32,
    /// Held-out questions of the nano world in each family and level that the asker answers; 0 for none.
    pub exam_questions: u32,
    /// Answers to each.
    pub exam_samples: u32,
}

impl Default for MeasureSection {
    fn default() -> Self {
        Self { config: None, samples: 10, exam_questions: 0, exam_samples: 8 }
    }
}

/// In which order sessions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Every pair once before any pair twice.
    #[default]
    Balanced,
    /// All samples of a pair before the next pair.
    ByPair,
    /// In random order, determined by the seed.
    Shuffled,
}

/// `[run]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSection {
    /// Sessions for each pair.
    pub samples: u32,
    /// The seed of the run.
    pub seed: u64,
    /// Maximum number of concurrent sessions.
    pub concurrency: usize,
    /// In which order sessions run.
    pub order: Order,
    /// Stop when this much is spent, in US dollars.
    pub budget_usd: Option<f64>,
    /// Stop when this many tokens are used.
    pub budget_tokens: Option<u64>,
    /// Stop after this many minutes.
    pub budget_minutes: Option<f64>,
}

impl Default for RunSection {
    fn default() -> Self {
        Self {
            samples: 10,
            seed: 0,
            concurrency: 64,
            order: Order::default(),
            budget_usd: None,
            budget_tokens: None,
            budget_minutes: None,
        }
    }
}

/// `[sets.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetSection {
    /// Names of models, smallest first.
    pub solvers: Vec<String>,
}

/// The provider of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// Any OpenAI-compatible server.
    Openai,
    /// A file of replies.
    Scripted,
    /// A Llama-style checkpoint, run in this process.
    Local,
    /// A GGUF file, run in this process by llama.cpp.
    Llama,
    /// Random questions of the nano world: the baseline for other askers.
    Fixed,
    /// Questions of the nano world, chosen by what the answers so far reveal about both solvers.
    Staircase,
    /// A model that is known only by its name in imported rollouts; it cannot be called.
    Imported,
}

/// `[models.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSection {
    /// The provider.
    pub provider: Option<ProviderKind>,
    /// Base address, or several of replicas.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub url: OneOrMany,
    /// The name on the server; by default the name here.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Parameters in billions, where published.
    pub params: Option<f64>,
    /// Its family.
    pub family: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// The field that carries the token budget.
    pub max_tokens_field: TokensField,
    /// Parameters never sent to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omit: Vec<String>,
    /// For models without a system role: puts the system prompt in front of the first user message.
    pub fold_system: bool,
    /// Merged into every request body.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub extra_body: toml::Table,
    /// Concurrency, rate limits, deadlines and retries.
    pub limits: Limits,
    /// The price.
    pub price: Option<Price>,
    /// The month in which the price was read, such as `2026-10`.
    pub price_date: Option<String>,
    /// The command that starts its server; shown if the server does not respond.
    pub start: Option<String>,
    /// The command that makes the model available on its server.
    pub pull: Option<String>,
    /// The folder of a local model, or `builtin:NAME` for a bundled one; the GGUF file of a `llama` model, or
    /// `pulled:NAME` for one downloaded by `aske models pull NAME`.
    pub path: Option<String>,
    /// Threads of a model in this process.
    pub threads: Option<usize>,
    /// Maximum number of concurrent requests to a `llama` model.
    pub batch_size: Option<usize>,
    /// Context size of a `llama` model: the tokens of all its concurrent requests together.
    pub context_length: Option<u32>,
    /// Layers of a `llama` model that run on a GPU.
    pub gpu_layers: Option<u32>,
    /// Size of a local model's prefix cache in megabytes; of a cached conversation, only new tokens are processed.
    pub cache_mb: Option<usize>,
    /// The instruction after a problem in `aske eval`, for a model that was trained on a fixed one; empty for none.
    pub instruction: Option<String>,
    /// The highest level of the questions of `fixed` and `staircase`, up to 8; the bundled solvers were trained on 1 to 5.
    pub levels: Option<u32>,
    /// Whether the final question of `staircase` may repeat a probe; by default it may.
    pub reuse_probes: Option<bool>,
    /// The file of a scripted model.
    pub script: Option<String>,
    /// How long each reply of a scripted model takes.
    pub delay_ms: Option<u64>,
}
