//! Arguments of commands that read runs or continue to work on them.

use super::{Listen, WHOLE, whole};
use crate::completion;
use crate::error::CliError;
use crate::output::note_once;
use aske_config::Layers;
use aske_record::Manifest;
use clap::Args;
use std::path::{Path, PathBuf};
use toml::Value;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske report                                   every run in runs/, as tables
  aske report runs/nano-* --html report.html    a page with figures and transcripts, in one file
  aske report runs/mine --json | jq .comparisons
  aske report runs/mine --grader opus           the grades of another cross-check solver

If a folder cannot be read, the reason is shown, the others are reported, and the exit status is 1.")]
pub(crate) struct Report {
    /// Run folders [default: all in runs/ except single sessions of `aske ask`]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// Write a self-contained page, without scripts
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long, requires = "html")]
    pub(crate) open: bool,
    /// Use the grades with this name, as written by `aske regrade`
    #[arg(long, value_name = "NAME")]
    pub(crate) grader: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Records are rebuilt from the replies in calls.sqlite; grades of complete sessions are kept. No model
is called, and no key is needed. Unreadable lines are moved to RUN/damaged/; nothing is deleted. Sessions whose stored
replies are incomplete stay open for `aske bench`.

Examples:
  aske repair runs/mine
  aske repair runs/* --json
Exit status: 0 every session has its record and its grade, 1 some are still open, 2 not a run, or beyond repair."
)]
pub(crate) struct Repair {
    /// Run folders of `aske bench`, `aske ask`, `aske train` or `aske eval` [default: the latest benchmark in runs/]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske view                                     every run in runs/
  aske view runs/mine runs/other                two runs, to compare
  aske view runs/mine --bundle site             static files: open site/index.html
Runs in progress are followed live.")]
pub(crate) struct View {
    /// Run folders, or folders that hold runs at any depth [default: runs]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Write the same pages as static files into this new folder, for any web host or a browser without a server
    #[arg(long, value_name = "DIR")]
    pub(crate) bundle: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// Flags of commands that work on an existing run.
#[derive(Clone, Debug, Args)]
pub(crate) struct OnRun {
    /// Where to look up models that the run does not define [default: ./aske.toml and the built-in ones]
    #[arg(short, long, value_name = "FILE|NAME", add = completion::configurations())]
    pub(crate) config: Option<String>,
    /// Set a key of the run's configuration, such as the URL of a model; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Maximum number of concurrent questions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) concurrency: Option<u64>,
    /// Stop when all calls stored in the folder have cost this much
    #[arg(long, value_name = "USD")]
    pub(crate) budget_usd: Option<f64>,
    /// Start without trying each model that is called over HTTP once
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl OnRun {
    /// The configuration of a run, with these flags on top.
    pub(crate) fn load(&self, run: &Path) -> Result<Layers, CliError> {
        let manifest = Manifest::require(run)?;
        let flags = [
            ("--concurrency", "run.concurrency", self.concurrency.map(whole)),
            ("--budget-usd", "run.budget_usd", self.budget_usd.map(Value::Float)),
        ];
        let flags = super::given(&self.overrides, flags)?;
        let path = run.join("run.toml");
        let layers =
            Layers::of_run(manifest.config, &path, self.config.as_deref(), super::environment(), &flags)?;
        layers.notices().iter().for_each(note_once);
        Ok(layers)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "If two solvers are right with probabilities p and q, exactly one of them is right with probability
(p−q)² + p(1−p) + q(1−q): real separation plus sampling noise. Solving the final questions again separates the two.

Examples:
  aske audit runs/nano-staircase --draws 8
  aske audit runs/mine --limit 200              a random part of the sessions, chosen by the seed
Running it again continues where it stopped; with more --draws, existing draws are kept."
)]
pub(crate) struct Audit {
    /// The run folders [default: the latest benchmark in runs/]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// How many times each of the two solvers answers a final question again
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) draws: u32,
    /// Audit at most this many sessions, chosen by the seed
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Skip the control with two solvers of another pair
    #[arg(long)]
    pub(crate) no_controls: bool,
    #[command(flatten)]
    pub(crate) on_run: OnRun,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske baseline runs/mine                       50 questions, each answered once by every solver")]
pub(crate) struct Baseline {
    /// The run folders, with the askers and solvers to use [default: the latest benchmark in runs/]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// Number of questions
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) questions: u32,
    #[command(flatten)]
    pub(crate) on_run: OnRun,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske regrade runs/* --check claude-opus-5     one answer each, as in the paper's check
  aske regrade runs/mine --check my-model --draws 3 --config my.toml
Neither the asker nor the boundary solvers are called; the run's own grades are kept.")]
pub(crate) struct Regrade {
    /// The run folders [default: the latest benchmark in runs/]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// The model that gives the reference answer instead
    #[arg(long, value_name = "MODEL", add = completion::models())]
    pub(crate) check: String,
    /// How many answers it gives; all must agree
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) draws: u32,
    /// The name of the new grades [default: the model's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) on_run: OnRun,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The asker writes questions for an easy and a hard target; an independent solver tries both. If the
asker adapts, that solver fails more often on the hard target's questions.

Examples:
  aske difficulty                               the nano world's targets
  aske difficulty --config paper-bench --asker gemini-3.1-pro
  aske difficulty --easy a:b --hard c:d --solver e --config my.toml
Sessions that `aske bench` has run in the same folder are reused."
)]
pub(crate) struct Difficulty {
    #[command(flatten)]
    pub(crate) configuration: super::Configuration,
    /// The easy pair [default: difficulty.easy of the configuration]
    #[arg(long, value_name = "A:B")]
    pub(crate) easy: Option<String>,
    /// The hard pair [default: difficulty.hard]
    #[arg(long, value_name = "A:B")]
    pub(crate) hard: Option<String>,
    /// The independent solver [default: difficulty.solver]
    #[arg(long, value_name = "MODEL", add = completion::models())]
    pub(crate) solver: Option<String>,
    /// Sessions for each pair
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// The run folder [default: runs/CONFIG-ASKER]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Run an experiment that differs from the one in the usual folder in a new folder, also if models cost money
    #[arg(long)]
    pub(crate) new: bool,
    /// Start without trying each model that is called over HTTP once
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske export runs/mine --out mine                         four Parquet files in a folder
  aske export runs/* --table questions --calibrated --out exam.parquet
  aske export runs/* --table questions --difficulty=-1..2 --out exam.jsonl
  python -c 'import datasets; print(datasets.load_dataset(\"parquet\", data_files=\"exam.parquet\"))'
Difficulty is in logits: a solver of the same ability is right half the time; `aske report` shows abilities.")]
pub(crate) struct Export {
    /// Run folders [default: all in runs/]
    #[arg(add = completion::runs())]
    pub(crate) runs: Vec<PathBuf>,
    /// A .parquet or .jsonl file, or a folder for all tables
    #[arg(long, value_name = "FILE|FOLDER", default_value = "export")]
    pub(crate) out: PathBuf,
    /// Export only this table [default: questions for a file, all for a folder; evals for runs of `aske eval`]
    #[arg(long, value_name = "NAME", value_enum)]
    pub(crate) table: Option<TableName>,
    /// Format of the files in a folder
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatName::Parquet)]
    pub(crate) format: FormatName,
    /// Export only calibrated sessions and their questions
    #[arg(long)]
    pub(crate) calibrated: bool,
    /// Export only questions with a difficulty in this range, in logits
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) difficulty: Option<(f64, f64)>,
    /// Use the grades with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) grader: Option<String>,
    /// Print the written files as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Names of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableName {
    /// One row per session, with all its turns
    Sessions,
    /// The question bank: one row per final question, with its answer and difficulty
    Questions,
    /// One row per answer
    Answers,
    /// One row per grade, of every grader
    Grades,
    /// One row per sample of `aske eval`
    Evals,
}

/// Names of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatName {
    /// Apache Parquet
    Parquet,
    /// One JSON object per line
    Jsonl,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("`{text}` is not a range; write two numbers such as -1..2");
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let (low, high): (f64, f64) = (low.parse().map_err(|_| wrong())?, high.parse().map_err(|_| wrong())?);
    if low <= high { Ok((low, high)) } else { Err(wrong()) }
}
