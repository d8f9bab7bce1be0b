//! Progress on stderr: a live bar on a terminal, a plain line now and then elsewhere.

use super::execute::Amount;
use super::waiting::{UPDATE_EVERY, WaitingModels};
use crate::output::{BAD, BARS, DIM, GOOD, NOTE, note, paint};
use crate::runtime::Interrupt;
use aske_bench::{ModelRegistry, Observer, RunContext, RunFailure, Spending};
use aske_chat::Usd;
use aske_evidence::Tally;
use aske_model::Waiting;
use aske_record::SessionRecord;
use aske_session::{Grade, Outcome};
use aske_weights::PullEvent;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is written.
pub(crate) const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// The same in a run that takes long.
const PLAIN_EVERY_LATER: Duration = Duration::from_mins(1);
/// The same of a [`Spinner`].
const SPINNER_EVERY: Duration = Duration::from_secs(30);

/// A bar on stderr with a message below it; hidden where stderr is not a terminal. Removed when dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Stderr is not a terminal: print plain lines instead.
    pub(crate) plain: bool,
}

impl Bar {
    pub(crate) fn new(total: u64, unit: &str) -> Self {
        let bar = BARS.add(ProgressBar::new(total));
        let template = format!("{{bar:28.green/dim}} {{human_pos}}/{{human_len}} {unit}\n{{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("━━─"));
        }
        Self { bar, plain: !std::io::stderr().is_terminal() }
    }
}

impl std::ops::Deref for Bar {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        BARS.remove(&self.bar);
    }
}

/// A line about something whose end is not known; printed now and then where stderr is not a terminal. Removed when
/// dropped.
pub(crate) struct Spinner {
    bar: ProgressBar,
    /// Stderr is not a terminal: print plain lines instead.
    pub(crate) plain: bool,
    printed: Cell<Instant>,
}

impl Spinner {
    pub(crate) fn new() -> Self {
        let bar = BARS.add(ProgressBar::new_spinner());
        Self { bar, plain: !std::io::stderr().is_terminal(), printed: Cell::new(Instant::now()) }
    }

    /// Replaces the line; it is made only if it is shown.
    pub(crate) fn set(&self, line: impl FnOnce() -> String) {
        if !self.plain {
            self.bar.set_message(line());
            self.bar.tick();
        } else if self.printed.get().elapsed() > SPINNER_EVERY {
            self.printed.set(Instant::now());
            note(line());
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        BARS.remove(&self.bar);
    }
}

/// Progress through bytes that are read or downloaded.
pub(crate) struct ByteProgress {
    bar: Bar,
    total: u64,
    printed: Cell<Instant>,
}

impl ByteProgress {
    pub(crate) fn new(total: u64) -> Self {
        Self { bar: Bar::new(total >> 20, "MiB"), total, printed: Cell::new(Instant::now()) }
    }

    /// Shows that this many bytes are done.
    pub(crate) fn set(&self, bytes: u64) {
        self.bar.set_position(bytes >> 20);
        if self.bar.plain && self.printed.get().elapsed() > PLAIN_EVERY {
            self.printed.set(Instant::now());
            note(format_args!("{}/{} MiB", bytes >> 20, self.total >> 20));
        }
    }
}

/// Shows the progress of a download.
pub(crate) struct PullProgress<'n> {
    name: &'n str,
    licence: Option<&'n str>,
    bytes: RefCell<Option<ByteProgress>>,
}

impl<'n> PullProgress<'n> {
    pub(crate) fn new(name: &'n str, licence: Option<&'n str>) -> Self {
        Self { name, licence, bytes: RefCell::default() }
    }

    pub(crate) fn report(&self, event: PullEvent) {
        let name = self.name;
        match event {
            PullEvent::Waiting => note(format_args!("{name}: another process is downloading it; waiting")),
            PullEvent::Verifying => note(format_args!("{name} is downloaded; checking it")),
            PullEvent::Corrupt => note(format_args!("{name} is damaged; downloading it again")),
            PullEvent::Total(bytes) => {
                if let Some(licence) = self.licence {
                    note(format_args!("{name}: {}, {licence}", megabytes(bytes)));
                }
                self.bytes.replace(Some(ByteProgress::new(bytes)));
            }
            PullEvent::Downloaded(bytes) => {
                if let Some(progress) = &*self.bytes.borrow() {
                    progress.set(bytes);
                }
            }
        }
    }
}

/// `98 MB`, `1.1 GB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e9 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// Observes a run and shows its progress.
pub(crate) struct Progress {
    bar: Bar,
    /// What is counted, such as `sessions`.
    unit: &'static str,
    started: Instant,
    /// Units that were finished before.
    finished: u64,
    total: u64,
    done: Cell<u64>,
    failed: Cell<u64>,
    tally: RefCell<Tally>,
    price: PriceKnown,
    waiting: WaitingModels,
}

