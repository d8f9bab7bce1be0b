//! `aske eval`: evaluation of models on mathematics benchmarks.

mod compare;
mod data;
mod datasets;
mod run;

use crate::arguments::{Eval, EvalCommand};
use crate::error::{CliError, Exit};

pub(crate) fn run(arguments: &Eval) -> Result<Exit, CliError> {
    match &arguments.command {
        Some(EvalCommand::Compare(compare)) => compare::run(compare),
        Some(EvalCommand::Datasets(datasets)) => datasets::run(datasets),
        None => run::run(&arguments.run),
    }
}
