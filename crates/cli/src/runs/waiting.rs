//! The models whose calls wait for their server, as lines on stderr.

use super::progress::Spinner;
use crate::output::{NOTE, note, paint, safe_line};
use crate::runtime::{Interrupt, STOPPING};
use aske_bench::ModelRegistry;
use aske_model::Waiting;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

/// How often displays are updated.
pub(crate) const UPDATE_EVERY: Duration = Duration::from_millis(250);
/// Models that are shown at once.
const MAX_MODELS: usize = 4;
/// Different reasons that are printed as soon as they occur.
const MAX_REASONS: usize = 50;

/// What the calls of each model wait for.
#[derive(Debug, Default)]
pub(crate) struct WaitingModels {
    last: RefCell<Vec<Waiting>>,
    /// Models and reasons that were printed.
    printed: RefCell<BTreeSet<(String, String)>>,
}

impl WaitingModels {
    /// Looks at the models; after an interrupt, what they waited for before is kept.
    pub(crate) fn update(&self, models: &ModelRegistry, interrupt: &Interrupt) {
        if !interrupt.happened() {
            self.last.replace(models.waiting());
        }
    }

    /// What the calls waited for at the last update.
    pub(crate) fn last(&self) -> Vec<Waiting> {
        self.last.borrow().clone()
    }

    /// Whether a call failed for a reason that was not printed before; it counts as printed from now on.
    pub(crate) fn has_new_reason(&self) -> bool {
        let (last, mut printed) = (self.last.borrow(), self.printed.borrow_mut());
        let failed = last.iter().filter(|waiting| waiting.attempt.is_some());
        let before = printed.len();
        for waiting in failed {
            if printed.len() < MAX_REASONS {
                printed.insert((waiting.model.clone(), waiting.reason.clone()));
            }
        }
        printed.len() > before
    }

    /// A line for each model, each after a line break.
    pub(crate) fn lines(&self, interrupt: &Interrupt) -> String {
        let last = self.last.borrow();
        // After an interrupt nothing is retried.
        let waiting = last.iter().filter(|waiting| waiting.attempt.is_none() || !interrupt.happened());
        let more = waiting.clone().count().saturating_sub(MAX_MODELS);
        let shown = waiting.take(MAX_MODELS).map(|waiting| safe_line(&waiting.to_string()));
        let more = (more > 0).then(|| format!("waiting for {more} more models"));
        let stopping = interrupt.happened().then(|| STOPPING.to_owned());
        let lines = shown.chain(more).chain(stopping).map(|line| paint(NOTE, line));
        std::iter::once(String::new()).chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Shows the lines until dropped, for work without a progress bar; runs beside the work.
    pub(crate) async fn show_forever(&self, models: &ModelRegistry, interrupt: &Interrupt) -> Infallible {
        let mut spinner = None;
        loop {
            tokio::time::sleep(UPDATE_EVERY).await;
            self.update(models, interrupt);
            let lines = || self.lines(interrupt).trim_start().to_owned();
            if self.last.borrow().is_empty() {
                spinner = None;
                continue;
            }
            let spinner = spinner.get_or_insert_with(Spinner::new);
            if spinner.plain && self.has_new_reason() {
                note(lines());
            } else {
                spinner.set(lines);
            }
        }
    }
}
