//! The program `aske`: arguments, configuration layers, tables and progress around the libraries.

mod arguments;
mod browser;
mod commands;
mod completion;
mod display;
mod error;
mod logging;
mod output;
mod runs;
mod runtime;
mod shell;

use arguments::{Arguments, Command};
use error::{CliError, Exit};
use std::process::ExitCode;

/// A run allocates and frees thousands of small strings, which this allocator handles faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    completion::answer();
    let arguments = Arguments::read();
    // Thousands of concurrent sessions need as many connections; the soft limit is often far below the hard one.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    match logging::start(&arguments.log).and_then(|()| run(arguments.command, arguments.log.verbose > 0)) {
        Ok(exit) => exit.code(),
        Err(error) => {
            output::error(&error);
            error.exit.code()
        }
    }
}

fn run(command: Command, verbose: bool) -> Result<Exit, CliError> {
    match command {
        Command::Ask(ask) => commands::ask::run(&ask),
        Command::Bench(bench) => commands::bench::run(&bench),
        Command::Eval(eval) => commands::eval::run(&eval),
        Command::Train(train) => commands::train::run(&train, verbose),
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
        Command::Init(init) => commands::init::run(&init),
        Command::Config(config) => commands::config::run(&config),
        Command::Models(models) => commands::models::run(&models),
        Command::Prompts(prompts) => commands::prompts::run(&prompts),
        Command::Verify(verify) => commands::verify::run(&verify),
        Command::Nano(nano) => commands::nano::run(&nano),
        Command::Convert(convert) => commands::convert::run(&convert),
        Command::Completions(completions) => commands::completions::run(&completions),
    }
}
