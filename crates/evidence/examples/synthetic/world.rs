//! The synthetic world: twenty solvers whose abilities rise with size, and sessions drawn from them.

use crate::texts;
use aske_chat::{Finish, Reply, Usage, Usd};
use aske_record::{Identity, Manifest, PairId, RoleUsage, SCHEMA, SessionRecord, StoredCall};
use aske_session::{Grade, Outcome, Role, Side, Slot, SolverAnswer, Transcript, Turn, TurnError};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::time::Duration;

/// Names and billions of parameters; 0 where unpublished.
const SOLVERS: [(&str, f64); 20] = [
    ("deepseek-r1-1.5b", 1.5),
    ("qwen3-1.7b", 1.7),
    ("qwen3.5-2b", 2.0),
    ("llama-3.2-3b", 3.0),
    ("ministral-3-3b", 3.0),
    ("phi-4-mini", 3.84),
    ("qwen3.5-4b", 4.0),
    ("qwen3-4b", 4.0),
    ("gemma-3-4b-it", 4.0),
    ("deepseek-r1-7b", 7.0),
    ("qwen3-8b", 8.0),
    ("ministral-3-8b", 8.0),
    ("qwen3.5-9b", 9.0),
    ("gemma-3-12b-it", 12.0),
    ("qwen3-14b", 14.0),
    ("gpt-oss-20b", 20.0),
    ("qwen3.5-27b", 27.0),
    ("gemini-2.5-flash-lite", 0.0),
    ("gemini-2.5-flash", 0.0),
    ("gemini-3-flash", 0.0),
];
const ROUNDS: usize = 4;
const CHECK: &str = "synthetic-check";

/// A session with everything about it.
pub(crate) struct Made {
    pub(crate) record: SessionRecord,
    pub(crate) grade: Grade,
    pub(crate) calls: Vec<(Slot, StoredCall)>,
}

/// Where sessions come from.
pub(crate) struct World {
    asker: String,
    seed: u64,
    pairs: Vec<[usize; 2]>,
    /// Replies are one line each.
    pub(crate) short: bool,
}

impl World {
    pub(crate) fn new(asker: &str, seed: u64) -> Self {
        let count = SOLVERS.len();
        let mut pairs: Vec<_> = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect();
        Rng::with_seed(7).shuffle(&mut pairs);
        Self { asker: asker.to_owned(), seed, pairs, short: false }
    }

    pub(crate) fn manifest(&self) -> Manifest {
        let text = |text: &str| toml::Value::String(text.to_owned());
        let table = |entries: Vec<(&str, toml::Value)>| {
            toml::Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let names = SOLVERS.iter().map(|(name, _)| text(name)).collect();
        let model = |(name, params): &(&str, f64)| {
            let size = (*params > 0.0).then(|| ("params", toml::Value::Float(*params)));
            ((*name).to_owned(), table(size.into_iter().chain([("provider", text("openai"))]).collect()))
        };
        let config = [
            ("protocol", table(vec![("rounds", toml::Value::Integer(4)), ("domain", text("math"))])),
            ("asker", table(vec![("model", text(&self.asker))])),
            ("boundary", table(vec![("set", text("full")), ("solvers", toml::Value::Array(names))])),
            ("check", table(vec![("model", text(CHECK)), ("draws", toml::Value::Integer(3))])),
            ("models", toml::Value::Table(SOLVERS.iter().map(model).collect())),
        ];
        let config = config.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let identity = [("asker", self.asker.clone()), ("seed", self.seed.to_string())];
        let identity = identity.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Manifest::new("0.1.0", Identity(identity), config)
    }

    /// Session `number`: the same one for the same seed, whatever came before.
    pub(crate) fn session(&mut self, number: usize, attack: Option<usize>, with_calls: bool) -> Made {
        let mut rng = Rng::with_seed(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number as u64);
        let pair = self.pairs[number % self.pairs.len()];
        let sample = u32::try_from(number / self.pairs.len()).unwrap_or(u32::MAX);
        let swapped = rng.bool();
        let places = if swapped { [pair[1], pair[0]] } else { pair };
        let mut session =
            Writer { rng, places, asker: &self.asker, calls: with_calls.then(Vec::new), short: self.short };
        let (transcript, grade) = session.play(attack);
        let names = places.map(|place| SOLVERS[place].0);
        let calls = session.calls.take().unwrap_or_default();
        let used = used(&transcript);
        let record = SessionRecord {
            schema: SCHEMA,
            pair: PairId::new(names[0], names[1]).unwrap_or_else(|_| unreachable!()),
            sample,
            asker: self.asker.clone(),
            solvers: names.map(str::to_owned),
            transcript,
            used,
        };
        Made { record, grade, calls }
    }
}

/// What a session's calls took, roughly.
fn used(transcript: &Transcript) -> BTreeMap<String, RoleUsage> {
    let calls = transcript.turns.len() as u64;
    let role = |calls: u64| RoleUsage {
        calls,
        usage: Usage { prompt: 700 * calls, cached: 100 * calls, completion: 400 * calls, reasoning: 0 },
        usd: Usd(0.001 * calls as f64),
    };
    [("asker", calls), ("one", calls), ("two", calls), ("check", transcript.check.len() as u64)]
        .into_iter()
        .map(|(name, calls)| (name.to_owned(), role(calls)))
        .collect()
}

struct Writer<'w> {
    rng: Rng,
    places: [usize; 2],
    asker: &'w str,
    calls: Option<Vec<(Slot, StoredCall)>>,
    short: bool,
}

