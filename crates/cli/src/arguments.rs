//! The command line: every command, flag and help text.

mod bench;
mod configuration;
mod eval;
mod evidence;
mod fleet;
mod help;
mod import;
mod init;
mod listen;
mod mistake;
mod models;
mod nano;
mod serve;
mod serving;
mod train;
mod verify;

pub(crate) use bench::{Ask, Bench};
pub(crate) use configuration::{Configuration, ConfigurationSource, Execution, shown_override, whole};
pub(crate) use eval::{Eval, EvalCommand, EvalCompare, EvalDatasets, EvalRun, GridFormat};
pub(crate) use evidence::{
    Audit, Baseline, Difficulty, Export, FormatName, OnRun, Regrade, Repair, Report, TableName, View,
};
pub(crate) use fleet::{
    Fleet, FleetBench, FleetCommand, FleetFolder, FleetJob, FleetLogs, FleetPlan, FleetRun, FleetStatus,
    FleetUp, Planning, Scheduler,
};
pub(crate) use import::Import;
pub(crate) use init::Init;
pub(crate) use listen::Listen;
pub(crate) use models::{Models, ModelsCommand, Providers, Pull, Remove, ShowCatalogue};
pub(crate) use nano::{Nano, NanoAgreement, NanoCommand, NanoExport, NanoQuestions, NanoTable, NanoTrain};
pub(crate) use serve::{Serve, ServeCommand, ServeEnv, ServeModels};
pub(crate) use serving::Serving;
pub(crate) use train::Train;
pub(crate) use verify::{Compat, Verify};

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
pub(crate) use configuration::environment;
use configuration::{WHOLE, given};
use std::path::PathBuf;

/// How well does a language model ask?
///
/// An asker probes two boundary solvers for a few rounds and then writes one question. It succeeds if exactly one of
/// the two gives the same answer as the cross-check solver.
#[derive(Debug, Parser)]
#[command(name = "aske", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: Log,
}

impl Arguments {
    /// The arguments of this process; ends it after printing help or a mistake in them.
    pub(crate) fn read() -> Self {
        let mut command = help::laid_out(Self::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        matches
            .and_then(|matches| Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command)))
            .unwrap_or_else(|error| mistake::explain(&error))
    }
}

/// What is logged, and where to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct Log {
    /// Log to stderr: -v retries, rate limits, waits, dropped connections and resumed sessions; -vv every call; -vvv
    /// also reply texts. ASKE_LOG sets levels by module, such as ASKE_LOG=aske_model=debug
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Also append the log to FILE; without -v and ASKE_LOG, only to the file, at the level of -v
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one session and show it as it happens
    Ask(Ask),
    /// Run the benchmark, or continue it
    Bench(Bench),
    /// Evaluate a model on mathematics benchmarks: pass@k and avg@k
    Eval(Eval),
    /// Train the asker
    Train(Train),
    /// Serve the environment to other programs
    Serve(Serve),
    /// Serve a boundary set on GPUs with vLLM
    Fleet(Fleet),
    /// Report the results of runs: tables, or a page with figures
    Report(Report),
    /// Browse and compare runs in the browser
    View(View),
    /// Solve final questions again, to separate skill from luck
    Audit(Audit),
    /// Grade runs again with another cross-check solver
    Regrade(Regrade),
    /// Measure the asker without probing
    Baseline(Baseline),
    /// Measure whether the asker adapts the difficulty to its target
    Difficulty(Difficulty),
    /// Export sessions, questions, answers and grades as Parquet or JSON lines
    Export(Export),
    /// Import rollouts written by verifiers
    Import(Import),
    /// Merge run folders that belong together
    Merge(Merge),
    /// Rebuild lost records and grades from stored replies, without calling a model
    Repair(Repair),
    /// Write aske.toml for a model of yours, after trying it
    Init(Init),
    /// Show every configuration value and where it comes from
    Config(ShowConfig),
    /// Show and test the configured models, or download models
    Models(Models),
    /// Export or check a prompt pack
    Prompts(Prompts),
    /// Check whether two answers are equal
    Verify(Verify),
    /// The nano world: question generator, oracle and built-in networks
    Nano(Nano),
    /// Convert a GGUF file into a folder for training
    Convert(Convert),
    /// Print shell completions
    Completions(Completions),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske merge runs/whole runs/part-1 runs/part-2")]
pub(crate) struct Merge {
    /// The new folder
    pub(crate) into: PathBuf,
    /// The run folders to merge
    #[arg(required = true, num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske config                                   every value in effect, with its origin
  aske config run --config paper-bench          only keys that start with `run`")]
pub(crate) struct ShowConfig {
    /// Show only keys that start with this
    pub(crate) prefix: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske prompts export my-prompts                write the built-in pack, to edit
  aske prompts check my-prompts                 then set protocol.prompts = \"my-prompts\"")]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// Write a built-in prompt pack into a folder
    Export {
        /// The folder; it must be new or empty
        folder: PathBuf,
        /// math, choice, number or text; or the short prompts nano (nano world) and small (small models)
        #[arg(long, default_value = "math")]
        domain: String,
    },
    /// Check a prompt pack; reports missing files and wrong placeholders by file and line
    Check {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske convert SmolLM2-135M-Instruct.Q8_0.gguf smollm2
                                                then set models.NAME.path = \"smollm2\"")]
pub(crate) struct Convert {
    /// The GGUF file of a Llama, Qwen2 or Qwen3 model
    pub(crate) file: PathBuf,
    /// The folder to write, for transformers, vLLM and `aske train`; must not contain a checkpoint yet
    pub(crate) folder: PathBuf,
    /// Write bfloat16 instead of single precision
    #[arg(long)]
    pub(crate) half: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "They know the names of models, configurations, boundary sets and runs. Let the shell read them when it starts:
  echo 'source <(aske completions bash)' >> ~/.bashrc
  echo 'source <(aske completions zsh)' >> ~/.zshrc
  echo 'aske completions fish | source' >> ~/.config/fish/config.fish

Example:
  aske completions bash"
)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}
