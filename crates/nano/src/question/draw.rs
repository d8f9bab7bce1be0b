//! Drawing questions.

use super::form::Form;
use super::phrase::fill;
use super::{Family, Question, families};
use fastrand::Rng;
use xxhash_rust::xxh3::xxh3_64;

/// Which numbers a question may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Those that training may use.
    Taught,
    /// Those kept from training.
    HeldOut,
    /// All of them.
    Any,
}

/// One question in so many is held out.
const HELD_OUT_ONE_IN: u64 = 8;

/// Where a form has fewer different questions than this up to a level, all of them are taught: whoever has never
/// seen 7 squared cannot be said to have failed to generalise.
const FEWEST: i128 = 200;

/// Draws before a level counts as empty.
pub(super) const TRIES: usize = 10_000;

/// Draws questions.
#[derive(Clone, Debug)]
pub struct Draw {
    pub(super) random: Rng,
    numbers: Numbers,
}

impl Draw {
    /// Draws with this seed among these numbers.
    pub fn new(seed: u64, numbers: Numbers) -> Self {
        Self { random: Rng::with_seed(seed), numbers }
    }

    /// A question of this family and level; none where the level has no such numbers.
    pub fn question(&mut self, family: Family, level: u32) -> Option<Question> {
        for _ in 0..TRIES {
            let form = self.form(family, level)?;
            let parameters = self.parameters(form, level);
            let Some(numbers) = (form.numbers)(&parameters) else { continue };
            if self.wants(form, &numbers) && form.level(&numbers) == Some(level) {
                return Some(self.phrased(form, numbers));
            }
        }
        None
    }

    /// A form of this family and level; none where there is none.
    pub(super) fn form(&mut self, family: Family, level: u32) -> Option<&'static Form> {
        let forms: Vec<&'static Form> =
            families::of(family).iter().filter(|form| form.levels.contains(&level)).collect();
        forms.get(self.random.usize(..forms.len().max(1))).copied()
    }

    /// Parameters of a level.
    pub(super) fn parameters(&mut self, form: &Form, level: u32) -> Vec<i128> {
        (form.ranges)(level).into_iter().map(|range| self.random.i128(range)).collect()
    }

    /// Whether these numbers may be asked.
    pub(super) fn wants(&self, form: &Form, numbers: &[i128]) -> bool {
        match self.numbers {
            Numbers::Taught => !is_held_out(form, numbers),
            Numbers::HeldOut => is_held_out(form, numbers),
            Numbers::Any => true,
        }
    }

    /// The question of these numbers in one of its phrasings.
    pub(super) fn phrased(&mut self, form: &'static Form, numbers: Vec<i128>) -> Question {
        let phrasing = form.phrasings[self.random.usize(..form.phrasings.len())];
        let text = fill(phrasing, &numbers);
        Question { form, numbers, text }
    }
}

/// Whether these numbers are kept from training; it follows from the numbers alone, whatever the phrasing.
pub(super) fn is_held_out(form: &Form, numbers: &[i128]) -> bool {
    if form.questions(numbers) < FEWEST {
        return false;
    }
    let mut key = form.phrasings[0].as_bytes().to_vec();
    key.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    xxh3_64(&key).is_multiple_of(HELD_OUT_ONE_IN)
}