/// Whether the cost of a run is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriceKnown {
    /// Every remote model has a price.
    All,
    /// So many remote models have none.
    Except(usize),
    /// No remote model has one.
    None,
}

impl PriceKnown {
    pub(crate) fn of(models: &ModelRegistry) -> Self {
        let prices: Vec<bool> =
            models.models().filter(|model| model.is_remote()).map(|model| model.price().is_some()).collect();
        match prices.iter().filter(|known| !**known).count() {
            0 => Self::All,
            unknown if unknown == prices.len() => Self::None,
            unknown => Self::Except(unknown),
        }
    }

    /// Whether any model has a price.
    pub(crate) fn is_paid(self) -> bool {
        self != Self::None
    }

    /// The cost so far, as far as it is known.
    pub(crate) fn show(self, spent: Usd) -> String {
        match self {
            Self::All => spent.to_string(),
            Self::Except(1) => format!("{spent} without 1 model of unknown price"),
            Self::Except(models) => format!("{spent} without {models} models of unknown price"),
            Self::None => "price unknown".to_owned(),
        }
    }
}

impl Progress {
    /// Progress of work that may have been begun before.
    pub(crate) fn new(Amount { finished, open }: Amount, unit: &'static str, models: &ModelRegistry) -> Self {
        let (finished, total) = (finished as u64, open as u64);
        Self {
            bar: Bar::new(finished + total, unit),
            unit,
            started: Instant::now(),
            finished,
            total,
            done: Cell::new(0),
            failed: Cell::new(0),
            tally: RefCell::default(),
            price: PriceKnown::of(models),
            waiting: WaitingModels::default(),
        }
    }

    /// Updates the display until dropped; runs beside the work.
    pub(crate) async fn update_forever(
        &self,
        context: &RunContext<'_>,
        interrupt: &Interrupt,
    ) -> std::convert::Infallible {
        let mut printed = Instant::now();
        loop {
            tokio::time::sleep(UPDATE_EVERY).await;
            self.waiting.update(context.models(), interrupt);
            let lines = || format!("{}{}", self.line(context.spent()), self.waiting.lines(interrupt));
            let done = self.finished + self.done.get();
            if !self.bar.plain {
                self.bar.set_position(done);
                self.bar.set_message(lines());
                continue;
            }
            let every = (self.started.elapsed() / 10).clamp(PLAIN_EVERY, PLAIN_EVERY_LATER);
            if self.waiting.has_new_reason() || printed.elapsed() >= every {
                printed = Instant::now();
                let all = HumanCount(self.finished + self.total);
                note(format_args!("{} of {all} {} · {}", HumanCount(done), self.unit, lines()));
            }
        }
    }

    /// Ends the display; returns the calls that waited at the last update before an interrupt.
    pub(crate) fn close(self) -> Vec<Waiting> {
        self.waiting.last()
    }

    /// Counts one more as done.
    pub(crate) fn advance(&self) {
        self.done.set(self.done.get() + 1);
    }

    /// Counts one more as failed.
    pub(crate) fn give_up(&self) {
        self.failed.set(self.failed.get() + 1);
    }

    fn line(&self, spent: Spending) -> String {
        let tally = self.tally.borrow();
        let graded = tally.sessions().max(1) as f64;
        let share = |outcome, style, name| {
            let percent = 100.0 * tally.count(outcome) as f64 / graded;
            paint(style, format_args!("{name} {percent:.0}%"))
        };
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let mut parts = Vec::new();
        if tally.sessions() > 0 {
            // Those that were finished before are not in the shares.
            let calibrated = if self.finished > 0 { "new: calibrated" } else { "calibrated" };
            parts.push(share(Outcome::Calibrated, GOOD, calibrated));
            parts.push(share(Outcome::TooEasy, NOTE, "too_easy"));
            parts.push(share(Outcome::TooHard, NOTE, "too_hard"));
        }
        parts.push(format!("{:.0} calls/s", spent.calls as f64 / seconds));
        parts.push(format!("{} tokens", HumanCount(spent.tokens)));
        parts.push(self.price.show(spent.usd));
        if self.failed.get() > 0 {
            parts.push(paint(BAD, format_args!("{} failed", self.failed.get())));
        }
        let left = self.time_left(seconds).map(|left| format!("{} left", HumanDuration(left)));
        parts.push(paint(DIM, left.unwrap_or_else(|| "time left unknown".to_owned())));
        parts.join(" · ")
    }

    fn time_left(&self, seconds: f64) -> Option<Duration> {
        let done = self.done.get();
        if done == 0 {
            return None;
        }
        let left = (self.total - done.min(self.total)) as f64;
        Duration::try_from_secs_f64(seconds * left / done as f64).ok()
    }
}

impl Observer for Progress {
    fn graded(&self, record: &SessionRecord, grade: &Grade) {
        self.advance();
        self.tally.borrow_mut().add(&record.pair.to_string(), record.sample, grade);
    }

    fn failed(&self, _failure: &RunFailure) {
        self.give_up();
    }
}
