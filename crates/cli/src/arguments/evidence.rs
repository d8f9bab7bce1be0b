//! What can be typed after a run: reports, and further work on it.

use super::{Listen, WHOLE, whole};
use crate::output::note;
use crate::problem::Problem;
use aske_config::Layers;
use aske_record::{Manifest, RunError};
use clap::Args;
use std::path::{Path, PathBuf};
use toml::Value;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske report                                   every run in runs/, as tables
  aske report runs/nano-* --html report.html    a page with figures and transcripts, in one file
  aske report runs/mine --json | jq .comparisons
  aske report runs/mine --grader opus           the same sessions under another cross-check solver

A folder that cannot be read is named with its reason, and the others are shown; the exit status is then 1.")]
pub(crate) struct Report {
    /// Run folders [default: all in runs/, single sessions of `aske ask` left out]
    pub(crate) runs: Vec<PathBuf>,
    /// Write a page that needs no network and no scripts
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Use the grades of this grader, as `aske regrade` named it
    #[arg(long, value_name = "NAME")]
    pub(crate) grader: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Records are made again from the replies in calls.sqlite; a grade whose session is complete stays as it
is. No model is called, and no key is needed. Lines that cannot be read are moved into RUN/damaged/, and nothing is
deleted. What the stored replies do not finish stays open for `aske bench`.

Examples:
  aske repair runs/mine
  aske repair runs/* --json
Exit status: 0 every session has its record and its grade, 1 some are still open, 2 not a run, or damaged beyond this."
)]
pub(crate) struct Repair {
    /// The run folders: of `aske bench`, `aske ask`, `aske train` or `aske eval`
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske view                                     every run in runs/
  aske view runs/mine runs/other                two runs, to compare
A run that is still going is followed as it grows.")]
pub(crate) struct View {
    /// Run folders [default: all in runs/]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// The port on this machine; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 8765)]
    pub(crate) port: u16,
}

/// How work on a run that is there is configured.
#[derive(Clone, Debug, Args)]
pub(crate) struct OnRun {
    /// Where models are defined that the run does not know [default: ./aske.toml, and what ships]
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) config: Option<String>,
    /// Set any key of the run's configuration, such as the address of a model; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Questions in flight at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) concurrency: Option<u64>,
    /// Stop when the folder's calls have cost this much
    #[arg(long, value_name = "USD")]
    pub(crate) budget_usd: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl OnRun {
    /// The configuration of a run, with these flags on top.
    pub(crate) fn load(&self, run: &Path) -> Result<Layers, Problem> {
        let manifest = Manifest::read(run)?.ok_or_else(|| RunError::NoRun { path: run.to_owned() })?;
        let mut flags = Vec::new();
        for text in &self.overrides {
            flags.push(Layers::parse_override(text)?);
        }
        let own = [
            ("--concurrency", "run.concurrency", self.concurrency.map(whole)),
            ("--budget-usd", "run.budget_usd", self.budget_usd.map(Value::Float)),
        ];
        for (flag, key, value) in own {
            flags.extend(value.map(|value| (flag.to_owned(), key.to_owned(), value)));
        }
        let path = run.join("run.toml");
        let layers =
            Layers::of_run(manifest.config, &path, self.config.as_deref(), super::environment(), &flags)?;
        layers.notices().iter().for_each(note);
        Ok(layers)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "With right-probabilities p and q, exactly one of two solvers is right with probability
(p−q)² + p(1−p) + q(1−q): real separation, and sampling noise. Solving the final questions again tells them apart.

Examples:
  aske audit runs/nano-staircase --draws 8
  aske audit runs/mine --limit 200              a part of the sessions, chosen by the seed
Running it again goes on where it stopped; more draws keep those that are there."
)]
pub(crate) struct Audit {
    /// The run folders
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// How often each of the two solvers answers a final question again
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) draws: u32,
    /// At most this many sessions, chosen by the seed
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Do not put the questions to two solvers of another pair
    #[arg(long)]
    pub(crate) no_controls: bool,
    #[command(flatten)]
    pub(crate) on_run: OnRun,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  aske baseline runs/mine                       50 questions, each put to every solver once")]
pub(crate) struct Baseline {
    /// The run folders, whose askers ask and whose solvers answer
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Questions
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) questions: u32,
    #[command(flatten)]
    pub(crate) on_run: OnRun,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske regrade runs/* --check claude-opus-5     one answer each, as in the paper's check
  aske regrade runs/mine --check my-model --draws 3 --config my.toml
No asker and no boundary solver is called; the run's own grades stay as they are.")]
pub(crate) struct Regrade {
    /// The run folders
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Who supplies the reference answer instead
    #[arg(long, value_name = "MODEL")]
    pub(crate) check: String,
    /// How often it answers; all answers must agree
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
    after_help = "The asker writes questions for an easy and for a hard target; a solver that had no part in them
tries both. If the asker adjusts, it fails more often on the hard one.

Examples:
  aske difficulty                               the nano world's targets
  aske difficulty --config paper-bench --asker gemini-3.1-pro
  aske difficulty --easy a:b --hard c:d --solver e --config my.toml
Sessions that `aske bench` has run into the same folder are used, not run again."
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
    #[arg(long, value_name = "MODEL")]
    pub(crate) solver: Option<String>,
    /// Sessions for each pair
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// The run folder [default: runs/CONFIG-ASKER]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
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
Difficulty is in logits: a solver whose ability has the same value is right half the time; `aske report` shows abilities.")]
pub(crate) struct Export {
    /// Run folders [default: all in runs/]
    pub(crate) runs: Vec<PathBuf>,
    /// A file that ends in .parquet or .jsonl, or a folder for all tables
    #[arg(long, value_name = "FILE|FOLDER", default_value = "export")]
    pub(crate) out: PathBuf,
    /// Only this table [default: questions for a file, all for a folder; evals for runs of `aske eval`]
    #[arg(long, value_name = "NAME", value_enum)]
    pub(crate) table: Option<TableName>,
    /// What the files of a folder are
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatName::Parquet)]
    pub(crate) format: FormatName,
    /// Only calibrated sessions and their questions
    #[arg(long)]
    pub(crate) calibrated: bool,
    /// Only questions of a difficulty in this range, in logits
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) difficulty: Option<(f64, f64)>,
    /// Use the grades of this grader
    #[arg(long, value_name = "NAME")]
    pub(crate) grader: Option<String>,
    /// Print what was written as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Tables by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableName {
    /// A session a row, with all its turns
    Sessions,
    /// The question bank: a final question a row, with its answer and its difficulty
    Questions,
    /// An answer a row
    Answers,
    /// A grade a row, of every grader
    Grades,
    /// A sample of `aske eval` a row
    Evals,
}

/// Formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatName {
    /// Apache Parquet
    Parquet,
    /// A JSON object a line
    Jsonl,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let wrong =
        || format!("`{text}` is not a range; write two numbers with dots between them, such as -1..2");
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let (low, high): (f64, f64) = (low.parse().map_err(|_| wrong())?, high.parse().map_err(|_| wrong())?);
    if low <= high { Ok((low, high)) } else { Err(wrong()) }
}
