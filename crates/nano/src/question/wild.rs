//! Wild questions: as large as those of a level, but nothing has to come out even. Askers make up such numbers.

use super::draw::{Draw, TRIES};
use super::{Family, Question};
use fastrand::Rng;

/// A longer way to the answer, in characters, would not fit a reply.
const LONGEST_WORKING: usize = 150;

impl Draw {
    /// A question of this family whose numbers are about as large as those of this level and otherwise free: equations
    /// with fractions or negative numbers for a solution, numbers with no common divisor, improper fractions, small or
    /// equal numbers. The oracle can answer it.
    pub fn wild(&mut self, family: Family, level: u32) -> Option<Question> {
        for _ in 0..TRIES {
            let form = self.form(family, level)?;
            let [mut one, two] = [(); 2].map(|()| self.parameters(form, level));
            let way = self.random.u32(..3);
            if way > 0 {
                loosen(&mut one, &two, &mut self.random);
            }
            // Parameters that make no good question may still make a wild one.
            let [mut one, two] = [one, two].map(|some| (form.numbers)(&some).unwrap_or(some));
            if way < 2 {
                loosen(&mut one, &two, &mut self.random);
            }
            if one.iter().any(|number| *number < 0) || !self.wants(form, &one) {
                continue;
            }
            // Of those that a level draws too, half are left to it.
            if form.level(&one).is_some() && self.random.bool() {
                continue;
            }
            let question = self.phrased(form, one);
            if question.working().is_some_and(|working| working.len() <= LONGEST_WORKING) {
                return Some(question);
            }
        }
        None
    }
}

/// Changes about one value in three: to another's, to a neighbour, to a small one, or to its opposite.
fn loosen(values: &mut [i128], others: &[i128], random: &mut Rng) {
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
