//! What can be typed after `aske serve`.

use super::{Configuration, Listen};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske serve env --help                         how a trainer plays the asker
  aske serve models                             the nano world's models, for any OpenAI client")]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub(crate) command: ServeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// The environment over HTTP, for trainers of any kind
    Env(ServeEnv),
    /// Models that run in this process, as an OpenAI-compatible endpoint
    Models(ServeModels),
}

#[derive(Debug, Args)]
#[command(after_help = MODELS)]
pub(crate) struct ServeModels {
    /// Which ones [default: all that the configuration uses and that run in this process]
    #[arg(value_name = "MODEL")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// The port; 0 takes any free one
    #[arg(long, default_value_t = 8079)]
    pub(crate) port: u16,
    /// How long a reply may be where the client does not say
    #[arg(long, value_name = "TOKENS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
}

const MODELS: &str =
    "Chat completions, whole or streamed, under http://ADDRESS:PORT/v1. Without a token (see --host) any key will do; else it is the key.

Examples:
  aske serve models                             the nano world's models
  aske serve models --config local              real language models (needs a build with llama.cpp)
  aske serve models qwen2.5-coder-1.5b-instruct --config local --port 9000
  curl http://127.0.0.1:8079/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{\"model\": \"nano-1m\", \"messages\": [{\"role\": \"user\", \"content\": \"What is 2 + 2?\"}]}'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeEnv {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// The port; 0 takes any free one
    #[arg(long, default_value_t = 8078)]
    pub(crate) port: u16,
    /// Where episodes are stored, as a run folder [default: the next free runs/env-N]
    #[arg(long, alias = "out", value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Where the questions of all workers are remembered [default: diversity/ in the run folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// Open sessions at most
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) sessions: usize,
    /// A session that nobody comes back to is forgotten after this long
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=525_600))]
    pub(crate) idle_minutes: u64,
}

const EXAMPLES: &str = "The trainer plays the asker. Where check.model is the asker's, its policy is the judge too; any other model answers here.
GET /openapi.json describes every route.

Examples:
  aske serve env                                the nano world, as in `aske train`
  aske serve env --config paper-train --port 9000 --run runs/mine
  aske serve env --check nano-check             a fixed cross-check solver instead of the policy";
