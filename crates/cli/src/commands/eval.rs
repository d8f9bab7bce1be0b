//! `aske eval`: models on mathematics benchmarks.

mod compare;
mod data;
mod datasets;
mod model;
mod run;
pub(crate) mod show;

use crate::arguments::{Eval, EvalCommand};
use crate::problem::{Exit, Problem};

pub(crate) fn run(arguments: &Eval) -> Result<Exit, Problem> {
    match &arguments.command {
        Some(EvalCommand::Compare(compare)) => compare::run(compare),
        Some(EvalCommand::Datasets(datasets)) => datasets::run(datasets),
        None => run::run(&arguments.run),
    }
}
