//! The nano world: generated questions with an oracle, askers without a model, and bundled language models.
//!
//! Used by `bench` (providers), `train` (data) and `cli`. Depends on `answer`, `chat`, `model` and `session`.
//!
//! ```
//! use aske_nano::{Family, NumberSet, QuestionSampler, parse_question};
//! let question = QuestionSampler::new(7, NumberSet::Any).question(Family::Gcd, 3).unwrap();
//! let again = parse_question(question.text()).unwrap();
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
    Family, LEVELS, NumberSet, Question, QuestionSampler, TAUGHT_LEVELS, UnknownFamilyError, Value,
    parse_question,
};
pub use reply::{ReplyFormat, reply, right_reply};
pub use simulate::{SessionGenerator, TeacherKind};
pub use table::{AccuracyTable, NetworkAccuracy, held_out, is_right, measure_accuracy};
pub use world::{
    ASKER, BundledModelError, CHECK, NOVICE, NetworkFile, SOLVERS, checkpoint, files, networks,
    portable_files,
};
