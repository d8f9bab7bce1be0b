//! Sessions with simulated solvers: what an asker is taught from, before it meets a real one.

use crate::asker::{FreeAsker, Simulated, Strategy};
use crate::{LEVELS, Numbers, Occasion, Question, TAUGHT_LEVELS, Value, reply, understand};
use aske_chat::{Message, Reply};
use aske_session::{Domain, Need, Pack, Protocol, Role, Session};
use fastrand::Rng;
use std::sync::Arc;

/// How many probing rounds a session has: mostly those of the benchmark and of training, sometimes others.
const ROUNDS: [u32; 8] = [0, 1, 2, 3, 3, 4, 4, 4];

/// The share of good sessions among those a novice is taught from.
const GOOD: f64 = 0.4;

/// Who teaches to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teaching {
    /// The staircase alone.
    Good,
    /// The staircase, and more often somebody who asks blind, far too easy or far too hard; nothing says who teaches
    /// when. What reinforcement starts from: good sessions happen, and are not the rule.
    Mixed,
}

/// A classroom: teachers that ask, and solvers that are only simulated.
#[derive(Clone, Debug)]
pub struct Classroom {
    pack: Arc<Pack>,
    good: FreeAsker,
    poor: Option<FreeAsker>,
}

impl Classroom {
    /// Sessions with these prompts, and without the numbers held out.
    pub fn new(teaching: Teaching, pack: Arc<Pack>) -> Self {
        let teacher = |strategy, levels| {
            FreeAsker::new(strategy, pack.clone(), 0, levels).with_numbers(Numbers::Taught)
        };
        let good = teacher(Strategy::Staircase, TAUGHT_LEVELS);
        let poor = (teaching == Teaching::Mixed).then(|| teacher(Strategy::Fixed, LEVELS).at_extremes());
        Self { pack, good, poor }
    }

    /// The asker's whole conversation in one session: its last turn is the final one.
    pub fn session(&self, seed: u64) -> Vec<Message> {
        let mut random = Rng::with_seed(seed);
        let rounds = ROUNDS[random.usize(..ROUNDS.len())];
        let solvers = [(); 2].map(|()| self.good.simulated(&mut random));
        let teacher = match &self.poor {
            Some(poor) if random.f64() > GOOD => poor,
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
fn answer(solver: &Simulated, prompt: &str, random: &mut Rng) -> String {
    let Some(question) = prompt.lines().next().and_then(understand) else { return String::new() };
    let (Some(truth), Some(working)) = (question.answer(), question.working()) else { return String::new() };
    if solver.is_right(&question, random) {
        return reply(&question, Occasion::Probe, &working, &truth.to_string());
    }
    match random.u32(..20) {
        0 => working,
        _ => reply(&question, Occasion::Probe, &working, &wrong(&question, truth, random)),
    }
}

/// A wrong answer as networks give them: a digit off, a neighbour, a number of the question.
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
