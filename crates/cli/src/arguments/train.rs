//! Arguments of `aske train`.

use super::configuration::TRAINING_CONFIG;
use super::{Configuration, WHOLE};
use aske_fleet::Gpus;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("config", |config| config.help(TRAINING_CONFIG)))]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct Train {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The training folder [default: runs/CONFIG]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Run a training that differs from the one in the usual folder in a new folder, also if models cost money
    #[arg(long)]
    pub(crate) new: bool,
    /// Train once with each of these seeds
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u64).range(WHOLE), conflicts_with = "seed")]
    pub(crate) seeds: Vec<u64>,
    /// Number of optimiser steps
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Start vLLM servers on these GPUs: for the policy, and for every model whose url is on this machine, also while
    /// measuring before and after
    #[arg(long, value_name = "COUNTxGB")]
    pub(crate) gpus: Option<Gpus>,
    /// The vLLM program
    #[arg(long, value_name = "PATH", default_value = "vllm")]
    pub(crate) vllm: PathBuf,
    /// Skip the measurements before and after training
    #[arg(long)]
    pub(crate) no_measure: bool,
    /// Start without trying each model that is called over HTTP once
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str =
    "Running the same command again continues from the last checkpoint; stored replies are reused.
For each seed, the folder contains the rollouts as a run folder (`aske view`, `aske report`), metrics.jsonl,
tensorboard/, checkpoints/ and trained/, a checkpoint that transformers and vLLM can load.

Examples:
  aske train                                    train the nano asker (--config nano-train)
  aske train --seeds 0,1,2                      train with three seeds and compare them
  aske train --steps 5 --no-measure             a short trial
  aske train -o train.report_to=wandb           report to Weights & Biases, too; also mlflow, trackio
  aske train -o train.loss=dapo -o train.learning_rate=5e-5 --run runs/dapo
  aske train --config gpu-train --gpus 1x141    a real model; vLLM samples it and serves the solvers
  aske bench --asker runs/nano-train/seed-0     benchmark the trained asker";
