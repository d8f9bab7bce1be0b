//! Sessions with simulated solvers: what an asker is taught from, before it meets a real one.

use crate::asker::{FreeAsker, Simulated, Strategy};
use crate::{Numbers, Occasion, Question, Value, reply, understand};
use aske_chat::{Message, Reply};
use aske_session::{Domain, Need, Pack, Protocol, Role, Session};
use fastrand::Rng;
use std::sync::Arc;

/// How many probing rounds a session has: mostly those of the benchmark and of training, sometimes others.
const ROUNDS: [u32; 8] = [0, 1, 2, 3, 3, 4, 4, 4];

/// A classroom: a teacher that asks, and solvers that are only simulated.
#[derive(Clone, Debug)]
pub struct Classroom {
    pack: Arc<Pack>,
    teacher: FreeAsker,
}

impl Classroom {
    /// Sessions taught by the staircase, with these prompts, up to this level, and without the numbers held out.
    pub fn new(pack: Arc<Pack>, levels: u32) -> Self {
        let teacher =
            FreeAsker::new(Strategy::Staircase, pack.clone(), 0, levels).with_numbers(Numbers::Taught);
        Self { pack, teacher }
    }

    /// The asker's whole conversation in one session: its last turn is the final one.
    pub fn session(&self, seed: u64) -> Vec<Message> {
        let mut random = Rng::with_seed(seed);
        let rounds = ROUNDS[random.usize(..ROUNDS.len())];
        let teacher = self.teacher.for_rounds(rounds);
        let solvers = [(); 2].map(|()| teacher.simulated(&mut random));
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
                // The session asked for this slot a moment ago.
                let _ = session.feed(call.slot, Reply::text(text));
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
