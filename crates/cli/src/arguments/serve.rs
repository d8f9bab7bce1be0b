//! What can be typed after `aske serve`.

use super::Configuration;
use clap::{Args, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske serve env --help                         how a trainer plays the asker")]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub(crate) command: ServeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// The environment over HTTP, for trainers of any kind
    Env(ServeEnv),
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeEnv {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The address to listen on; any but this machine's own lets others spend on your models
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
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