impl Writer<'_> {
    fn play(&mut self, attack: Option<usize>) -> (Transcript, Grade) {
        let mut turns = Vec::new();
        // The asker aims between both solvers, with some error.
        let between = f64::midpoint(ability(self.places[0]), ability(self.places[1]));
        let mut last = (String::new(), [false; 2]);
        for turn in 1..=ROUNDS + 1 {
            let final_turn = turn == ROUNDS + 1;
            let silent = self.rng.f64() < 0.02 && attack.is_none();
            let (question, answer) = match attack {
                Some(number) => (texts::hostile(number), texts::hostile(number)),
                None => texts::question(&mut self.rng),
            };
            let error = if final_turn { 1.0 } else { 2.0 };
            let hardness = between + error * (self.rng.f64() + self.rng.f64() - 1.0) * 1.6;
            let asked = texts::asked(&question, &answer, turn);
            self.call(turn, Role::Asker, 0, if silent { "#Reasoning#\nHm.".to_owned() } else { asked });
            if silent {
                let error = Some(if self.rng.bool() { TurnError::Truncated } else { TurnError::Malformed });
                turns.push(Turn { question: None, cut: false, error, missing: Vec::new(), solved: None });
                continue;
            }
            let right = self.places.map(|place| {
                let p = 1.0 / (1.0 + (hardness - ability(place)).exp());
                self.rng.f64() < p
            });
            let solved = [0, 1].map(|side| self.solve(turn, side, right[side], &question, &answer));
            last = (answer, [0, 1].map(|side| right[side] && solved[side].answer.is_some()));
            let cut = self.rng.f64() < 0.01;
            let (question, solved) = (Some(question), Some(solved));
            turns.push(Turn { question, cut, error: None, missing: Vec::new(), solved });
        }
        let asked = turns.last().is_some_and(|turn| turn.question.is_some());
        let check = if asked { self.check(&last.0, attack.is_some()) } else { Vec::new() };
        let agree = check.windows(2).all(|two| two[0] == two[1]);
        let (outcome, right) = match (asked, agree) {
            (false, _) => (Outcome::NoQuestion, None),
            (true, false) => (Outcome::BadCrossCheck, None),
            (true, true) => (Outcome::of(last.1), Some(last.1)),
        };
        let promoted = right.is_some() && self.rng.f64() < 0.02;
        let undecided = !promoted && self.rng.f64() < 0.01;
        (Transcript { turns, check }, Grade { outcome, right, undecided, promoted, folded: false })
    }

    fn solve(&mut self, turn: usize, side: usize, right: bool, question: &str, answer: &str) -> SolverAnswer {
        let truncated = !right && self.rng.f64() < 0.08;
        let given = match (right, truncated) {
            (true, _) => Some(answer.to_owned()),
            (false, true) => None,
            (false, false) => Some(texts::wrong(&mut self.rng, answer)),
        };
        if self.calls.is_some() {
            let text = texts::reply(&mut self.rng.clone(), question, given.as_deref());
            self.call(turn, Role::Solver(Side::BOTH[side]), 0, text);
        }
        SolverAnswer { answer: given, finish: if truncated { Finish::Length } else { Finish::Stop } }
    }

    fn check(&mut self, answer: &str, attack: bool) -> Vec<Option<String>> {
        let bad = self.rng.f64() < 0.05 && !attack;
        (0..3)
            .map(|draw| {
                let given =
                    if bad && draw == 2 { texts::wrong(&mut self.rng, answer) } else { answer.to_owned() };
                if self.calls.is_some() {
                    let text = texts::reply(&mut self.rng.clone(), "the final question", Some(&given));
                    self.call(ROUNDS + 1, Role::Check, draw, text);
                }
                Some(given)
            })
            .collect()
    }

    fn call(&mut self, turn: usize, role: Role, draw: u32, content: String) {
        let Some(calls) = &mut self.calls else { return };
        let content = if self.short { last_line(&content) } else { content };
        let turn = u32::try_from(turn).unwrap_or(u32::MAX);
        let model = match role {
            Role::Asker => self.asker,
            Role::Solver(side) => SOLVERS[self.places[side.index()]].0,
            _ => CHECK,
        };
        let completion = content.len() as u64 / 4;
        let reasoning = (turn % 2 == 0).then(|| "Let me see what is asked for, step by step.".to_owned());
        let usage = Usage { prompt: 700, cached: 100, completion, reasoning: 0 };
        let reply = Reply { content, reasoning, finish: Finish::Stop, usage, trace: None };
        let latency = Duration::from_millis(400 + completion);
        let request = [u8::try_from(turn % 256).unwrap_or(0); 16];
        let call =
            StoredCall { model: model.to_owned(), request, reply, latency, attempts: 1, cost: Usd(0.001) };
        calls.push((Slot { turn, role, draw }, call));
    }
}

/// The beginning of a text's last line.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().chars().take(80).collect()
}

/// In logits, rising with size; the closed ones are the strongest.
fn ability(place: usize) -> f64 {
    place as f64 * 0.25 - 2.4
}
