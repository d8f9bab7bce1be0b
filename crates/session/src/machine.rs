//! [`Session`]: the protocol as a state machine. It returns the calls it needs and is fed the replies.

use crate::summary::summarise;
use crate::{
    Domain, Pack, Protocol, Role, Side, Slot, SolverAnswer, Transcript, Turn, TurnError, split_thinking,
};
use aske_chat::{Finish, Message, Reply};
use std::sync::Arc;

/// One call that a session needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where the reply goes.
    pub slot: Slot,
    /// The messages to send.
    pub messages: Vec<Message>,
    /// Maximum number of tokens of the reply.
    pub max_tokens: u32,
}

/// What a session needs next.
#[derive(Debug)]
pub enum Need<'s> {
    /// These calls, in any order or at once; each reply is fed back under its slot.
    Calls(Vec<Call>),
    /// Nothing: the session is done.
    Done(&'s Transcript),
}

/// A reply to a call that the session does not need.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the session did not ask for {0:?}")]
pub struct FeedError(pub Slot);

/// One session, from the first probing turn to the answers.
#[derive(Clone, Debug)]
pub struct Session {
    protocol: Protocol,
    pack: Arc<Pack>,
    domain: Domain,
    /// The asker's conversation so far, the pending user message included.
    messages: Vec<Message>,
    transcript: Transcript,
    /// Completion tokens of the asker's turns so far.
    asker_tokens: u64,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Waiting for the asker.
    Asking,
    /// Waiting for both solvers, and at the end for the cross-check draws too.
    Solving { question: String, solvers: Box<[Option<Reply>; 2]>, check: Vec<Option<Reply>> },
    /// Nothing more to ask.
    Done,
}

impl Session {
    /// A new session.
    pub fn new(protocol: Protocol, pack: Arc<Pack>, domain: Domain) -> Self {
        let probing = protocol.rounds.to_string();
        let values = [("num_probing", probing.as_str())];
        let (system, first) = match protocol.rounds {
            0 => ("asker_system_unprobed", "asker_final_unprobed"),
            _ => ("asker_system", "asker_first"),
        };
        let messages =
            vec![Message::system(pack.render(system, &values)), Message::user(pack.render(first, &values))];
        let mut session = Self {
            protocol,
            pack,
            domain,
            messages,
            transcript: Transcript::default(),
            asker_tokens: 0,
            stage: Stage::Asking,
        };
        session.end_unaffordable_turns();
        session
    }

    /// The current asker turn, counted from 1; the last is `rounds + 1`.
    pub fn turn(&self) -> u32 {
        let begun = u32::from(matches!(self.stage, Stage::Asking));
        u32::try_from(self.transcript.turns.len()).unwrap_or(u32::MAX).saturating_add(begun)
    }

    /// Whether the current turn is the last one.
    pub fn is_final(&self) -> bool {
        self.turn() > self.protocol.rounds
    }

