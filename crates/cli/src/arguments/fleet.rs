//! Arguments of `aske fleet`.

use super::Configuration;
use aske_fleet::Gpus;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Starts one vLLM server for each model of the configuration whose url points to this machine.

Examples:
  aske fleet plan --config paper-bench --gpus 5x141      show the placement and its memory
  aske fleet up --config paper-bench --gpus 5x141        start it; then: aske bench --config aske-fleet.toml
  aske fleet bench --config paper-bench --gpus 1x141     run the whole benchmark on one GPU, in phases
  aske fleet status                                      show the servers
  aske fleet down                                        stop them"
)]
pub(crate) struct Fleet {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Show the placement, its memory, and the phases if not all models fit at once
    Plan(FleetPlan),
    /// Start the servers and keep them running until Ctrl-C or `aske fleet down`
    Up(FleetUp),
    /// Run the benchmark in phases, with as few model loads as possible
    Bench(FleetBench),
    /// Stop the servers that were started
    Down(FleetFolder),
    /// Show the state of the servers
    Status(FleetStatus),
    /// Show the servers' logs
    Logs(FleetLogs),
    /// Print the plan as a Slurm script or Kubernetes manifest
    Job(FleetJob),
}

/// What to plan, and for which GPUs.
#[derive(Clone, Debug, Args)]
pub(crate) struct Planning {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Number of GPUs and gigabytes of each, such as 5x141
    #[arg(long, value_name = "COUNTxGB")]
    pub(crate) gpus: Gpus,
    /// Full-length sequences that each server has KV cache for [default: twice the average share of run.concurrency]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) sequences: Option<u32>,
    /// Maximum tokens of a sequence [default: from the token limits of each role]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(256..))]
    pub(crate) length: Option<u32>,
    /// Quantise the weights of all models, or of one as MODEL=fp8; may be repeated
    #[arg(long, value_name = "fp8|MODEL=fp8")]
    pub(crate) quantisation: Vec<String>,
    /// An extra vLLM flag for all servers, or for one model as MODEL=--flag; may be repeated
    #[arg(long, value_name = "FLAG|MODEL=FLAG", allow_hyphen_values = true)]
    pub(crate) flag: Vec<String>,
    /// The port of the first server; the others follow
    #[arg(long, default_value_t = 8001, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
}

/// How to run the servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetRun {
    /// The vLLM program
    #[arg(long, value_name = "PATH", default_value = "vllm")]
    pub(crate) vllm: PathBuf,
    /// Folder for state and logs
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    pub(crate) folder: PathBuf,
    /// Configuration file to write, with the URL of every server
    #[arg(long, value_name = "FILE", default_value = "aske-fleet.toml")]
    pub(crate) endpoints: PathBuf,
    /// How long a server may take to become ready, including downloads
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0)]
    pub(crate) ready_minutes: f64,
    /// How many times to restart a server that exits
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) restarts: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske fleet plan --config paper-bench --gpus 5x141
  aske fleet plan --config paper-bench --gpus 1x141 --json
  aske fleet plan --config paper-bench --gpus 2x80 --quantisation fp8 --sequences 8")]
pub(crate) struct FleetPlan {
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske fleet up --config paper-bench --gpus 5x141
  aske fleet up --config paper-bench --gpus 5x141 --detach
  aske fleet up --set small --config paper-bench --gpus 2x141 --flag=--enforce-eager")]
pub(crate) struct FleetUp {
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) run: FleetRun,
    /// Return when all servers are ready, and leave them running
    #[arg(long)]
    pub(crate) detach: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Arguments after -- go to `aske bench`. Running the same command again continues where it stopped.

Examples:
  aske fleet bench --config paper-bench --gpus 1x141
  aske fleet bench --config paper-bench --gpus 1x141 --from 12 -- --samples 3 --run runs/mine"
)]
pub(crate) struct FleetBench {
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) run: FleetRun,
    /// Start with this phase
    #[arg(long, value_name = "PHASE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) from: u32,
    /// Arguments of `aske bench`
    #[arg(last = true)]
    pub(crate) bench: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetFolder {
    /// Folder for state and logs
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FleetStatus {
    #[command(flatten)]
    pub(crate) folder: FleetFolder,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske fleet logs                               the last lines of every server
  aske fleet logs qwen3-8b --follow")]
pub(crate) struct FleetLogs {
    /// Servers by model name [default: all]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) folder: FleetFolder,
    /// Lines per server
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) lines: usize,
    /// Keep printing new lines until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// A batch script for `sbatch`
    Slurm,
    /// Deployments and services for `kubectl apply -f`
    Kubernetes,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske fleet job slurm --config paper-bench --gpus 5x141 > fleet.sbatch
  aske fleet job kubernetes --config paper-bench --gpus 5x141 > fleet.yaml")]
pub(crate) struct FleetJob {
    /// The scheduler
    pub(crate) scheduler: Scheduler,
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Slurm: the partition
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Slurm: time limit of the job
    #[arg(long, value_name = "HH:MM:SS", default_value = "24:00:00")]
    pub(crate) time: String,
    /// Kubernetes: the image with vLLM
    #[arg(long, value_name = "IMAGE", default_value = "vllm/vllm-openai:latest")]
    pub(crate) image: String,
    /// Kubernetes: the namespace
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) namespace: String,
}
