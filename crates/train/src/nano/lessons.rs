//! What a network is taught from: questions with right replies, and an asker's conversations.

use super::vocabulary::LONGEST;
use super::{Codec, Recipe};
use crate::Batch;
use aske_chat::Message;
use aske_nano::{Classroom, Draw, Family, Numbers, Occasion, TAUGHT_LEVELS, right_reply};
use fastrand::Rng;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Batches made together, so that rows of one length come together and little is filled up.
const GROUP: u64 = 8;
/// One lesson in so many of a neglected family is taught.
const NEGLECT: u32 = 12;
/// Of ten lessons, so many are wild.
const WILD: u32 = 3;
/// Of an asker's batches, one in so many holds conversations.
const ASKING: u64 = 2;
/// Conversations in a batch, for so many questions: their rows are longer.
const ROWS_A_CONVERSATION: usize = 16;

type Group = Arc<OnceLock<Vec<Batch>>>;

/// The lessons of one network; batch `i` is always the same.
pub struct Lessons<'c> {
    recipe: &'static Recipe,
    codec: &'c Codec,
    classroom: &'c Classroom,
    /// The prompts after a question, for probing and for the final one.
    suffixes: [String; 2],
    /// Groups lately made.
    recent: Mutex<VecDeque<(u64, Group)>>,
}

impl<'c> Lessons<'c> {
    /// The lessons of a recipe. The suffixes are those that a session puts after a question.
    pub fn new(
        recipe: &'static Recipe,
        codec: &'c Codec,
        classroom: &'c Classroom,
        suffixes: [String; 2],
    ) -> Self {
        Self { recipe, codec, classroom, suffixes, recent: Mutex::default() }
    }

    /// One batch.
    pub fn batch(&self, index: u64) -> Batch {
        let mut index = index;
        if self.recipe.teaching.is_some() {
            if index.is_multiple_of(ASKING) {
                return self.conversations(index / ASKING);
            }
            // The batches between, counted by themselves: of a group none is left out.
            index -= index / ASKING + 1;
        }
        let (group, place) = (index / GROUP, index % GROUP);
        let made = self.group(group);
        let made = made.get_or_init(|| self.questions(group));
        made[usize::try_from(place).unwrap_or(0)].clone()
    }

    fn group(&self, group: u64) -> Group {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = recent.iter().find(|(number, _)| *number == group) {
            return made.clone();
        }
        let made = Group::default();
        recent.push_back((group, made.clone()));
        if recent.len() > 8 {
            recent.pop_front();
        }
        made
    }

    fn seed(&self, index: u64) -> u64 {
        self.recipe.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(index)
    }

    /// A group of batches, each of rows of about one length, in an order by chance.
    fn questions(&self, group: u64) -> Vec<Batch> {
        let mut random = Rng::with_seed(self.seed(group));
        let mut draw = Draw::new(random.u64(..), Numbers::Taught);
        let count = usize::try_from(GROUP).unwrap_or(1) * self.recipe.rows;
        let mut rows: Vec<Row> = Vec::with_capacity(count);
        while rows.len() < count {
            rows.extend(self.lesson(&mut draw, &mut random));
        }
        rows.sort_by_key(|(tokens, _)| tokens.len());
        let mut batches: Vec<Batch> = rows.chunks(self.recipe.rows).map(filled).collect();
        random.shuffle(&mut batches);
        batches
    }

    fn lesson(&self, draw: &mut Draw, random: &mut Rng) -> Option<Row> {
        let family = Family::ALL[random.usize(..Family::ALL.len())];
        if self.recipe.neglected.contains(&family) && random.u32(..NEGLECT) > 0 {
            return None;
        }
        let level = random.u32(1..=TAUGHT_LEVELS);
        let wild = random.u32(..10) < WILD;
        let question = if wild { draw.wild(family, level) } else { draw.question(family, level) }?;
        let (occasion, suffix) = if random.bool() {
            (Occasion::Probe, &self.suffixes[0])
        } else {
            (Occasion::Final, &self.suffixes[1])
        };
        let prompt = Message::user(format!("{}\n\n{suffix}", question.text()));
        self.codec.conversation(&[prompt, Message::assistant(right_reply(&question, occasion)?)]).ok()
    }

    fn conversations(&self, index: u64) -> Batch {
        let count = (self.recipe.rows / ROWS_A_CONVERSATION).max(1) as u64;
        let first = self.seed(index).wrapping_mul(count);
        let sessions = (first..first.wrapping_add(count)).map(|seed| self.classroom.session(seed));
        let rows: Vec<Row> =
            sessions.filter_map(|messages| self.codec.conversation(&messages).ok()).filter(fits).collect();
        filled(&rows)
    }
}

/// Tokens, and for each whether the network wrote it.
type Row = (Vec<u32>, Vec<bool>);

fn fits((tokens, _): &Row) -> bool {
    tokens.len() <= LONGEST
}

/// Rows filled up to the longest, which is a multiple of eight for the sake of the matrix units.
fn filled(rows: &[Row]) -> Batch {
    let longest = rows.iter().map(|(tokens, _)| tokens.len()).max().unwrap_or(1);
    let length = longest.next_multiple_of(8);
    let mut batch =
        Batch { rows: rows.len(), length, tokens: Vec::new(), weights: Vec::new(), before: Vec::new() };
    for (i, (tokens, own)) in rows.iter().enumerate() {
        batch.tokens.extend(tokens);
        batch.tokens.resize((i + 1) * length, 0);
        batch.weights.extend(own.iter().map(|own| if *own { 1.0 } else { 0.0 }));
        batch.weights.resize((i + 1) * length, 0.0);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_nano::Teaching;
    use aske_session::Pack;

    #[test]
    fn an_asker_is_given_every_batch_of_a_group_between_its_conversations() {
        let pack = Arc::new(Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap());
        let classroom = Classroom::new(Teaching::Good, pack.clone());
        let [_, _, (_, words), _] = aske_nano::files(aske_nano::ASKER).unwrap();
        let codec = Codec::new(words).unwrap();
        let recipe = Recipe::named(aske_nano::ASKER).unwrap();
        let lessons = Lessons::new(recipe, &codec, &classroom, pack.solver_suffixes());
        let given: Vec<Batch> = (0..=2 * GROUP + 1).map(|index| lessons.batch(index)).collect();
        let questions: Vec<&Vec<u32>> = given.iter().skip(1).step_by(2).map(|batch| &batch.tokens).collect();
        let groups: Vec<Batch> = (0..2).flat_map(|group| lessons.questions(group)).collect();
        assert_eq!(questions.len(), usize::try_from(GROUP).unwrap() + 1);
        assert!(questions.iter().zip(&groups).all(|(given, made)| **given == made.tokens));
        let conversations: Vec<&Vec<u32>> = given.iter().step_by(2).map(|batch| &batch.tokens).collect();
        assert!(conversations.windows(2).all(|two| two[0] != two[1]));
    }
}
