//! What can be typed after `aske fleet`.

use super::Configuration;
use aske_fleet::Gpus;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Models of the configuration whose url is of this machine are served here, one vLLM server each.

Examples:
  aske fleet plan --config paper-bench --gpus 5x141      what goes where, and the memory it takes
  aske fleet up --config paper-bench --gpus 5x141        start it; then: aske bench --config aske-fleet.toml
  aske fleet bench --config paper-bench --gpus 1x141     the whole benchmark on one GPU, in phases
  aske fleet status                                      what runs
  aske fleet down                                        stop it"
)]
pub(crate) struct Fleet {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Show what goes where, the memory it takes, and the phases where not all fits at once
    Plan(FleetPlan),
    /// Start the servers, and start again what dies, until Ctrl-C or `aske fleet down`
    Up(FleetUp),
    /// Run the benchmark on what fits, phase by phase, with as few loads as possible
    Bench(FleetBench),
    /// Stop exactly what was started
    Down(FleetFolder),
    /// Show what runs
    Status(FleetStatus),
    /// Show the servers' logs
    Logs(FleetLogs),
    /// Print the plan as a file for a scheduler
    Job(FleetJob),
}

/// What is planned, and for which GPUs.
#[derive(Clone, Debug, Args)]
pub(crate) struct Planning {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// How many GPUs, and the gigabytes of each, such as 5x141
    #[arg(long, value_name = "COUNTxGB")]
    pub(crate) gpus: Gpus,
    /// Sequences of full length that each server holds [default: twice what run.concurrency means on average]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) sequences: Option<u32>,
    /// Tokens of a sequence [default: by the token budgets of each role]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(256..))]
    pub(crate) length: Option<u32>,
    /// Hold weights in fewer bits: all, or those of one model as MODEL=fp8; may be repeated
    #[arg(long, value_name = "fp8|MODEL=fp8")]
    pub(crate) quantisation: Vec<String>,
    /// A further flag for vLLM: for all servers, or for one model as MODEL=--flag; may be repeated
    #[arg(long, value_name = "FLAG|MODEL=FLAG", allow_hyphen_values = true)]
    pub(crate) flag: Vec<String>,
    /// The port of the first server; the others follow
    #[arg(long, default_value_t = 8001, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
}

/// How servers are run.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetRun {
    /// The program
    #[arg(long, value_name = "PATH", default_value = "vllm")]
    pub(crate) vllm: PathBuf,
    /// Where state and logs are
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    pub(crate) folder: PathBuf,
    /// The configuration that is written, with every server's address
    #[arg(long, value_name = "FILE", default_value = "aske-fleet.toml")]
    pub(crate) endpoints: PathBuf,
    /// How long a server may take until it answers, downloads included
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0)]
    pub(crate) ready_minutes: f64,
    /// How often a server that dies is started again
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
    /// Return when all servers answer, and leave them running
    #[arg(long)]
    pub(crate) detach: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What stands after -- goes to `aske bench`. Running it again goes on where it stopped.

Examples:
  aske fleet bench --config paper-bench --gpus 1x141
  aske fleet bench --config paper-bench --gpus 1x141 --from 12 -- --samples 3 --run runs/mine"
)]
pub(crate) struct FleetBench {
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) run: FleetRun,
    /// Begin with this phase
    #[arg(long, value_name = "PHASE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) from: u32,
    /// Arguments of `aske bench`
    #[arg(last = true)]
    pub(crate) bench: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetFolder {
    /// Where state and logs are
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
  aske fleet logs                               the last lines of each server
  aske fleet logs qwen3-8b --follow")]
pub(crate) struct FleetLogs {
    /// Whose logs; all where none is named
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) folder: FleetFolder,
    /// Lines of each
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) lines: usize,
    /// Go on with what is written, until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// A batch script, for `sbatch`
    Slurm,
    /// Deployments and services, for `kubectl apply -f`
    Kubernetes,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske fleet job slurm --config paper-bench --gpus 5x141 > fleet.sbatch
  aske fleet job kubernetes --config paper-bench --gpus 5x141 > fleet.yaml")]
pub(crate) struct FleetJob {
    /// For which scheduler
    pub(crate) scheduler: Scheduler,
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Slurm: the partition
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Slurm: how long the job may take
    #[arg(long, value_name = "HH:MM:SS", default_value = "24:00:00")]
    pub(crate) time: String,
    /// Kubernetes: the image with vLLM
    #[arg(long, value_name = "IMAGE", default_value = "vllm/vllm-openai:latest")]
    pub(crate) image: String,
    /// Kubernetes: the namespace
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) namespace: String,
}
