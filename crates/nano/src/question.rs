//! Questions of the nano world: sampled by family and level, phrased in English and LaTeX, and parsed back.

mod draw;
mod families;
mod family;
mod form;
mod oracle;
mod phrase;
#[cfg(test)]
mod tests;
mod value;
mod wild;
mod working;

pub use draw::{NumberSet, QuestionSampler};
pub use family::{Family, UnknownFamilyError};
pub use oracle::parse_question;
pub use value::Value;

use form::Form;

/// The highest level.
pub const LEVELS: u32 = 8;

/// The highest level in the training data of the bundled solvers.
pub const TAUGHT_LEVELS: u32 = 5;

/// A question that the oracle can parse: a form and its numbers.
#[derive(Clone, Debug)]
pub struct Question {
    form: &'static Form,
    numbers: Vec<i128>,
    text: String,
}

impl Question {
    /// The text of the question.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its family.
    pub fn family(&self) -> Family {
        self.form.family
    }

    /// The lowest level with such numbers; `None` if they are beyond every level.
    pub fn level(&self) -> Option<u32> {
        self.form.level(&self.numbers)
    }

    /// The answer; `None` if it is not unique or too large for the oracle.
    pub fn answer(&self) -> Option<Value> {
        Some((self.form.solve)(&self.numbers)?.value)
    }

    /// A short derivation of the answer, as in the training data.
    pub fn working(&self) -> Option<String> {
        Some((self.form.solve)(&self.numbers)?.working)
    }

    /// The parameters it was constructed from, if they differ from its numbers: its solution, or a sequence's step.
    pub(crate) fn plan(&self) -> Option<Vec<i128>> {
        (self.form.parameters)(&self.numbers).filter(|plan| *plan != self.numbers)
    }

    /// Whether its numbers are excluded from training.
    pub fn is_held_out(&self) -> bool {
        draw::is_held_out(self.form, &self.numbers)
    }
}
