//! The nano world: questions with an oracle, askers that cost nothing, and language models small enough to ship.
//!
//! May use `answer`, `chat`, `model` and `session`.
//!
//! ```
//! use aske_nano::{Draw, Family, Numbers, understand};
//! let question = Draw::new(7, Numbers::Any).question(Family::Gcd, 3).unwrap();
//! let again = understand(question.text()).unwrap();
//! assert_eq!(again.answer(), question.answer());
//! ```

mod asker;
mod question;
mod reply;
mod simulate;
mod table;
mod world;

pub use asker::{FreeAsker, Strategy};
pub use question::{
    Draw, Family, LEVELS, Numbers, Question, TAUGHT_LEVELS, UnknownFamily, Value, understand,
};
pub use reply::{Occasion, reply, right_reply};
pub use simulate::{Classroom, Teaching};
pub use table::{Row, Table, held_out, is_right, measure};
pub use world::{ASKER, CHECK, NOVICE, SOLVERS, WorldError, checkpoint, files, networks};
