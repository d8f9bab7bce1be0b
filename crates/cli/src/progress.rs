//! How a run comes along: a live line on a terminal, a plain line now and then elsewhere.

use crate::live::{Interrupt, STOPPING};
use crate::output::{BAD, DIM, GOOD, NOTE, note, paint};
use aske_bench::{Observer, RunContext, RunFailure, Spending};
use aske_evidence::Tally;
use aske_record::SessionRecord;
use aske_session::{Grade, Outcome};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line is written.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// A bar on stderr over a message, hidden where there is no terminal; and whether it is hidden.
pub(crate) fn bar(total: u64, things: &str) -> (ProgressBar, bool) {
    let plain = !std::io::stderr().is_terminal();
    let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let template = format!("{{bar:28.green/dim}} {{human_pos}}/{{human_len}} {things}\n{{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("━━─"));
    }
    (bar, plain)
}

/// Shows how far files have been read.
pub(crate) struct Reading {
    bar: ProgressBar,
    plain: bool,
    total: u64,
    shown: Cell<Instant>,
}

impl Reading {
    /// For so many bytes.
    pub(crate) fn new(total: u64) -> Self {
        let (bar, plain) = bar(total >> 20, "MiB");
        Self { bar, plain, total, shown: Cell::new(Instant::now()) }
    }

    /// So many bytes have been read.
    pub(crate) fn at(&self, bytes: u64) {
        self.bar.set_position(bytes >> 20);
        if self.plain && self.shown.get().elapsed() > PLAIN_EVERY {
            self.shown.set(Instant::now());
            note(format_args!("{}/{} MiB", bytes >> 20, self.total >> 20));
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Watches a run and shows it on stderr.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    /// What is counted.
    things: &'static str,
    begun: Instant,
    total: u64,
    done: Cell<u64>,
    failed: Cell<u64>,
    tally: RefCell<Tally>,
}

impl Progress {
    /// For work with this many things still to go.
    pub(crate) fn new(total: u64, things: &'static str) -> Self {
        let (bar, plain) = bar(total, things);
        Self {
            bar,
            plain,
            things,
            begun: Instant::now(),
            total,
            done: Cell::new(0),
            failed: Cell::new(0),
            tally: RefCell::default(),
        }
    }

    /// Shows the state again and again; ends never, so it runs beside the work.
    pub(crate) async fn keep_showing(
        &self,
        crew: &RunContext<'_>,
        interrupt: &Interrupt,
    ) -> std::convert::Infallible {
        let every = if self.plain { PLAIN_EVERY } else { Duration::from_millis(250) };
        loop {
            tokio::time::sleep(every).await;
            let mut line = self.line(crew.spent());
            if interrupt.happened() {
                line = format!("{line}\n{}", paint(NOTE, STOPPING));
            }
            if self.plain {
                note(format_args!("{}/{} {} · {line}", self.done.get(), self.total, self.things));
            } else {
                self.bar.set_position(self.done.get());
                self.bar.set_message(line);
            }
        }
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.done.set(self.done.get() + 1);
    }

    /// One more is given up for now.
    pub(crate) fn give_up(&self) {
        self.failed.set(self.failed.get() + 1);
    }

    /// Removes the live line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, spent: Spending) -> String {
        let tally = self.tally.borrow();
        let graded = tally.sessions().max(1) as f64;
        let share = |outcome, style, name| {
            let percent = 100.0 * tally.count(outcome) as f64 / graded;
            paint(style, format_args!("{name} {percent:.0}%"))
        };
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let mut parts = Vec::new();
        if tally.sessions() > 0 {
            parts.push(share(Outcome::Calibrated, GOOD, "calibrated"));
            parts.push(share(Outcome::TooEasy, NOTE, "too easy"));
            parts.push(share(Outcome::TooHard, NOTE, "too hard"));
        }
        parts.push(format!("{:.0} calls/s", spent.calls as f64 / seconds));
        parts.push(format!("{} tokens", HumanCount(spent.tokens)));
        if spent.usd.0 > 0.0 {
            parts.push(spent.usd.to_string());
        }
        if self.failed.get() > 0 {
            parts.push(paint(BAD, format_args!("{} failed", self.failed.get())));
        }
        if let Some(left) = self.time_left(seconds) {
            parts.push(paint(DIM, format_args!("{} left", HumanDuration(left))));
        }
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
