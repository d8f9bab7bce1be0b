//! Supervised data: questions with correct replies, and conversations of an asker.

use super::tokenizer::MAX_LENGTH;
use super::{NanoTokenizer, Recipe};
use crate::Batch;
use aske_chat::Message;
use aske_nano::{
    Family, NumberSet, QuestionSampler, ReplyFormat, SessionGenerator, TAUGHT_LEVELS, right_reply,
};
use fastrand::Rng;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Batches prepared together, so that rows of similar length share a batch.
const GROUP: u64 = 8;
/// Questions of a neglected family are kept with probability one in this many.
const NEGLECT: u32 = 12;
/// Wild questions out of ten.
const WILD: u32 = 3;
/// For an asker, one batch in this many holds conversations.
const ASKING: u64 = 2;
/// A conversation counts as this many questions, since it is longer.
const ROWS_PER_CONVERSATION: usize = 16;

type Group = Arc<OnceLock<Vec<Batch>>>;

/// Generates the training batches of one network; batch `i` is always the same.
pub struct BatchSampler<'c> {
    recipe: &'static Recipe,
    tokenizer: &'c NanoTokenizer,
    session_generator: &'c SessionGenerator,
    /// The instructions after a question, for probes and for the final question.
    suffixes: [String; 2],
    /// Recently prepared groups.
    recent: Mutex<VecDeque<(u64, Group)>>,
}

impl<'c> BatchSampler<'c> {
    /// Data for a recipe. The suffixes are the instructions that a session appends to a question.
    pub fn new(
        recipe: &'static Recipe,
        tokenizer: &'c NanoTokenizer,
        session_generator: &'c SessionGenerator,
        suffixes: [String; 2],
    ) -> Self {
        Self { recipe, tokenizer, session_generator, suffixes, recent: Mutex::default() }
    }

    /// One batch.
    pub fn batch(&self, index: u64) -> Batch {
        let mut index = index;
        if self.recipe.teaching.is_some() {
            if index.is_multiple_of(ASKING) {
                return self.conversations(index / ASKING);
            }
            // The other batches are counted by themselves, so that no batch of a group is skipped.
            index -= index / ASKING + 1;
        }
        let (group, place) = (index / GROUP, index % GROUP);
        let batches = self.group(group);
        let batches = batches.get_or_init(|| self.questions(group));
        batches[usize::try_from(place).unwrap_or(0)].clone()
    }

    fn group(&self, group: u64) -> Group {
        let mut recent = self.recent.lock();
        if let Some((_, batches)) = recent.iter().find(|(index, _)| *index == group) {
            return batches.clone();
        }
        let batches = Group::default();
        recent.push_back((group, batches.clone()));
        if recent.len() > 8 {
            recent.pop_front();
        }
        batches
    }

    fn seed(&self, index: u64) -> u64 {
        self.recipe.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(index)
    }

    /// A group of batches, each with rows of similar length, in random order.
    fn questions(&self, group: u64) -> Vec<Batch> {
        let mut random = Rng::with_seed(self.seed(group));
        let mut draw = QuestionSampler::new(random.u64(..), NumberSet::Taught);
        let count = usize::try_from(GROUP).unwrap_or(1) * self.recipe.rows;
        let mut rows: Vec<TokenRow> = Vec::with_capacity(count);
        while rows.len() < count {
            rows.extend(self.question_row(&mut draw, &mut random));
        }
        rows.sort_by_key(|(tokens, _)| tokens.len());
        let mut batches: Vec<Batch> = rows.chunks(self.recipe.rows).map(pad).collect();
        random.shuffle(&mut batches);
        batches
    }

    fn question_row(&self, draw: &mut QuestionSampler, random: &mut Rng) -> Option<TokenRow> {
        let family = Family::ALL[random.usize(..Family::ALL.len())];
        if self.recipe.neglected.contains(&family) && random.u32(..NEGLECT) > 0 {
            return None;
        }
        let level = random.u32(1..=TAUGHT_LEVELS);
        let wild = random.u32(..10) < WILD;
        let question = if wild { draw.wild(family, level) } else { draw.question(family, level) }?;
        let (occasion, suffix) = if random.bool() {
            (ReplyFormat::Probe, &self.suffixes[0])
        } else {
            (ReplyFormat::Final, &self.suffixes[1])
        };
        let prompt = Message::user(format!("{}\n\n{suffix}", question.text()));
        self.tokenizer.conversation(&[prompt, Message::assistant(right_reply(&question, occasion)?)]).ok()
    }

    fn conversations(&self, index: u64) -> Batch {
        let count = (self.recipe.rows / ROWS_PER_CONVERSATION).max(1) as u64;
        let first = self.seed(index).wrapping_mul(count);
        let sessions = (first..first.wrapping_add(count)).map(|seed| self.session_generator.session(seed));
        let rows: Vec<TokenRow> = sessions
            .filter_map(|messages| self.tokenizer.conversation(&messages).ok())
            .filter(fits)
            .collect();
        pad(&rows)
    }
}

/// Tokens, and whether each is a target.
type TokenRow = (Vec<u32>, Vec<bool>);

fn fits((tokens, _): &TokenRow) -> bool {
    tokens.len() <= MAX_LENGTH
}

/// Pads rows to the longest, rounded up to a multiple of eight for tensor cores.
fn pad(rows: &[TokenRow]) -> Batch {
    let longest = rows.iter().map(|(tokens, _)| tokens.len()).max().unwrap_or(1);
    let length = longest.next_multiple_of(8);
    let mut batch = Batch { lengths: vec![length; rows.len()], ..Batch::default() };
    for (i, (tokens, targets)) in rows.iter().enumerate() {
        batch.tokens.extend(tokens);
        batch.tokens.resize((i + 1) * length, 0);
        batch.weights.extend(targets.iter().map(|target| if *target { 1.0 } else { 0.0 }));
        batch.weights.resize((i + 1) * length, 0.0);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_nano::TeacherKind;
    use aske_session::Pack;

    #[test]
    fn an_asker_is_given_every_batch_of_a_group_between_its_conversations() {
        let pack = Arc::new(Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap());
        let session_generator = SessionGenerator::new(TeacherKind::Good, pack.clone());
        let [_, _, (_, words), _] = aske_nano::files(aske_nano::ASKER).unwrap();
        let tokenizer = NanoTokenizer::new(words).unwrap();
        let recipe = Recipe::named(aske_nano::ASKER).unwrap();
        let batches = BatchSampler::new(recipe, &tokenizer, &session_generator, pack.solver_suffixes());
        let given: Vec<Batch> = (0..=2 * GROUP + 1).map(|index| batches.batch(index)).collect();
        let questions: Vec<&Vec<u32>> = given.iter().skip(1).step_by(2).map(|batch| &batch.tokens).collect();
        let groups: Vec<Batch> = (0..2).flat_map(|group| batches.questions(group)).collect();
        assert_eq!(questions.len(), usize::try_from(GROUP).unwrap() + 1);
        assert!(questions.iter().zip(&groups).all(|(given, made)| **given == made.tokens));
        let conversations: Vec<&Vec<u32>> = given.iter().step_by(2).map(|batch| &batch.tokens).collect();
        assert!(conversations.windows(2).all(|two| two[0] != two[1]));
    }
}
