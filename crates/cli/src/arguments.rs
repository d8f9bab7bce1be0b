//! What can be typed.

mod eval;
mod evidence;
mod fleet;
mod import;
mod listen;
mod models;
mod serve;
mod train;

pub(crate) use eval::{Eval, EvalCommand, EvalCompare, EvalDatasets, EvalRun, GridFormat};
pub(crate) use evidence::{
    Audit, Baseline, Difficulty, Export, FormatName, OnRun, Regrade, Repair, Report, TableName, View,
};

pub(crate) use fleet::{
    Fleet, FleetBench, FleetCommand, FleetFolder, FleetJob, FleetLogs, FleetPlan, FleetRun, FleetStatus,
    FleetUp, Planning, Scheduler,
};
pub(crate) use import::Import;
pub(crate) use listen::Listen;
pub(crate) use models::{Models, ModelsCommand, Pull, Remove, ShowCatalogue};
pub(crate) use serve::{Serve, ServeCommand, ServeEnv, ServeModels};
pub(crate) use train::Train;

use crate::output::note;
use aske_bench::Shard;
use aske_config::{ConfigError, Layers};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;
use toml::Value;

/// How well does a language model ask?
///
/// An asker probes two boundary solvers for a few rounds and then writes one question. It succeeds when exactly
/// one of the two gives the answer of the cross-check solver.
#[derive(Debug, Parser)]
#[command(name = "aske", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "Examples:
  aske bench                                    the benchmark on the nano world, which ships
  aske ask nano-40k nano-1m                     one session, live
  aske bench --config paper-bench --dry-run     what the paper's benchmark would take
  aske bench --config paper-bench --asker deepseek-v4-pro --budget-usd 200
  aske report --html report.html                what the runs tell, as a page
  aske view                                     read them in the browser

Exit status: 0 done, 1 finished with failures, 2 usage or configuration, 3 budget reached, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one session and show it as it happens
    Ask(Ask),
    /// Run the benchmark, or go on with it
    Bench(Bench),
    /// Put benchmark problems to a model: pass@k and avg@k
    Eval(Eval),
    /// Let the asker learn to ask
    Train(Train),
    /// Serve the environment to other programs
    Serve(Serve),
    /// Serve a boundary set on GPUs with vLLM
    Fleet(Fleet),
    /// Show what runs tell: tables, or a page with figures
    Report(Report),
    /// Read and compare runs in the browser
    View(View),
    /// Solve final questions again, to tell skill from luck
    Audit(Audit),
    /// Grade runs again with another cross-check solver
    Regrade(Regrade),
    /// Let the asker ask without probing
    Baseline(Baseline),
    /// Measure whether the asker adjusts difficulty to its target
    Difficulty(Difficulty),
    /// Write sessions, questions, answers and grades for other programs
    Export(Export),
    /// Make a run of rollouts that others have written
    Import(Import),
    /// Join run folders that belong together
    Merge(Merge),
    /// Make lost records and grades again from stored replies, without calling a model
    Repair(Repair),
    /// Show every value of the configuration and where it came from
    Config(ShowConfig),
    /// Show the configured models, try them; download others
    Models(Models),
    /// Export or check a prompt pack
    Prompts(Prompts),
    /// Tell whether two answers are the same
    Verify(Verify),
    /// The nano world: networks small enough to ship
    Nano(Nano),
    /// Make a folder for training out of a GGUF file
    Convert(Convert),
    /// Print shell completions
    Completions(Completions),
}

/// Which configuration, and what is laid over it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Configuration {
    /// A file, or a built-in configuration: nano, nano-train, local, paper-bench, paper-train [default: ./aske.toml, else nano]
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) config: Option<String>,
    /// Set any key of the configuration; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Who asks
    #[arg(long, value_name = "MODEL")]
    pub(crate) asker: Option<String>,
    /// Who supplies the reference answer
    #[arg(long, value_name = "MODEL")]
    pub(crate) check: Option<String>,
    /// The boundary set
    #[arg(long, value_name = "NAME", conflicts_with = "solvers")]
    pub(crate) set: Option<String>,
    /// The boundary solvers, separated by commas
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Probing rounds before the final question
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// The seed of the run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) seed: Option<u64>,
}

