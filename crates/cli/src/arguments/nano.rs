//! Arguments of `aske nano`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano questions --level 3                 a question of every family, with its answer
  aske nano table                               accuracy of every network
  aske nano export my-nano                      write the networks for transformers and vLLM
  aske nano train --only nano-15k               train one again")]
pub(crate) struct Nano {
    #[command(subcommand)]
    pub(crate) command: NanoCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NanoCommand {
    /// Show questions with their answers, or ask the oracle about one
    Questions(NanoQuestions),
    /// Show the accuracy of each network by question family and level
    Table(NanoTable),
    /// Show how often the cross-check solver of a run agreed with the oracle
    Agreement(NanoAgreement),
    /// Write the built-in networks as folders that transformers and vLLM can load
    Export(NanoExport),
    /// Train the networks from their seeds
    Train(NanoTrain),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano questions --family gcd --level 3
  aske nano questions --understand 'What is the remainder when 723 is divided by 17?'")]
pub(crate) struct NanoQuestions {
    /// Show only this family
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
    /// Show only this level, from 1 to 8 [default: 1 to 5]
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    /// Number of questions for each family and level
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub(crate) number: u32,
    /// The seed of the questions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Ask the oracle about this question instead
    #[arg(long, value_name = "QUESTION")]
    pub(crate) understand: Option<String>,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske nano agreement runs/nano-nano-asker runs/nano-staircase")]
pub(crate) struct NanoAgreement {
    /// Run folders of the nano world [default: the latest benchmark in runs/]
    pub(crate) runs: Vec<PathBuf>,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske nano export my-nano --only nano-2m           then: AutoModelForCausalLM.from_pretrained(\"my-nano/nano-2m\")")]
pub(crate) struct NanoExport {
    /// The folder to write them to
    pub(crate) folder: PathBuf,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Write attention heads as they were trained, also those that vLLM does not support; by default these are widened
    /// with zeros, and replies stay the same
    #[arg(long)]
    pub(crate) original_heads: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano table                                   the built-in table
  aske nano table --measure                         measure the built-in networks again and compare
  aske nano table --measure --weights my-nano       measure networks that you trained")]
pub(crate) struct NanoTable {
    /// Measure the networks now, on held-out questions where there are any, instead of showing the built-in table
    #[arg(long)]
    pub(crate) measure: bool,
    /// A folder of networks written by `aske nano train` [default: the built-in ones]
    #[arg(long, value_name = "FOLDER", requires = "measure")]
    pub(crate) weights: Option<PathBuf>,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Questions for each family and level
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) questions: u32,
    /// Show every level, not just every family
    #[arg(long)]
    pub(crate) levels: bool,
    /// Print as JSON, in the format of the built-in table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano train --only nano-15k --out my-nano     the smallest solver, on the CPU
  aske nano train --device cuda --out my-nano       all of them; needs a build with --features torch")]
pub(crate) struct NanoTrain {
    /// The folder to write the networks to
    #[arg(long, value_name = "FOLDER", default_value = "nano")]
    pub(crate) out: PathBuf,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// cpu or cuda
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// Train a new vocabulary instead of using the built-in one
    #[arg(long)]
    pub(crate) new_vocabulary: bool,
    /// Number of steps [default: the recipe's]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Number of threads that prepare training data
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) threads: usize,
}
