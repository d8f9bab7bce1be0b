//! Arguments of `aske serve`.

use super::configuration::TRAINING_CONFIG;
use super::{Configuration, ConfigurationSource, Listen};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske serve env --config paper-train           the environment, for a trainer that plays the asker
  aske serve models                             the nano models, for any OpenAI client")]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub(crate) command: ServeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Serve the environment over HTTP to any trainer
    Env(ServeEnv),
    /// Serve local models through an OpenAI-compatible API
    Models(ServeModels),
}

#[derive(Debug, Args)]
#[command(after_help = MODELS)]
pub(crate) struct ServeModels {
    /// The models [default: all local models that the configuration uses]
    #[arg(value_name = "MODEL")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) source: ConfigurationSource,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Maximum tokens of a reply if the request does not say
    #[arg(long, value_name = "TOKENS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: u32,
    /// Do not append the instruction that a model was trained with (`instruction` in its section) to requests without a
    /// system message
    #[arg(long)]
    pub(crate) no_instruction: bool,
}

const MODELS: &str =
    "Chat completions, whole or streamed, at http://ADDRESS:PORT/v1. The API key is the token, if there is one (see --host).

Examples:
  aske serve models                             the nano models
  aske serve models --config local              real language models; needs a build with --features llama
  aske serve models qwen2.5-coder-1.5b-instruct --config local --port 9000
  curl http://127.0.0.1:8079/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{\"model\": \"nano-1m\", \"messages\": [{\"role\": \"user\", \"content\": \"What is 2 + 2?\"}]}'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("config", |config| config.help(TRAINING_CONFIG)))]
pub(crate) struct ServeEnv {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// The run folder that episodes are stored in [default: the next free runs/env-N]
    #[arg(long, alias = "out", value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// The folder with the recent questions of all workers [default: diversity/ in the run folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// Maximum number of open sessions
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) sessions: usize,
    /// Drop a session after this many minutes without a request
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=525_600))]
    pub(crate) idle_minutes: u64,
}

const EXAMPLES: &str = "The trainer plays the asker. If check.model is the asker's model, its policy is the cross-check solver too; any other
model is called by this server.
GET /openapi.json describes every route.

Examples:
  aske serve env                                the nano world, as in `aske train` (--config nano-train)
  aske serve env --config paper-train --port 9000 --run runs/mine
  aske serve env --check nano-check             a fixed cross-check solver instead of the policy";
