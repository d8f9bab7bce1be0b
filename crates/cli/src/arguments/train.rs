//! What can be typed after `aske train`.

use super::{Configuration, WHOLE};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Train {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The folder of the training [default: runs/CONFIG]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// One training for each of these seeds
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u64).range(WHOLE), conflicts_with = "seed")]
    pub(crate) seeds: Vec<u64>,
    /// Optimiser steps
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Do not measure the asker before and after
    #[arg(long)]
    pub(crate) no_measure: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "Running the same command again goes on from the last checkpoint; replies that are stored are not asked for again.
The folder holds, for each seed, the rollouts as a run folder (`aske view`, `aske report`), metrics.jsonl, checkpoints/
and trained/, a checkpoint that any program can load.

Examples:
  aske train                                    the nano asker, on two cores
  aske train --seeds 0,1,2                      three trainings, and their table
  aske train --steps 5 --no-measure             a quick look
  aske train -o train.loss=dapo -o train.learning_rate=5e-5 --run runs/dapo
  aske bench --asker trained -o models.trained.provider=local -o models.trained.path=runs/nano-train/seed-0/trained";
