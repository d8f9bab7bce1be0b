//! Arguments of `aske models`.

use super::ConfigurationSource;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aske models --config paper-bench              list the models with size, price and key
  aske models gemini-3.1-pro --config paper-bench   test this one
  aske models --probe                           test all of them
  aske models catalogue                         list the models to download
  aske models pull qwen3-1.7b                   download a model"
)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    /// Models to test
    pub(crate) names: Vec<String>,
    /// Test every model
    #[arg(long)]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) source: ConfigurationSource,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Download models of the catalogue, or resume a download; prints their paths
    Pull(Pull),
    /// List the models that can be downloaded
    Catalogue(ShowCatalogue),
    /// Remove downloaded models
    Remove(Remove),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Running the same command again resumes an interrupted download. A model appears in the cache only
if its checksum is right. The cache is the folder ASKE_CACHE, by default `aske/models` in your cache folder.
HF_TOKEN gives access to models whose licence you have accepted on the hub; HF_ENDPOINT selects another hub.

Examples:
  aske models pull qwen3-1.7b
  aske models pull smollm2-135m-instruct gemma-3-270m"
)]
pub(crate) struct Pull {
    /// Names in the catalogue, or on the hub
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske models catalogue")]
pub(crate) struct ShowCatalogue {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske models remove smollm2-135m-instruct")]
pub(crate) struct Remove {
    /// Names in the catalogue, or on the hub
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
}
