//! What can be typed about models on benchmarks.

use super::{Budget, WHOLE};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "The protocol is the paper's: one user message, thinking off, temperature 1.0, top_p 0.95, top_k 20, presence
penalty 1.5, 32,000 tokens, 8 samples; `aske config eval` shows all of it. Running the same command again goes on where
it stopped, and --samples may grow.

Examples:
  aske eval                                     the nano asker on the benchmark that ships
  aske eval runs/nano-train/seed-0 --tokens 200 --instruction 'Work, \\boxed{}.'
                                                what a training made of it, in the words of the nano world
  aske eval model.gguf --tokens 2000            a file, with a program built with llama.cpp
  aske eval http://localhost:8000/v1#Qwen/Qwen3.5-4B --data paper --judge gemini-3.1-flash-lite
  aske eval my-model --data problems.csv --data imo-answerbench=answerbench.csv
  aske eval datasets                            what is known, and where it lies
  aske eval compare runs/eval-base runs/eval-seed-0 runs/eval-seed-1";

/// A model on mathematics benchmarks: pass@k and avg@k.
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
    /// Compare a base model with what training made of it
    Compare(EvalCompare),
    /// List the datasets that are known, and where they lie
    Datasets(EvalDatasets),
}

#[derive(Debug, Args)]
pub(crate) struct EvalRun {
    /// A configured model, a GGUF file, the folder of a checkpoint or of a training's seed, or URL#NAME [default: the asker]
    pub(crate) model: Option<String>,
    /// A dataset, `paper` for the paper's four, NAME=FILE, or a .jsonl, .csv, .parquet or .toml file; may be repeated
    /// [default: ladder]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) data: Vec<String>,
    /// A file, or a built-in configuration, where models are defined [default: ./aske.toml, else nano]
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) config: Option<String>,
    /// Set any key of the configuration; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// The seed of the run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) seed: Option<u64>,
    /// The run folder [default: runs/eval-MODEL]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Answers to each problem [default: 8]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// Tokens of an answer [default: 32000]
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u32>,
    /// What follows every problem, instead of the datasets' own instructions; empty for nothing
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// Who judges answers where a dataset wants it
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    /// At most this many problems of each dataset
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Answers in flight at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) concurrency: Option<u64>,
    #[command(flatten)]
    pub(crate) budget: Budget,
    /// Show what would be asked, and ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Both runs must be of the same problems; a problem that one of them lacks counts in none.

Examples:
  aske eval compare runs/eval-base runs/eval-seed-0 runs/eval-seed-1 runs/eval-seed-2
  aske eval compare runs/eval-base runs/eval-trained --output table.tex --figure seeds.svg"
)]
pub(crate) struct EvalCompare {
    /// The run of the base model
    pub(crate) base: PathBuf,
    /// The runs of the trained models, one for each seed
    #[arg(required = true)]
    pub(crate) trained: Vec<PathBuf>,
    /// How the table is written [default: by the ending of --output, else for the terminal]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<GridFormat>,
    /// Write it into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the figure of seeds as an SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GridFormat {
    /// For people
    Terminal,
    /// Markdown
    Markdown,
    /// LaTeX, with booktabs
    Latex,
    /// A page with the figure
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
