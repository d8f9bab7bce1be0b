//! Arguments of `aske import`.

use aske_import::Mapping;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "FILE is results.jsonl of verifiers 0.3 or traces.jsonl of verifiers 0.4. Rollouts of Ask-E's own environment are
imported as they are. For others, the asker's conversation is read, and --map says where to find the rest:
  asker, one, two            the names of the asker, of Model 1 and of Model 2
  sample                     the index among the samples of the pair, from 0
  answer_one, answer_two     the answers to the final question
  check                      the cross-check answer, or a list of them
  outcome                    calibrated, too_easy, too_hard, no_question, bad_cross_check; or the calibration reward
  right                      [true, false]: whether Model 1 and Model 2 were right
What a file does not contain is left out of the run and counted.

Examples:
  aske import outputs/traces.jsonl --run runs/theirs
  aske import results.jsonl --run runs/theirs --map outcome=info.label --map one=info.small --map two=info.large
  aske import *.jsonl --run runs/paper --config paper-bench --asker gemini-3.1-pro
  aske report runs/theirs                       view, export and regrade work as well"
)]
pub(crate) struct Import {
    /// The files to import into one run
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The run folder to write; it must be new
    #[arg(long, alias = "out", value_name = "FOLDER")]
    pub(crate) run: PathBuf,
    /// Where to find a field in a rollout; may be repeated
    #[arg(long, value_name = "KEY=PATH")]
    pub(crate) map: Vec<Mapping>,
    /// The asker, if the files do not say; rollouts of other askers are left out [default: the first one found]
    #[arg(long, value_name = "MODEL")]
    pub(crate) asker: Option<String>,
    /// The model that gave the reference answer
    #[arg(long, value_name = "MODEL")]
    pub(crate) check: Option<String>,
    /// Probing rounds of a complete session [default: the most common number]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// Configuration with the models, domain and prompts [default: the paper's models, mathematics]
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(crate) config: Option<String>,
    /// Set a configuration key; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Stop at an unreadable line instead of skipping it
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
