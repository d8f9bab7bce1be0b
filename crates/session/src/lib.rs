//! The protocol of Ask-E: prompts, tags, turns, recovery, grading, outcomes, rewards and domains.
//!
//! Pure: no I/O, no clock, no random numbers. A [`Session`] returns the calls it needs next and is fed the replies;
//! [`grade`] turns its answers into an outcome. Depends on `answer` and `chat`.
//!
//! ```
//! use aske_session::{Domain, Need, Pack, Protocol, Session};
//! use std::sync::Arc;
//! let pack = Arc::new(Pack::builtin(&Domain::math()));
//! let session = Session::new(Protocol::default(), pack, Domain::math());
//! let Need::Calls(calls) = session.need() else { unreachable!() };
//! assert_eq!((calls.len(), calls[0].max_tokens), (1, 6000)); // the asker's first probing turn
//! ```

mod asker;
mod domain;
mod grade;
mod machine;
mod outcome;
mod pack;
mod protocol;
mod reward;
mod rules;
mod seed;
mod slot;
mod summary;
mod tags;
mod thinking;
mod transcript;

pub use asker::{Section, TurnError};
pub use domain::{Domain, UnknownDomainError};
pub use grade::{AnswerPair, Grade, MissingVerdicts, Verdicts, grade, judge, read_verdict, read_yes_no};
pub use machine::{Call, FeedError, Need, Session};
pub use outcome::Outcome;
pub use pack::{Pack, PackError, PackIssue};
pub use protocol::Protocol;
pub use reward::Reward;
pub use rules::{CheckerRule, GradingRules, comparison_family, current_comparison};
pub use seed::{Seed, coin};
pub use slot::{Role, Side, Slot};
pub use thinking::{SplitReply, split_thinking};
pub use transcript::{Answers, SolverAnswer, Transcript, Turn};
