//! Runs work on a run folder with progress on stderr and Ctrl-C handled.

use super::progress::Progress;
use super::summary::{exit_status, report_dropped, report_unfinished, resume};
use crate::error::{CliError, Exit};
use crate::runtime::{Interrupt, interruptible};
use aske_bench::{JobSummary, ModelRegistry, RunContext};
use aske_config::Settings;
use aske_model::Halt;
use aske_record::{RunDir, RunError};

/// What the work runs on: settings, models and the run folder.
#[derive(Clone, Copy)]
pub(crate) struct Target<'r> {
    pub(crate) settings: &'r Settings,
    pub(crate) models: &'r ModelRegistry,
    pub(crate) folder: &'r RunDir,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    /// Units that were finished before.
    pub(crate) finished: usize,
    /// Units that are left.
    pub(crate) open: usize,
}

/// Runs work with progress shown; also returns whether the user has interrupted it.
pub(crate) async fn with_progress<T>(
    amount: Amount,
    unit: &'static str,
    Target { settings, models, folder }: Target<'_>,
    work: impl AsyncFnOnce(&RunContext<'_>, &Progress) -> Result<T, RunError>,
) -> Result<(T, Interrupt), CliError> {
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let context = RunContext::new(settings, models, folder, &halt)?;
    let progress = Progress::new(amount, unit, models);
    let done = interruptible(&halt, &interrupt, async {
        tokio::select! {
            done = work(&context, &progress) => done,
            never = progress.update_forever(&context, &interrupt) => match never {},
        }
    })
    .await;
    let waiting = progress.close();
    if done.is_err() {
        report_dropped(&waiting, &resume());
    }
    Ok((done??, interrupt))
}

/// The same; also reports on stderr what failed and what is left.
pub(crate) async fn run_and_report(
    amount: Amount,
    unit: &'static str,
    target: Target<'_>,
    work: impl AsyncFnOnce(&RunContext<'_>, &Progress) -> Result<JobSummary, RunError>,
) -> Result<Exit, CliError> {
    let (ended, interrupt) = with_progress(amount, unit, target, work).await?;
    report_unfinished(&ended, unit);
    Ok(exit_status(&ended, &interrupt))
}
