//! The state of one episode as a pure value: what the trainer must submit next, and its last submission.

use aske_chat::{Message, Reply};
use aske_record::RoleUsage;
use aske_session::{Call, Grade, Need, Role, Session, Transcript};
use serde::Serialize;
use std::collections::BTreeMap;

/// Who gives the cross-check answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judge {
    /// The configured cross-check solver.
    Check,
    /// The trainer, with the policy that it trains.
    Trainer,
}

/// What the trainer must submit next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "need", rename_all = "snake_case")]
pub(crate) enum Next {
    /// The asker's reply to these messages.
    Ask {
        /// The asker's turn, counted from 1.
        turn: u32,
        /// Whether it is the last turn.
        #[serde(rename = "final")]
        last: bool,
        /// The whole conversation; the last message is new.
        messages: Vec<Message>,
        /// Maximum length of the reply.
        max_tokens: u32,
    },
    /// The policy's own answers to its question.
    Judge {
        /// The prompt with the question.
        messages: Vec<Message>,
        /// Maximum length of an answer.
        max_tokens: u32,
        /// Number of answers.
        draws: usize,
        /// Sampling temperature.
        temperature: f64,
    },
    /// Nothing: the session is finished, and its reward can be read.
    Done,
}

/// What a trainer submits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Submission {
    /// The asker's reply of a turn.
    Turn(u32, Reply),
    /// The policy's answers to its question.
    Answers(Vec<Reply>),
}

/// Why a submission is rejected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EpisodeError {
    #[error("turn {0} was submitted before with another reply")]
    OtherReply(u32),
    #[error("turn {submitted} was submitted, but turn {open} is open")]
    WrongTurn { submitted: u32, open: u32 },
    #[error("the judge's answers were submitted before with other texts")]
    OtherAnswers,
    #[error("{found} answers were submitted, but {expected} are needed")]
    AnswerCount { found: usize, expected: usize },
    #[error("the session now needs {0}")]
    Unexpected(&'static str),
}

/// What a session needs next, and from whom.
#[derive(Debug)]
pub(crate) enum Pending {
    /// Calls that the environment makes.
    Calls(Vec<Call>),
    /// What the trainer must submit.
    Trainer(Next),
}

/// An episode.
#[derive(Debug)]
pub(crate) struct Episode {
    judge: Judge,
    /// The state before the submission that is not answered yet.
    session: Session,
    /// Usage of the session's calls so far, by role.
    used: BTreeMap<String, RoleUsage>,
    last: Option<Submitted>,
    grade: Option<Grade>,
}

/// The last submission, and its answer once there is one.
#[derive(Debug)]
struct Submitted {
    submission: Submission,
    answer: Option<Next>,
}

impl Episode {
    pub(crate) fn new(session: Session, judge: Judge) -> Self {
        Self { judge, session, used: BTreeMap::new(), last: None, grade: None }
    }

    /// A copy of the session and its usage, for the next step to work on.
    pub(crate) fn state(&self) -> (Session, BTreeMap<String, RoleUsage>) {
        (self.session.clone(), self.used.clone())
    }

    /// What the trainer must submit now.
    pub(crate) fn next(&self) -> Next {
        match self.pending(&self.session) {
            Pending::Trainer(next) => next,
            // Between submissions the environment makes no calls.
            Pending::Calls(_) => Next::Done,
        }
    }

    /// What a session needs next, and from whom.
    pub(crate) fn pending(&self, session: &Session) -> Pending {
        let Need::Calls(calls) = session.need() else { return Pending::Trainer(Next::Done) };
        let (trainer, own): (Vec<Call>, Vec<Call>) =
            calls.into_iter().partition(|call| self.is_trainer_role(call.slot.role));
        if !own.is_empty() {
            return Pending::Calls(own);
        }
        let draws = trainer.len();
        Pending::Trainer(match trainer.into_iter().next() {
            Some(Call { slot, messages, max_tokens }) if slot.role == Role::Asker => {
                Next::Ask { turn: slot.turn, last: session.is_final(), messages, max_tokens }
            }
            Some(Call { messages, max_tokens, .. }) => {
                Next::Judge { messages, max_tokens, draws, temperature: 0.0 }
            }
            None => Next::Done,
        })
    }

    fn is_trainer_role(&self, role: Role) -> bool {
        role == Role::Asker || (role == Role::Check && self.judge == Judge::Trainer)
    }

    /// Accepts a submission. A repeated one gets the earlier answer, or is accepted again if it could not be answered.
    pub(crate) fn submit(&mut self, submission: Submission) -> Result<Option<Next>, EpisodeError> {
        if let Some(last) = &self.last {
            if last.submission == submission {
                return Ok(last.answer.clone());
            }
            match (&last.submission, &submission) {
                (Submission::Turn(before, _), Submission::Turn(now, _)) if before == now => {
                    return Err(EpisodeError::OtherReply(*now));
                }
                (Submission::Answers(_), Submission::Answers(_)) => return Err(EpisodeError::OtherAnswers),
                _ => {}
            }
        }
        self.check(&submission)?;
        self.last = Some(Submitted { submission, answer: None });
        Ok(None)
    }

    fn check(&self, submission: &Submission) -> Result<(), EpisodeError> {
        match (self.next(), submission) {
            (Next::Ask { turn, .. }, Submission::Turn(submitted, _)) if turn == *submitted => Ok(()),
            (Next::Ask { turn, .. }, Submission::Turn(submitted, _)) => {
                Err(EpisodeError::WrongTurn { submitted: *submitted, open: turn })
            }
            (Next::Judge { draws, .. }, Submission::Answers(replies)) if draws == replies.len() => Ok(()),
            (Next::Judge { draws, .. }, Submission::Answers(replies)) => {
                Err(EpisodeError::AnswerCount { found: replies.len(), expected: draws })
            }
            (Next::Ask { .. }, _) => Err(EpisodeError::Unexpected("the asker's reply")),
            (Next::Judge { .. }, _) => Err(EpisodeError::Unexpected("the judge's answers")),
            (Next::Done, _) => Err(EpisodeError::Unexpected("nothing: it is finished")),
        }
    }

    /// The calls that the open submission answers, with their replies.
    pub(crate) fn submitted_calls(&self) -> Vec<(Call, Reply)> {
        let (Need::Calls(calls), Some(Submitted { submission, answer: None })) =
            (self.session.need(), &self.last)
        else {
            return Vec::new();
        };
        let replies = match submission {
            Submission::Turn(_, reply) => std::slice::from_ref(reply),
            Submission::Answers(replies) => replies,
        };
        calls.into_iter().zip(replies.iter().cloned()).collect()
    }

    /// Completes the open submission with the new state, and the grade of a finished session.
    pub(crate) fn complete(
        &mut self,
        session: Session,
        used: BTreeMap<String, RoleUsage>,
        grade: Option<Grade>,
    ) -> Next {
        (self.session, self.used, self.grade) = (session, used, grade);
        let next = self.next();
        if let Some(last) = &mut self.last {
            last.answer = Some(next.clone());
        }
        next
    }

    /// The transcript and grade of a finished session.
    pub(crate) fn finished(&self) -> Option<(&Transcript, &Grade)> {
        match (self.session.need(), &self.grade) {
            (Need::Done(transcript), Some(grade)) => Some((transcript, grade)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
