//! Arguments of `aske ask` and `aske bench`.

use super::{Configuration, Execution, Serving};
use crate::completion;
use aske_bench::Shard;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  aske ask                                      two solvers of the nano world
  aske ask nano-40k nano-1m --rounds 2
  aske ask ollama/qwen3:0.6b openai/gpt-4.1-nano --asker openai/gpt-5-mini --check openai/gpt-5
  aske ask qwen3-1.7b gemini-3-flash --config paper-bench --asker gemini-3.1-pro")]
pub(crate) struct Ask {
    /// Model 1 [default: the first of the boundary set]
    #[arg(add = completion::models())]
    pub(crate) one: Option<String>,
    /// Model 2 [default: the last of the boundary set]
    #[arg(requires = "one", add = completion::models())]
    pub(crate) two: Option<String>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) serving: Serving,
    /// Where to store the session [default: the next free runs/ask-N]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Show the asker's private sections in full
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Running the same command again continues where it stopped: finished sessions are skipped, and
unfinished ones reuse their stored replies.

Examples:
  aske bench                                    the nano world: all pairs, 10 samples each
  aske bench --pairs nano-40k:nano-1m --samples 3
  aske bench --asker staircase                  a rule-based asker
  aske bench --asker ollama/qwen3:4b            a model of a provider; `aske models providers` lists them
  aske bench --asker http://localhost:8000/v1   the model of an OpenAI-compatible server
  aske bench --asker models/gemma-3-4b-it       a checkpoint folder; vLLM serves those that this program cannot run
  aske bench --config paper-bench --dry-run     show the plan, calls, tokens and cost
  aske bench --config my.toml --run runs/mine --budget-usd 50
  aske bench --run runs/mine --samples 20       more samples of an earlier run
  aske bench --until 5                          stop when the 95% interval is ± 5 points
  aske bench --config my.toml --shard 3/8       run one part of the plan; `aske merge` joins the parts"
)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The run folder [default: runs/CONFIG-ASKER]. Without --config, --set, --solvers and an aske.toml, a run that exists is
    /// continued as it was configured
    #[arg(long, value_name = "FOLDER", add = completion::runs())]
    pub(crate) run: Option<PathBuf>,
    /// Run only these pairs (a:b), or every pair with a solver (a); separated by commas
    #[arg(long, value_name = "A:B,…", value_delimiter = ',')]
    pub(crate) pairs: Vec<String>,
    /// Sessions for each pair
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u32>,
    /// Run at most this many sessions of the plan
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Stop when the 95% interval of the calibrated share has this half-width in percentage points; pairs that are
    /// more informative are sampled more often
    #[arg(long, value_name = "POINTS", conflicts_with = "shard")]
    pub(crate) until: Option<f64>,
    /// Run only one part of the plan, such as 3/8
    #[arg(long, value_name = "PART/PARTS")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) execution: Execution,
    #[command(flatten)]
    pub(crate) serving: Serving,
}
