//! One session on a terminal, printed live.

use crate::output::{BAD, BOLD, DIM, GOOD, NAME, NOTE, data, paint, safe};
use aske_bench::{Observer, PlannedSession};
use aske_chat::{Finish, Reply};
use aske_record::SessionRecord;
use aske_session::{Grade, Outcome, Role, Side, Slot, Turn, TurnError, split_thinking};

/// Lines of a private section that are shown without `--full`.
const LINES: usize = 6;

/// Prints every turn.
pub(crate) struct Transcript {
    pub(crate) rounds: u32,
    pub(crate) full: bool,
}

impl Transcript {
    fn heading(&self, turn: u32) -> String {
        if turn > self.rounds {
            "final question".to_owned()
        } else {
            format!("round {turn} of {}", self.rounds)
        }
    }

    /// A reply without its thinking and without the question, which is printed separately; indented, and shortened
    /// without `--full`.
    fn body(&self, reply: &Reply) -> String {
        let visible = safe(&split_thinking(&reply.content).visible);
        let visible = visible.rsplit_once("#Question#").map_or(visible.as_str(), |(private, _)| private);
        let lines: Vec<&str> = visible.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = if self.full { lines.len() } else { lines.len().min(LINES) };
        let mut text: Vec<String> = lines[..shown].iter().map(|line| format!("    {line}")).collect();
        if shown < lines.len() {
            let more = lines.len() - shown;
            text.push(format!(
                "    … {more} more line{} (--full shows all)",
                if more == 1 { "" } else { "s" }
            ));
        }
        if reply.finish == Finish::Length {
            text.push("    [truncated at its token limit]".to_owned());
        }
        text.join("\n")
    }
}

impl Observer for Transcript {
    fn replied(&self, _: &PlannedSession, slot: Slot, model: &str, reply: &Reply, _stored: bool) {
        let speaker = match slot.role {
            Role::Asker => {
                data(paint(BOLD, format_args!("\n── {} ", self.heading(slot.turn))));
                format!("{}, privately", paint(NAME, model))
            }
            Role::Solver(side) => {
                format!("Model {}, {}", if side == Side::One { 1 } else { 2 }, paint(NAME, model))
            }
            Role::Check => format!("cross-check {}, {}", slot.draw + 1, paint(NAME, model)),
            Role::Panel | Role::Equivalence => return,
        };
        data(format_args!("\n  {speaker}\n{}", paint(DIM, self.body(reply))));
    }

    fn asked(&self, _: &PlannedSession, _: u32, turn: &Turn) {
        match (&turn.question, turn.error) {
            (Some(question), _) => {
                let cut = if turn.cut { " (cut to the word limit)" } else { "" };
                data(format_args!(
                    "\n  {}{cut}\n    {}",
                    paint(NOTE.bold(), "question"),
                    safe(question).replace('\n', "\n    ")
                ));
            }
            (None, error) => {
                let why = match error {
                    Some(TurnError::Truncated) => "the reply was truncated before it",
                    _ => "there is no text under #Question#",
                };
                data(format_args!("\n  {}: {why}", paint(BAD.bold(), "no question")));
            }
        }
    }

    fn solved(&self, planned: &PlannedSession, number: u32, turn: &Turn) {
        if number > self.rounds {
            return;
        }
        let Some(solved) = &turn.solved else { return };
        let shown: Vec<String> = Side::BOTH
            .map(|side| {
                let answer = solved[side.index()].answer.as_deref().unwrap_or("no answer");
                format!("{} {}", planned.solvers[side.index()], paint(BOLD, safe(answer)))
            })
            .to_vec();
        data(format_args!("\n  answers: {}", shown.join(" · ")));
    }

    fn graded(&self, record: &SessionRecord, grade: &Grade) {
        let answers = record.transcript.answers();
        let show = |answer: Option<&str>| answer.map_or_else(|| "no answer".to_owned(), safe);
        data(paint(BOLD, "\n── outcome"));
        if answers.question.is_some() {
            let check: Vec<String> = answers.check.iter().map(|answer| show(*answer)).collect();
            data(format_args!("\n  cross-check: {}", check.join(" · ")));
            for side in Side::BOTH {
                let i = side.index();
                let mark = match grade.right {
                    Some(right) if right[i] => paint(GOOD, "right"),
                    Some(_) => paint(BAD, "wrong"),
                    None => paint(NOTE, "not graded"),
                };
                data(format_args!("  {}: {} {mark}", record.solvers[i], show(answers.solvers[i])));
            }
        }
        let style = if grade.outcome == Outcome::Calibrated { GOOD } else { NOTE };
        data(format_args!("\n  {}", paint(style.bold(), grade.outcome)));
    }
}
