//! Arguments of `aske eval`.

use super::{Execution, Serving, WHOLE};
use crate::completion;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "The protocol is the paper's: one user message, thinking off, temperature 1.0, top_p 0.95, top_k 20, presence
penalty 1.5, 32,000 tokens, 8 samples; `aske config eval` shows all of it. Running the same command again continues where
it stopped, and --samples may grow.

Examples:
  aske eval                                     the nano asker on the built-in benchmark
  aske eval runs/nano-train/seed-0 --tokens 200 --instruction 'Work, \\boxed{}.'
                                                a trained asker, with the nano world's instruction
  aske eval models/qwen3-4b --gpus 1x80         a checkpoint folder; vLLM serves those that this program cannot run
  aske eval model.gguf --tokens 2000            a GGUF file; needs a build with --features llama
  aske eval http://localhost:8000/v1#Qwen/Qwen3.5-4B --data paper --judge gemini-3.1-flash-lite
  aske eval ollama/qwen3:0.6b --tokens 2000     a model of a provider; `aske models providers` lists them
  aske eval my-model --data problems.csv --data imo-answerbench=answerbench.csv
  aske eval datasets                            list the datasets and where they are
  aske eval compare runs/eval-base runs/eval-seed-0 runs/eval-seed-1";

/// Evaluate a model on mathematics benchmarks: pass@k and avg@k.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Eval {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(crate) run: EvalRun,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Compare a base model with the models trained from it
    Compare(EvalCompare),
    /// List the known datasets and where they are
    Datasets(EvalDatasets),
}

#[derive(Debug, Args)]
pub(crate) struct EvalRun {
    /// A configured model, a GGUF file, a checkpoint folder, a seed folder of `aske train`, URL#NAME, or PROVIDER/MODEL
    /// [default: the asker]
    #[arg(add = completion::models())]
    pub(crate) model: Option<String>,
    /// A dataset, `paper` for the paper's four, NAME=FILE, or a .jsonl, .csv, .parquet or .toml file; may be repeated
    /// [default: ladder]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) data: Vec<String>,
    /// A file, or a built-in configuration, where models are defined [default: ./aske.toml, else nano]
    #[arg(short, long, value_name = "FILE|NAME", add = completion::configurations())]
    pub(crate) config: Option<String>,
    /// Set a configuration key; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// The seed of the run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) seed: Option<u64>,
    /// The run folder [default: runs/eval-MODEL]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Number of answers to each problem [default: 8]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// Maximum tokens of an answer [default: 32000]
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u32>,
    /// Instruction after every problem, instead of the dataset's own; empty for none
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// The model that judges answers, for datasets graded by a judge
    #[arg(long, value_name = "MODEL", add = completion::models())]
    pub(crate) judge: Option<String>,
    /// Use at most this many problems of each dataset
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) execution: Execution,
    #[command(flatten)]
    pub(crate) serving: Serving,
}

#[derive(Debug, Args)]
#[command(after_help = "All runs must use the same problems; a problem that one of them lacks is left out.

Examples:
  aske eval compare runs/eval-base runs/eval-seed-0 runs/eval-seed-1 runs/eval-seed-2
  aske eval compare runs/eval-base runs/eval-trained --out table.tex --figure seeds.svg")]
pub(crate) struct EvalCompare {
    /// The run of the base model
    #[arg(add = completion::runs())]
    pub(crate) base: PathBuf,
    /// The runs of the trained models, one for each seed
    #[arg(required = true, add = completion::runs())]
    pub(crate) trained: Vec<PathBuf>,
    /// Format of the table [default: by the extension of --out, else terminal]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<GridFormat>,
    /// Write the table to this file
    #[arg(long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a figure of the seeds to this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GridFormat {
    /// Aligned columns
    Terminal,
    /// Markdown
    Markdown,
    /// LaTeX with booktabs
    Latex,
    /// A web page with the figure
    Html,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske eval datasets --json | jq -r '.[].name'")]
pub(crate) struct EvalDatasets {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
