//! Keys and values of texts that were read before, for texts that begin alike.

use super::cache::{BLOCK, Block, Layout};
use aske_kernels::Lanes;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Names a block by what comes before it and the tokens in it; nothing is hashed away, so nothing is confused.
pub(super) type Key = (u64, [u32; BLOCK]);

/// What comes before the first block of a text.
const BEGINNING: u64 = 0;

struct Entry {
    id: u64,
    touched: u64,
    block: Block,
}

/// Blocks of texts in order of their last use, within a number of bytes.
///
/// A block is found by its tokens and by the block before it, so texts that begin alike share blocks from the
/// first on. When a text is met, its blocks are touched from the last to the first: a block is then always
/// younger than those after it, and what is given up for room is the end of a text before its beginning.
pub(super) struct Store {
    entries: HashMap<Key, Entry>,
    ages: BTreeMap<u64, Key>,
    most: usize,
    ids: u64,
    clock: u64,
}

/// The part of a text that is in the store.
#[derive(Default)]
pub(super) struct Found {
    pub(super) blocks: Vec<Block>,
    /// The first block that is not there, if the text has a whole one more and there could be room for it.
    pub(super) next: Option<Key>,
}

impl Store {
    /// A store of at most this many bytes.
    pub(super) fn new(layout: Layout, bytes: usize) -> Self {
        let most = bytes / (layout.block() * size_of::<Lanes>());
        Self { entries: HashMap::new(), ages: BTreeMap::new(), most, ids: BEGINNING, clock: 0 }
    }

    /// The longest beginning of the text that is here, in whole blocks.
    pub(super) fn find(&mut self, text: &[u32]) -> Found {
        let mut found = Found::default();
        let mut keys = Vec::new();
        let mut before = BEGINNING;
        for tokens in text.as_chunks::<BLOCK>().0 {
            let key = (before, *tokens);
            let Some(entry) = self.entries.get(&key) else {
                found.next = (found.blocks.len() < self.most).then_some(key);
                break;
            };
            found.blocks.push(Arc::clone(&entry.block));
            before = entry.id;
            keys.push(key);
        }
        self.touch(&keys);
        found
    }

    /// Keeps the whole blocks of a text.
    pub(super) fn keep(&mut self, text: &[u32], blocks: &[Block]) {
        let mut keys = Vec::new();
        let mut before = BEGINNING;
        // A text longer than the store would push out its own beginning.
        for (tokens, block) in text.as_chunks::<BLOCK>().0.iter().zip(blocks).take(self.most) {
            let key = (before, *tokens);
            let entry = self.entries.entry(key).or_insert_with(|| {
                self.ids += 1;
                Entry { id: self.ids, touched: 0, block: Arc::clone(block) }
            });
            before = entry.id;
            keys.push(key);
        }
        self.touch(&keys);
        while self.entries.len() > self.most
            && let Some((_, key)) = self.ages.pop_first()
        {
            self.entries.remove(&key);
        }
    }

    fn touch(&mut self, keys: &[Key]) {
        for key in keys.iter().rev() {
            if let Some(entry) = self.entries.get_mut(key) {
                self.clock += 1;
                self.ages.remove(&entry.touched);
                entry.touched = self.clock;
                self.ages.insert(self.clock, *key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout { layers: 1, heads: 1, dim: 2, padded: 16 };

    fn blocks(count: usize) -> Vec<Block> {
        (0..count).map(|_| vec![Lanes::default(); LAYOUT.block()].into()).collect()
    }

    fn text(first: u32, blocks: u32) -> Vec<u32> {
        (0..blocks * 16).map(|place| if place < 16 { first } else { 9 }).collect()
    }

    fn store(blocks: usize) -> Store {
        Store::new(LAYOUT, blocks * LAYOUT.block() * 64)
    }

    #[test]
    fn the_longest_common_beginning_is_found_in_whole_blocks() {
        let mut store = store(100);
        let held = blocks(3);
        store.keep(&text(1, 3), &held);
        let mut longer = text(1, 5);
        assert_eq!(store.find(&longer).blocks.len(), 3);
        assert!(Arc::ptr_eq(&store.find(&longer).blocks[2], &held[2]));
        assert_eq!(store.find(&longer[..47]).blocks.len(), 2);
        assert!(store.find(&longer[..47]).next.is_none());
        longer[20] = 0;
        let found = store.find(&longer);
        assert_eq!((found.blocks.len(), found.next.unwrap().1[4]), (1, 0));
        assert_eq!(store.find(&text(2, 3)).blocks.len(), 0, "the same later block after another first one");
    }

    #[test]
    fn the_oldest_text_goes_first_and_its_end_before_its_beginning() {
        let mut store = store(6);
        store.keep(&text(1, 3), &blocks(3));
        store.keep(&text(2, 3), &blocks(3));
        store.find(&text(1, 1));
        store.keep(&text(3, 2), &blocks(2));
        assert_eq!(store.entries.len(), 6);
        let left = [1, 2, 3].map(|first| store.find(&text(first, 3)).blocks.len());
        assert_eq!(left, [1, 3, 2]);
        store.keep(&text(4, 9), &blocks(9));
        assert_eq!((store.find(&text(4, 9)).blocks.len(), store.entries.len(), store.ages.len()), (6, 6, 6));
    }

    #[test]
    fn a_store_without_room_keeps_nothing() {
        let mut store = store(0);
        store.keep(&text(1, 3), &blocks(3));
        assert_eq!((store.find(&text(1, 3)).blocks.len(), store.entries.len()), (0, 0));
    }
}
