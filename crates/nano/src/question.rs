//! Questions of the nano world: drawn by family and level, phrased in English and LaTeX, and understood again.

mod draw;
mod families;
mod family;
mod form;
mod oracle;
mod phrase;
mod value;
mod wild;
mod working;

pub use draw::{Draw, Numbers};
pub use family::{Family, UnknownFamily};
pub use oracle::understand;
pub use value::Value;

use form::Form;

/// The highest level that questions are drawn at.
pub const LEVELS: u32 = 8;

/// The highest level that the shipped solvers were taught.
pub const TAUGHT_LEVELS: u32 = 5;

/// A question that the oracle understands: what is asked, and of which numbers.
#[derive(Clone, Debug)]
pub struct Question {
    form: &'static Form,
    numbers: Vec<i128>,
    text: String,
}

impl Question {
    /// The question in words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its family.
    pub fn family(&self) -> Family {
        self.form.family
    }

    /// The lowest level that draws such numbers; none where they are beyond every level.
    pub fn level(&self) -> Option<u32> {
        self.form.level(&self.numbers)
    }

    /// The answer; none where there is no single one, or where it is too large for the oracle.
    pub fn answer(&self) -> Option<Value> {
        Some((self.form.solve)(&self.numbers)?.value)
    }

    /// A short way to the answer, as the solvers are taught it.
    pub fn working(&self) -> Option<String> {
        Some((self.form.solve)(&self.numbers)?.working)
    }

    /// The answer as a closed LaTeX expression of the question's own numbers, not yet worked out.
    pub fn expression(&self) -> String {
        (self.form.expression)(&self.numbers)
    }

    /// What it was drawn by, where that is not what it shows: its solution, say, or a sequence's step.
    pub(crate) fn plan(&self) -> Option<Vec<i128>> {
        (self.form.parameters)(&self.numbers).filter(|plan| *plan != self.numbers)
    }

    /// Whether its numbers are kept from training.
    pub fn is_held_out(&self) -> bool {
        draw::is_held_out(self.form, &self.numbers)
    }
}
