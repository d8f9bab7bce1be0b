//! The program `aske`: arguments, configuration layers, tables and progress around the libraries.

mod arguments;
mod commands;
mod evidence;
mod live;
mod output;
mod panels;
mod problem;
mod progress;
mod tables;
mod transcript;

use arguments::{Arguments, Command};
use clap::Parser;
use problem::{Exit, Problem};
use std::process::ExitCode;

/// A run is thousands of small texts that come and go; this allocator handles them with less work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Thousands of sessions at once need as many connections; the soft limit is often far below the hard one.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    match run(arguments) {
        Ok(exit) => exit.code(),
        Err(problem) => {
            output::problem(&problem);
            problem.exit.code()
        }
    }
}

fn run(arguments: Arguments) -> Result<Exit, Problem> {
    match arguments.command {
        Command::Ask(ask) => commands::ask::run(&ask),
        Command::Bench(bench) => commands::bench::run(&bench),
        Command::Eval(eval) => commands::eval::run(&eval),
        Command::Train(train) => commands::train::run(&train),
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Fleet(fleet) => commands::fleet::run(&fleet),
        Command::Repair(repair) => commands::repair::run(&repair),
        Command::Report(report) => commands::report::run(&report),
        Command::View(view) => commands::view::run(&view),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Regrade(regrade) => commands::regrade::run(&regrade),
        Command::Baseline(baseline) => commands::baseline::run(&baseline),
        Command::Difficulty(difficulty) => commands::difficulty::run(&difficulty),
        Command::Export(export) => commands::export::run(&export),
        Command::Import(import) => commands::import::run(&import),
        Command::Merge(merge) => commands::merge::run(&merge),
        Command::Config(config) => commands::config::run(&config),
        Command::Models(models) => commands::models::run(&models),
        Command::Prompts(prompts) => commands::prompts::run(&prompts),
        Command::Verify(verify) => commands::verify::run(&verify),
        Command::Nano(nano) => commands::nano::run(&nano),
        Command::Convert(convert) => commands::convert::run(&convert),
        Command::Completions(completions) => commands::completions::run(&completions),
    }
}
