//! Arguments of `aske models`.

use super::ConfigurationSource;
use crate::completion;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aske models --config paper-bench              list the models with size, price and key
  aske models gemini-3.1-pro --config paper-bench   test this one
  aske models --probe                           test all of them
  aske models ollama/qwen3:0.6b                 test a model that is named by its provider
  aske models providers                         list the providers, their addresses and keys
  aske models providers ollama                  list the models that a provider offers
  aske models catalogue                         list the models to download
  aske models pull qwen3-1.7b                   download a model"
)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    /// Models to test: configured ones, files, folders, URL#NAME or PROVIDER/MODEL
    #[arg(add = completion::models())]
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
    /// List providers, or the models that one of them offers
    Providers(Providers),
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

#[derive(Debug, Args)]
#[command(
    after_help = "A model of a provider is named PROVIDER/MODEL wherever a model is named. [providers.NAME] in a configuration
adds or changes a provider.

Examples:
  aske models providers
  aske models providers openrouter"
)]
pub(crate) struct Providers {
    /// List the models that this provider offers
    #[arg(add = completion::providers())]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) source: ConfigurationSource,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
