//! Arguments of `aske verify`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske verify '\\frac{1}{2}' '50\\%'              equal: exit status 0
  aske verify '(1,2)' '1<x<2' --explain          show how both were parsed and compared
  aske verify --jsonl pairs.jsonl                lines {\"gold\",\"pred\"} in; the same plus \"equal\" and \"method\" out
  aske verify --jsonl --compat math-verify < pairs.jsonl
  aske verify '5 cm' 5 --policy unit_optional=false

Exit status: 0 equal, 1 different, 2 usage, 4 undecided; with --jsonl 0 if all lines were compared, else 2.
In the output lines, \"equal\" is null if undecided. For a line that is not a pair the output is its number and the
reason, {\"line\",\"error\"}; the others are compared all the same.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct Verify {
    /// The reference answer
    #[arg(required_unless_present_any = ["jsonl", "policies"], conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) gold: Option<String>,
    /// The answer to check
    #[arg(required_unless_present_any = ["jsonl", "policies"], conflicts_with = "jsonl", allow_hyphen_values = true)]
    pub(crate) pred: Option<String>,
    /// Compare the pairs of a file, or of standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Show how both answers were parsed and which method decided
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) explain: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) json: bool,
    /// Reproduce the verdicts of another program
    #[arg(long, value_name = "PROGRAM", value_enum)]
    pub(crate) compat: Option<Compat>,
    /// Change how one ambiguous notation is handled; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "compat")]
    pub(crate) policy: Vec<String>,
    /// List the ambiguous notations and how they are handled
    #[arg(long, conflicts_with_all = ["jsonl", "gold"])]
    pub(crate) policies: bool,
    /// Print timings of the comparisons as JSON on standard error
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