impl Configuration {
    /// These flags again, without the file, for another command.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add =
            |flag: &str, value: Option<String>| flags.extend(value.map(|value| format!("{flag}={value}")));
        for text in &self.overrides {
            add("--override", Some(text.clone()));
        }
        add("--asker", self.asker.clone());
        add("--check", self.check.clone());
        add("--set", self.set.clone());
        add("--solvers", (!self.solvers.is_empty()).then(|| self.solvers.join(",")));
        add("--rounds", self.rounds.map(|rounds| rounds.to_string()));
        add("--seed", self.seed.map(|seed| seed.to_string()));
        flags
    }

    /// Loads the layers with these flags, and `more`, on top.
    pub(crate) fn load(&self, more: Vec<(&str, &str, Option<Value>)>) -> Result<Layers, ConfigError> {
        let text = |value: &Option<String>| value.clone().map(Value::String);
        let solvers = (!self.solvers.is_empty()).then(|| Value::from(self.solvers.clone()));
        let own = vec![
            ("--asker", "asker.model", text(&self.asker)),
            ("--check", "check.model", text(&self.check)),
            ("--set", "boundary.set", text(&self.set)),
            ("--solvers", "boundary.solvers", solvers),
            ("--rounds", "protocol.rounds", self.rounds.map(|n| Value::Integer(n.into()))),
            ("--seed", "run.seed", self.seed.map(whole)),
        ];
        let mut flags = Vec::new();
        for text in &self.overrides {
            flags.push(Layers::parse_override(text)?);
        }
        for (flag, key, value) in own.into_iter().chain(more) {
            flags.extend(value.map(|value| (flag.to_owned(), key.to_owned(), value)));
        }
        // The set `local` has a configuration of its own, whose budgets suit it.
        let local = self.set.as_deref().filter(|set| *set == "local");
        let layers = Layers::load(self.config.as_deref().or(local), environment(), &flags)?;
        layers.notices().iter().for_each(note);
        Ok(layers)
    }
}

/// The environment. A variable that is no text is none of ours.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The whole numbers that a configuration can hold.
const WHOLE: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;

/// A whole number as a value; the arguments allow no larger one.
pub(crate) fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What a run may use before it stops.
#[derive(Clone, Debug, Args)]
pub(crate) struct Budget {
    /// Stop when the folder's calls have cost this much
    #[arg(long = "budget-usd", value_name = "USD")]
    pub(crate) usd: Option<f64>,
    /// Stop when the folder's calls have used this many tokens
    #[arg(long = "budget-tokens", id = "budget_tokens", value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) tokens: Option<u64>,
    /// Stop after this many minutes
    #[arg(long = "budget-minutes", value_name = "MINUTES")]
    pub(crate) minutes: Option<f64>,
}

impl Budget {
    /// Flags, and the keys of the configuration that they set.
    pub(crate) fn flags(&self) -> [(&'static str, &'static str, Option<Value>); 3] {
        [
            ("--budget-usd", "run.budget_usd", self.usd.map(Value::Float)),
            ("--budget-tokens", "run.budget_tokens", self.tokens.map(whole)),
            ("--budget-minutes", "run.budget_minutes", self.minutes.map(Value::Float)),
        ]
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske ask                                      two solvers of the nano world
  aske ask nano-40k nano-1m --rounds 2
  aske ask qwen3-1.7b gemini-3-flash --config paper-bench --asker gemini-3.1-pro")]
pub(crate) struct Ask {
    /// Model 1; the first of the boundary set where none is named
    pub(crate) one: Option<String>,
    /// Model 2; the last of the boundary set where none is named
    #[arg(requires = "one")]
    pub(crate) two: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// Where to store the session [default: the next free runs/ask-N]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Show the asker's private sections in full
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske verify '\\frac{1}{2}' '50\\%'              equal: exit status 0
  aske verify '(1,2)' '1<x<2' --explain          how it was read and decided
  aske verify --jsonl pairs.jsonl                lines {\"gold\",\"pred\"} in; the same plus \"equal\" and \"method\" out
  aske verify --jsonl --compat math-verify < pairs.jsonl
  aske verify '5 cm' 5 --policy unit_optional=false

Exit status: 0 equal, 1 different, 2 usage, 4 undecided; with --jsonl 0 when all lines were compared.
In the lines, \"equal\" is null where it is undecided.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Verify {
    /// The reference answer
    #[arg(required_unless_present_any = ["jsonl", "policies"], conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) gold: Option<String>,
    /// The answer to judge
    #[arg(required_unless_present_any = ["jsonl", "policies"], conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) pred: Option<String>,
    /// Compare the pairs of a file, or of standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Show how both answers were read and what decided
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) explain: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) json: bool,
    /// Reproduce the verdicts of another program
    #[arg(long, value_name = "PROGRAM", value_enum)]
    pub(crate) compat: Option<Compat>,
    /// Decide one open question of notation otherwise; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "compat")]
    pub(crate) policy: Vec<String>,
    /// List the open questions of notation and how they are decided
    #[arg(long, conflicts_with_all = ["jsonl", "gold"])]
    pub(crate) policies: bool,
    /// Print what the comparisons took, as JSON on standard error
    #[arg(long, requires = "jsonl")]
    pub(crate) timing: bool,
}

/// Programs whose verdicts can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compat {
    /// math-verify 0.9.0
    MathVerify,
    /// The paper: math-verify, then the same text, parts, or "no solution"
    Paper,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Running the same command again goes on where it stopped: finished sessions are skipped, and
an unfinished one replays what it has paid for.

Examples:
  aske bench                                    the nano world, all pairs, 10 samples
  aske bench --pairs nano-40k:nano-1m --samples 3
  aske bench --asker staircase                  an asker that needs no model
  aske bench --config paper-bench --dry-run     plan, calls, tokens, cost
  aske bench --config my.toml --run runs/mine --budget-usd 50
  aske bench --until 5                          stop when the interval is ± 5 points
  aske bench --config my.toml --shard 3/8       a part of the plan, anywhere; `aske merge` joins the parts"
)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The run folder [default: runs/CONFIG-ASKER]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Only these pairs (a:b), or every pair with a solver (a); separated by commas
    #[arg(long, value_name = "A:B,…", value_delimiter = ',')]
    pub(crate) pairs: Vec<String>,
    /// Sessions for each pair
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// At most this many sessions of the plan
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Stop when the 95% interval of the calibrated share is this many points wide to either side; pairs that tell
    /// more are drawn more often
    #[arg(long, value_name = "POINTS", conflicts_with = "shard")]
    pub(crate) until: Option<f64>,
    /// Only a part of the plan, such as 3/8
    #[arg(long, value_name = "PART/PARTS")]
    pub(crate) shard: Option<Shard>,
    /// Sessions in flight at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) concurrency: Option<u64>,
    #[command(flatten)]
    pub(crate) budget: Budget,
    /// Show the plan and what it would take, and ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske merge runs/whole runs/part-1 runs/part-2")]
