//! Wild questions: numbers as large as those of a level but otherwise unconstrained, like those that askers invent.

use super::draw::{MAX_ATTEMPTS, QuestionSampler};
use super::{Family, Question};
use fastrand::Rng;

/// Maximum length of the working in characters, so that it fits a reply.
const MAX_WORKING: usize = 150;

impl QuestionSampler {
    /// A question of this family whose numbers are about as large as those of this level and otherwise free: equations
    /// with fractions or negative numbers for a solution, numbers with no common divisor, improper fractions, small or
    /// equal numbers. The oracle can answer it.
    pub fn wild(&mut self, family: Family, level: u32) -> Option<Question> {
        for _ in 0..MAX_ATTEMPTS {
            let form = self.form(family, level)?;
            let [mut one, two] = [(); 2].map(|()| self.parameters(form, level));
            let way = self.random.u32(..3);
            if way > 0 {
                perturb(&mut one, &two, &mut self.random);
            }
            // Parameters without a regular question may still give a wild one.
            let [mut one, two] = [one, two].map(|some| (form.numbers)(&some).unwrap_or(some));
            if way < 2 {
                perturb(&mut one, &two, &mut self.random);
            }
            if one.iter().any(|number| *number < 0) || !self.allows(form, &one) {
                continue;
            }
            // Half of those that are also regular questions are skipped.
            if form.level(&one).is_some() && self.random.bool() {
                continue;
            }
            let question = self.phrased(form, one);
            if question.working().is_some_and(|working| working.len() <= MAX_WORKING) {
                return Some(question);
            }
        }
        None
    }
}

/// Perturbs about one value in three: another value, a nearby one, a small one, or its negation.
fn perturb(values: &mut [i128], others: &[i128], random: &mut Rng) {
    for place in 0..values.len() {
        let old = values[place];
        values[place] = match random.u32(..18) {
            0 | 1 => others[place],
            2 => old + random.i128(1..=3),
            3 => old - random.i128(1..=3),
            4 => values[random.usize(..values.len())],
            5 => random.i128(0..=2),
            6 => -old,
            _ => old,
        };
    }
}
