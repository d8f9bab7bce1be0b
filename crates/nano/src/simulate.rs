//! Generates sessions with simulated solvers, as supervised data for askers.

use crate::asker::{FreeAsker, SimulatedSolver, Strategy};
use crate::{LEVELS, NumberSet, Question, ReplyFormat, TAUGHT_LEVELS, Value, parse_question, reply};
use aske_chat::{Message, Reply};
use aske_session::{Domain, Need, Pack, Protocol, Role, Session};
use fastrand::Rng;
use std::sync::Arc;

/// Numbers of probing rounds, drawn uniformly; mostly those of the benchmark and of training.
const ROUNDS: [u32; 8] = [0, 1, 2, 3, 3, 4, 4, 4];

/// Fraction of sessions by the good teacher, with [`TeacherKind::Mixed`].
const GOOD_FRACTION: f64 = 0.4;

/// The teachers that an asker imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeacherKind {
    /// The staircase only.
    Good,
    /// The staircase, and more often random questions that are far too easy or far too hard. Used for the initial policy
    /// of reinforcement learning: good sessions happen, but are not the rule.
    Mixed,
}

/// Generates sessions between teachers and simulated solvers.
#[derive(Clone, Debug)]
pub struct SessionGenerator {
    pack: Arc<Pack>,
    good: FreeAsker,
    poor: Option<FreeAsker>,
}

impl SessionGenerator {
    /// Sessions with these prompts, without held-out numbers.
    pub fn new(teaching: TeacherKind, pack: Arc<Pack>) -> Self {
        let teacher = |strategy, levels| {
            FreeAsker::new(strategy, pack.clone(), 0, levels).with_numbers(NumberSet::Taught)
        };
        let good = teacher(Strategy::Staircase, TAUGHT_LEVELS);
        let poor = (teaching == TeacherKind::Mixed).then(|| teacher(Strategy::Fixed, LEVELS).at_extremes());
        Self { pack, good, poor }
    }

    /// The asker's conversation of one session, which ends with the final turn.
    pub fn session(&self, seed: u64) -> Vec<Message> {
        let mut random = Rng::with_seed(seed);
        let rounds = ROUNDS[random.usize(..ROUNDS.len())];
        let solvers = [(); 2].map(|()| self.good.simulated(&mut random));
        let teacher = match &self.poor {
            Some(poor) if random.f64() > GOOD_FRACTION => poor,
            _ => &self.good,
        };
        let teacher = teacher.for_rounds(rounds);
        let protocol = Protocol { rounds, check_draws: 0, ..Protocol::default() };
        let mut session = Session::new(protocol, self.pack.clone(), Domain::math());
        let mut conversation = Vec::new();
        loop {
            let calls = match session.need() {
                Need::Calls(calls) => calls,
                Need::Done(_) => return conversation,
            };
            for call in calls {
                let text = if let Role::Solver(side) = call.slot.role {
                    let shown = call.messages.last().map_or("", |message| &message.content);
                    answer(&solvers[side.index()], shown, &mut random)
                } else {
                    let turn = teacher.turn(&call.messages, random.u32(..));
                    conversation = call.messages;
                    conversation.push(Message::assistant(turn.clone()));
                    turn
                };
                if session.feed(call.slot, Reply::text(text)).is_err() {
                    return conversation;
                }
            }
        }
    }
}

/// A simulated reply to a prompt: the question is its first line.
fn answer(solver: &SimulatedSolver, prompt: &str, random: &mut Rng) -> String {
    let Some(question) = prompt.lines().next().and_then(parse_question) else { return String::new() };
    let (Some(truth), Some(working)) = (question.answer(), question.working()) else { return String::new() };
    if solver.is_right(&question, random) {
        return reply(&question, ReplyFormat::Probe, &working, &truth.to_string());
    }
    match random.u32(..20) {
        0 => working,
        _ => reply(&question, ReplyFormat::Probe, &working, &wrong(&question, truth, random)),
    }
}

/// A typical wrong answer: one digit changed, a nearby number, or a number of the question.
fn wrong(question: &Question, truth: Value, random: &mut Rng) -> String {
    let mut text = truth.to_string();
    let digits: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
    let place = digits[random.usize(..digits.len())];
    let old = text.as_bytes()[place] - b'0';
    let new = (old + random.u8(1..10)) % 10;
    match random.u32(..4) {
        0 if truth.as_whole().is_some() => {
            let step = [-10, -2, -1, 1, 2, 10][random.usize(..6)];
            (truth.numerator() + step).to_string()
        }
        1 => {
            let mut numbers = question.text().split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
            let other = numbers.nth(random.usize(..2)).unwrap_or("1").to_owned();
            if other == text { "0".to_owned() } else { other }
        }
        _ => {
            text.replace_range(place..=place, &char::from(b'0' + new).to_string());
            text
        }
    }
}