pub(crate) struct Merge {
    /// The new folder
    pub(crate) into: PathBuf,
    /// The run folders to join
    #[arg(required = true, num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske config                                   every value in effect, with its origin
  aske config run --config paper-bench          only what begins with `run`")]
pub(crate) struct ShowConfig {
    /// Only keys that begin with this
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
        /// math, choice, number or text; or nano or small, short prompts of the nano world or for small models
        #[arg(long, default_value = "math")]
        domain: String,
    },
    /// Check a prompt pack; names a missing file or a wrong placeholder by file and line
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
    /// The file: Llama, Qwen2 or Qwen3
    pub(crate) file: PathBuf,
    /// The folder, for transformers, vLLM and `aske train`; it must hold no checkpoint yet
    pub(crate) folder: PathBuf,
    /// Write bfloat16 instead of single precision
    #[arg(long)]
    pub(crate) half: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske completions bash > /etc/bash_completion.d/aske")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano questions --level 3                 a question of every family, with its answer
  aske nano table                               who can do what
  aske nano export my-nano                      the networks, for transformers and vLLM
  aske nano train --only nano-15k               make one again")]
pub(crate) struct Nano {
    #[command(subcommand)]
    pub(crate) command: NanoCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NanoCommand {
    /// Show questions with their answers, or what the oracle makes of one
    Questions(NanoQuestions),
    /// Show how often each network is right, by family and level
    Table(NanoTable),
    /// Show how often the cross-check solver of a run agreed with the oracle
    Agreement(NanoAgreement),
    /// Write the shipped networks as folders that transformers and vLLM load
    Export(NanoExport),
    /// Train the networks from their seeds
    Train(NanoTrain),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano questions --family gcd --level 3
  aske nano questions --understand 'What is the remainder when 723 is divided by 17?'")]
pub(crate) struct NanoQuestions {
    /// Only this family
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
    /// Only this level, from 1 to 8 [default: 1 to 5]
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    /// Questions for each family and level
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub(crate) number: u32,
    /// The seed
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
    /// Run folders of the nano world
    #[arg(required = true, num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske nano export my-nano --only nano-2m           then: AutoModelForCausalLM.from_pretrained(\"my-nano/nano-2m\")")]
pub(crate) struct NanoExport {
    /// Where the folders go
    pub(crate) folder: PathBuf,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano table                                   the table that ships
  aske nano table --measure                         ask the shipped networks again, and compare
  aske nano table --measure --weights my-nano       networks that you trained")]
pub(crate) struct NanoTable {
    /// Ask the networks now, held-out questions where there are some, instead of showing the table that ships
    #[arg(long)]
    pub(crate) measure: bool,
    /// A folder of networks, as `aske nano train` writes it [default: those that ship]
    #[arg(long, value_name = "FOLDER", requires = "measure")]
    pub(crate) weights: Option<PathBuf>,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Questions for each family and level
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) questions: u32,
    /// Show every level, not only every family
    #[arg(long)]
    pub(crate) levels: bool,
    /// Print as JSON, in the form of the file that ships
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske nano train --only nano-15k --out my-nano     the smallest solver, on the processor
  aske nano train --device cuda --out my-nano       all of them, in a program built with --features torch")]
pub(crate) struct NanoTrain {
    /// Where the networks go
    #[arg(long, value_name = "FOLDER", default_value = "nano")]
    pub(crate) out: PathBuf,
    /// Only these networks, separated by commas
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// cpu or cuda
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// Make the vocabulary anew from the lessons, instead of taking the one that ships
    #[arg(long)]
    pub(crate) new_vocabulary: bool,
    /// Steps instead of the recipe's
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Threads that prepare lessons
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) threads: usize,
}
