//! One episode as a value: what the trainer must bring next, and what it has brought. No I/O.

use aske_chat::{Message, Reply};
use aske_record::RoleUsage;
use aske_session::{Call, Grade, Need, Role, Session, Transcript};
use serde::Serialize;
use std::collections::BTreeMap;

/// Who answers the final question for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judge {
    /// The configured cross-check solver.
    Check,
    /// The policy that is trained, by way of its trainer.
    Trainer,
}

/// What the trainer must bring next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "need", rename_all = "snake_case")]
pub(crate) enum Next {
    /// The asker's reply to these messages.
    Ask {
        /// The asker's turn, counted from 1.
        turn: u32,
        /// It is the last one.
        #[serde(rename = "final")]
        last: bool,
        /// The whole conversation; the last message is new.
        messages: Vec<Message>,
        /// How long the reply may be.
        max_tokens: u32,
    },
    /// The policy's own answers to its question.
    Judge {
        /// What to solve.
        messages: Vec<Message>,
        /// How long an answer may be.
        max_tokens: u32,
        /// How many answers.
        draws: usize,
        /// How to sample them.
        temperature: f64,
    },
    /// Nothing: the reward is there.
    Done,
}

/// What a trainer brings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Post {
    /// The asker's reply of a turn.
    Turn(u32, Reply),
    /// The policy's answers to its question.
    Answers(Vec<Reply>),
}

/// Why a post is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("turn {0} was answered with another reply")]
    Other(u32),
    #[error("turn {posted} is not the turn that is open, which is {open}")]
    Turn { posted: u32, open: u32 },
    #[error("the judge's answers were brought before, and are others now")]
    OtherAnswers,
    #[error("{found} answers where {wanted} are needed")]
    Count { found: usize, wanted: usize },
    #[error("the session needs {0} now")]
    Need(&'static str),
}

/// What is needed, by whom it is answered.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// The environment makes these calls.
    Calls(Vec<Call>),
    /// The trainer brings this.
    Trainer(Next),
}

/// An episode.
#[derive(Debug)]
pub(crate) struct Episode {
    judge: Judge,
    /// As it stood before the post that is not answered yet.
    session: Session,
    /// What the session's calls have taken so far, by role.
    used: BTreeMap<String, RoleUsage>,
    posted: Option<Posted>,
    grade: Option<Grade>,
}

/// The latest post, and the answer once there is one.
#[derive(Debug)]
struct Posted {
    post: Post,
    answer: Option<Next>,
}

impl Episode {
    pub(crate) fn new(session: Session, judge: Judge) -> Self {
        Self { judge, session, used: BTreeMap::new(), posted: None, grade: None }
    }

    /// The session so far, and what it has taken; work goes on with a copy.
    pub(crate) fn state(&self) -> (Session, BTreeMap<String, RoleUsage>) {
        (self.session.clone(), self.used.clone())
    }

    /// What the trainer must bring now.
    pub(crate) fn next(&self) -> Next {
        match self.wanted(&self.session) {
            Wanted::Trainer(next) => next,
            // Between posts the environment has nothing to ask.
            Wanted::Calls(_) => Next::Done,
        }
    }

    /// What a session needs, and from whom.
    pub(crate) fn wanted(&self, session: &Session) -> Wanted {
        let Need::Calls(calls) = session.need() else { return Wanted::Trainer(Next::Done) };
        let (trainer, ours): (Vec<Call>, Vec<Call>) =
            calls.into_iter().partition(|call| self.is_trainers(call.slot.role));
        if !ours.is_empty() {
            return Wanted::Calls(ours);
        }
        let draws = trainer.len();
        Wanted::Trainer(match trainer.into_iter().next() {
            Some(Call { slot, messages, max_tokens }) if slot.role == Role::Asker => {
                Next::Ask { turn: slot.turn, last: session.is_final(), messages, max_tokens }
            }
            Some(Call { messages, max_tokens, .. }) => {
                Next::Judge { messages, max_tokens, draws, temperature: 0.0 }
            }
            None => Next::Done,
        })
    }

    fn is_trainers(&self, role: Role) -> bool {
        role == Role::Asker || (role == Role::Check && self.judge == Judge::Trainer)
    }

    /// Takes a post. One that was answered before gets the same answer; one that was taken and could not be answered
    /// is taken again.
    pub(crate) fn offer(&mut self, post: Post) -> Result<Option<Next>, Refused> {
        if let Some(posted) = &self.posted {
            if posted.post == post {
                return Ok(posted.answer.clone());
            }
            match (&posted.post, &post) {
                (Post::Turn(before, _), Post::Turn(now, _)) if before == now => {
                    return Err(Refused::Other(*now));
                }
                (Post::Answers(_), Post::Answers(_)) => return Err(Refused::OtherAnswers),
                _ => {}
            }
        }
        self.fits(&post)?;
        self.posted = Some(Posted { post, answer: None });
        Ok(None)
    }

    fn fits(&self, post: &Post) -> Result<(), Refused> {
        match (self.next(), post) {
            (Next::Ask { turn, .. }, Post::Turn(posted, _)) if turn == *posted => Ok(()),
            (Next::Ask { turn, .. }, Post::Turn(posted, _)) => {
                Err(Refused::Turn { posted: *posted, open: turn })
            }
            (Next::Judge { draws, .. }, Post::Answers(replies)) if draws == replies.len() => Ok(()),
            (Next::Judge { draws, .. }, Post::Answers(replies)) => {
                Err(Refused::Count { found: replies.len(), wanted: draws })
            }
            (Next::Ask { .. }, _) => Err(Refused::Need("the asker's reply")),
            (Next::Judge { .. }, _) => Err(Refused::Need("the judge's answers")),
            (Next::Done, _) => Err(Refused::Need("nothing: it is over")),
        }
    }

    /// The calls that the open post answers, with the replies.
    pub(crate) fn brought(&self) -> Vec<(Call, Reply)> {
        let (Need::Calls(calls), Some(Posted { post, answer: None })) = (self.session.need(), &self.posted)
        else {
            return Vec::new();
        };
        let replies = match post {
            Post::Turn(_, reply) => std::slice::from_ref(reply),
            Post::Answers(replies) => replies,
        };
        calls.into_iter().zip(replies.iter().cloned()).collect()
    }

    /// The open post is answered: the session stands here now, with this grade if it is over.
    pub(crate) fn answered(
        &mut self,
        session: Session,
        used: BTreeMap<String, RoleUsage>,
        grade: Option<Grade>,
    ) -> Next {
        (self.session, self.used, self.grade) = (session, used, grade);
        let next = self.next();
        if let Some(posted) = &mut self.posted {
            posted.answer = Some(next.clone());
        }
        next
    }

    /// What happened and its grade, once it is over.
    pub(crate) fn ended(&self) -> Option<(&Transcript, &Grade)> {
        match (self.session.need(), &self.grade) {
            (Need::Done(transcript), Some(grade)) => Some((transcript, grade)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
