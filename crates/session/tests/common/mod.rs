//! A session played to its end with scripted replies.
#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a session that goes wrong has failed its test")]

use aske_chat::{Finish, Reply};
use aske_session::{Call, Domain, Grade, Need, Pack, Protocol, Role, Session, Side, Transcript, grade};
use std::sync::Arc;

pub(crate) const ONE: Role = Role::Solver(Side::One);
pub(crate) const TWO: Role = Role::Solver(Side::Two);

/// The benchmark with this many probing rounds.
pub(crate) fn rounds(rounds: u32) -> Protocol {
    Protocol { rounds, ..Protocol::default() }
}

/// A session with the pack that ships for the domain.
pub(crate) fn session(protocol: Protocol, domain: Domain) -> Session {
    Session::new(protocol, Arc::new(Pack::builtin(&domain)), domain)
}

/// The text of a file of the mathematics pack.
pub(crate) fn prompt(name: &str) -> String {
    Pack::builtin_files(&Domain::math())[name].trim().to_owned()
}

/// An asker's turn with all its sections.
pub(crate) fn turn(question: &str) -> Reply {
    Reply::text(format!(
        "#Reasoning#\nMy notes.\n\n#Draft#\nMy draft, \\boxed{{0}}.\n\n#Question#\n{question}\n"
    ))
}

/// A reply that ran out of tokens.
pub(crate) fn cut(content: &str) -> Reply {
    Reply { finish: Finish::Length, ..Reply::text(content) }
}

/// The calls a session needs.
pub(crate) fn calls(session: &Session) -> Vec<Call> {
    match session.need() {
        Need::Calls(calls) => calls,
        Need::Done(transcript) => panic!("already done: {transcript:?}"),
    }
}

/// The last message of a call.
pub(crate) fn last(call: &Call) -> &str {
    &call.messages.last().unwrap().content
}

/// A finished session: every call in the order made, and what it left behind.
pub(crate) struct Played {
    pub(crate) calls: Vec<Call>,
    pub(crate) transcript: Transcript,
}

/// Plays a session to its end.
pub(crate) fn play(mut session: Session, mut reply: impl FnMut(&Call) -> Reply) -> Played {
    let mut made = Vec::new();
    loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => return Played { calls: made, transcript: transcript.clone() },
        };
        assert!(!calls.is_empty() && made.len() < 1000, "the session does not end");
        for call in calls {
            session.feed(call.slot, reply(&call)).unwrap();
            made.push(call);
        }
    }
}

impl Played {
    /// The calls to one role.
    pub(crate) fn to(&self, role: Role) -> Vec<&Call> {
        self.calls.iter().filter(|call| call.slot.role == role).collect()
    }

    /// The grade, with no equivalence checker.
    pub(crate) fn grade(&self, domain: &Domain) -> Grade {
        grade(&self.transcript.answers(), domain, None).unwrap()
    }
}
