//! Samples questions.

use super::form::Form;
use super::phrase::fill;
use super::{Family, Question, families};
use fastrand::Rng;
use xxhash_rust::xxh3::xxh3_64;

/// Which numbers a question may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSet {
    /// The training set.
    Taught,
    /// The held-out set.
    HeldOut,
    /// All numbers.
    Any,
}

/// One question in this many is held out.
const HELD_OUT_ONE_IN: u64 = 8;

/// Forms with fewer distinct questions at a level have no held-out set: there is nothing to generalize from.
const MIN_QUESTIONS: i128 = 200;

/// Attempts before a level counts as empty.
pub(super) const MAX_ATTEMPTS: usize = 10_000;

/// Samples questions.
#[derive(Clone, Debug)]
pub struct QuestionSampler {
    pub(super) random: Rng,
    numbers: NumberSet,
}

impl QuestionSampler {
    /// A sampler with this seed and set of numbers.
    pub fn new(seed: u64, numbers: NumberSet) -> Self {
        Self { random: Rng::with_seed(seed), numbers }
    }

    /// A question of this family and level; `None` if the level has no such numbers.
    pub fn question(&mut self, family: Family, level: u32) -> Option<Question> {
        for _ in 0..MAX_ATTEMPTS {
            let form = self.form(family, level)?;
            let parameters = self.parameters(form, level);
            let Some(numbers) = (form.numbers)(&parameters) else { continue };
            if self.allows(form, &numbers) && form.level(&numbers) == Some(level) {
                return Some(self.phrased(form, numbers));
            }
        }
        None
    }

    /// A form of this family and level, if any.
    pub(super) fn form(&mut self, family: Family, level: u32) -> Option<&'static Form> {
        let forms: Vec<&'static Form> =
            families::of(family).iter().filter(|form| form.levels.contains(&level)).collect();
        forms.get(self.random.usize(..forms.len().max(1))).copied()
    }

    /// Random parameters of a level.
    pub(super) fn parameters(&mut self, form: &Form, level: u32) -> Vec<i128> {
        (form.ranges)(level).into_iter().map(|range| self.random.i128(range)).collect()
    }

    /// Whether these numbers belong to the set.
    pub(super) fn allows(&self, form: &Form, numbers: &[i128]) -> bool {
        match self.numbers {
            NumberSet::Taught => !is_held_out(form, numbers),
            NumberSet::HeldOut => is_held_out(form, numbers),
            NumberSet::Any => true,
        }
    }

    /// The question in a random phrasing.
    pub(super) fn phrased(&mut self, form: &'static Form, numbers: Vec<i128>) -> Question {
        let phrasing = form.phrasings[self.random.usize(..form.phrasings.len())];
        let text = fill(phrasing, &numbers);
        Question { form, numbers, text }
    }
}

/// Whether these numbers are excluded from training, whatever the phrasing.
pub(super) fn is_held_out(form: &Form, numbers: &[i128]) -> bool {
    if form.questions(numbers) < MIN_QUESTIONS {
        return false;
    }
    let mut key = form.phrasings[0].as_bytes().to_vec();
    key.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    xxh3_64(&key).is_multiple_of(HELD_OUT_ONE_IN)
}