    /// The asker's conversation so far. Turn `n` was sent the first `2 * n` messages; the one after them is its reply.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What is needed next; does not change the session.
    pub fn need(&self) -> Need<'_> {
        match &self.stage {
            Stage::Asking => Need::Calls(vec![self.ask()]),
            Stage::Solving { question, solvers, check } => Need::Calls(self.solve(question, solvers, check)),
            Stage::Done => Need::Done(&self.transcript),
        }
    }

    fn ask(&self) -> Call {
        Call {
            slot: Slot::first(self.turn(), Role::Asker),
            messages: self.messages.clone(),
            max_tokens: self.asker_budget(),
        }
    }

    /// Maximum number of tokens of the next asker turn: the turn's own limit, or what is left of the limit of all turns.
    fn asker_budget(&self) -> u32 {
        let limits = &self.protocol;
        let turn = if self.is_final() { limits.asker_final_tokens } else { limits.asker_tokens };
        let left = limits.asker_total_tokens.map(|total| total.saturating_sub(self.asker_tokens));
        left.map_or(turn, |left| turn.min(u32::try_from(left).unwrap_or(u32::MAX)))
    }

    /// Ends asker turns for which no token is left, without a call, like a reply that was truncated before its first token.
    fn end_unaffordable_turns(&mut self) {
        let empty = Reply { finish: Finish::Length, ..Reply::default() };
        while matches!(self.stage, Stage::Asking)
            && self.protocol.asker_total_tokens.is_some()
            && self.asker_budget() == 0
        {
            self.record_turn(&empty);
        }
    }

    /// The open calls for a question. Solvers see the question and nothing else.
    fn solve(&self, question: &str, solvers: &[Option<Reply>; 2], check: &[Option<Reply>]) -> Vec<Call> {
        let (messages, max_tokens) = if self.is_final() {
            (self.pack.final_question(question), self.protocol.solver_final_tokens)
        } else {
            (self.pack.probing_question(question), self.protocol.solver_tokens)
        };
        let turn = self.turn();
        let call = |role, draw: usize, max_tokens| Call {
            slot: Slot { turn, role, draw: u32::try_from(draw).unwrap_or(u32::MAX) },
            messages: messages.clone(),
            max_tokens,
        };
        let open_solvers = Side::BOTH.into_iter().filter(|side| solvers[side.index()].is_none());
        let open_draws = check.iter().enumerate().filter(|(_, reply)| reply.is_none());
        open_solvers
            .map(|side| call(Role::Solver(side), 0, max_tokens))
            .chain(open_draws.map(|(draw, _)| call(Role::Check, draw, self.protocol.check_tokens)))
            .collect()
    }

    /// An asker turn by its number, which starts at 1; `None` before the asker has replied.
    pub fn asked_turn(&self, number: u32) -> Option<&Turn> {
        self.transcript.turns.get((number as usize).checked_sub(1)?)
    }

    /// Takes the reply to a needed call.
    pub fn feed(&mut self, slot: Slot, reply: Reply) -> Result<(), FeedError> {
        if slot.turn != self.turn() {
            return Err(FeedError(slot));
        }
        match (&mut self.stage, slot.role) {
            (Stage::Asking, Role::Asker) if slot.draw == 0 => self.record_turn(&reply),
            (Stage::Solving { solvers, check, .. }, role) => {
                let place = match role {
                    Role::Solver(side) if slot.draw == 0 => Some(&mut solvers[side.index()]),
                    Role::Check => check.get_mut(slot.draw as usize),
                    _ => None,
                };
                match place {
                    Some(place @ None) => *place = Some(reply),
                    _ => return Err(FeedError(slot)),
                }
                self.record_answers();
            }
            _ => return Err(FeedError(slot)),
        }
        self.end_unaffordable_turns();
        Ok(())
    }

    /// The asker has replied: forwards its question, recovers or ends.
    fn record_turn(&mut self, reply: &Reply) {
        self.asker_tokens = self.asker_tokens.saturating_add(reply.usage.completion);
        let parts = split_thinking(&reply.content);
        let turn = Turn::read(&parts.visible, reply.finish, self.protocol.question_words);
        let is_final = self.is_final();
        let content = match parts.visible.as_ref() {
            "" => self.pack.render("no_reply", &[]),
            visible => visible.to_owned(),
        };
        self.messages.push(Message::assistant(content));
        let (question, error) = (turn.question.clone(), turn.error);
        self.transcript.turns.push(turn);
        self.stage = match (question, error) {
            (Some(question), _) => {
                let draws = if is_final { self.protocol.check_draws as usize } else { 0 };
                Stage::Solving { question, solvers: Box::new([None, None]), check: vec![None; draws] }
            }
            (None, _) if is_final => Stage::Done,
            (None, error) => {
                self.messages.push(Message::user(self.recovery(error)));
                Stage::Asking
            }
        };
    }

    /// The message after a probing turn without a question; it replaces the next turn's own.
    fn recovery(&self, error: Option<TurnError>) -> String {
        let next_is_final = self.transcript.turns.len() as u64 >= u64::from(self.protocol.rounds);
        let name = match (next_is_final, error) {
            (false, Some(TurnError::Truncated)) => "recover_probing_truncated",
            (false, _) => "recover_probing_malformed",
            (true, Some(TurnError::Truncated)) => "recover_final_truncated",
            (true, _) => "recover_final_malformed",
        };
        self.render_next(name, &["", ""])
    }

    /// Once all replies are there: records the answers, and continues or ends.
    fn record_answers(&mut self) {
        let Stage::Solving { solvers, check, .. } = &self.stage else { return };
        let [Some(one), Some(two)] = solvers.as_ref() else { return };
        if check.iter().any(Option::is_none) {
            return;
        }
        let solved = [one, two].map(|reply| SolverAnswer::read(reply, &self.domain));
        let was_final = self.is_final();
        let next = if was_final {
            let answer = |reply| SolverAnswer::read(reply, &self.domain).answer;
            self.transcript.check = check.iter().flatten().map(answer).collect();
            None
        } else {
            let shown = [one, two].map(|reply| self.summary(reply));
            let name = if self.turn() < self.protocol.rounds { "asker_next" } else { "asker_final" };
            Some(self.render_next(name, &[&shown[0], &shown[1]]))
        };
        if let Some(turn) = self.transcript.turns.last_mut() {
            turn.solved = Some(solved);
        }
        self.messages.extend(next.map(Message::user));
        self.stage = if was_final { Stage::Done } else { Stage::Asking };
    }

    /// A solver's reply as the asker sees it.
    fn summary(&self, reply: &Reply) -> String {
        summarise(&split_thinking(&reply.content), self.protocol.summary_chars)
            .unwrap_or_else(|| self.pack.render("no_answer", &[]))
    }

    /// The user message before the next asker turn.
    fn render_next(&self, name: &str, shown: &[&str; 2]) -> String {
        let next = (self.transcript.turns.len() + 1).to_string();
        let probing = self.protocol.rounds.to_string();
        let values = [
            ("boundary_a_answer", shown[0]),
            ("boundary_b_answer", shown[1]),
            ("next_question_num", next.as_str()),
            ("num_probing", probing.as_str()),
        ];
        self.pack.render(name, &values)
    }
}
