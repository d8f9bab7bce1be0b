//! The prefix cache: KV blocks of earlier sequences, reused by sequences with a common prefix.

use super::cache::{BLOCK, Block, Layout};
use aske_kernels::Lanes;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Identifies a block by the id of the block before it and its own tokens.
pub(super) type Key = (u64, [u32; BLOCK]);

/// The id before the first block of a sequence.
const BEGINNING: u64 = 0;

struct Entry {
    id: u64,
    touched: u64,
    block: Block,
}

/// A least-recently-used cache of blocks, bounded in bytes.
///
/// A block is found by its tokens and the block before it, so sequences with a common prefix share blocks. The blocks of a
/// sequence are touched from the last to the first, so the end of a sequence is evicted before its beginning.
pub(super) struct PrefixCache {
    entries: HashMap<Key, Entry>,
    ages: BTreeMap<u64, Key>,
    max_blocks: usize,
    ids: u64,
    clock: u64,
}

/// The cached prefix of a sequence.
#[derive(Default)]
pub(super) struct PrefixMatch {
    pub(super) blocks: Vec<Block>,
    /// The first block that is not cached, if the sequence has a further full block that could be.
    pub(super) next: Option<Key>,
}

impl PrefixCache {
    /// A cache of at most this many bytes.
    pub(super) fn new(layout: Layout, bytes: usize) -> Self {
        let max_blocks = bytes / (layout.block() * size_of::<Lanes>());
        Self { entries: HashMap::new(), ages: BTreeMap::new(), max_blocks, ids: BEGINNING, clock: 0 }
    }

    /// Finds the longest cached prefix, in full blocks.
    pub(super) fn find(&mut self, text: &[u32]) -> PrefixMatch {
        let mut found = PrefixMatch::default();
        let mut keys = Vec::new();
        let mut before = BEGINNING;
        for tokens in text.as_chunks::<BLOCK>().0 {
            let key = (before, *tokens);
            let Some(entry) = self.entries.get(&key) else {
                found.next = (found.blocks.len() < self.max_blocks).then_some(key);
                break;
            };
            found.blocks.push(Arc::clone(&entry.block));
            before = entry.id;
            keys.push(key);
        }
        self.touch(&keys);
        found
    }

    /// Inserts the full blocks of a sequence.
    pub(super) fn insert(&mut self, text: &[u32], blocks: &[Block]) {
        let mut keys = Vec::new();
        let mut before = BEGINNING;
        // A sequence longer than the cache would evict its own beginning.
        for (tokens, block) in text.as_chunks::<BLOCK>().0.iter().zip(blocks).take(self.max_blocks) {
            let key = (before, *tokens);
            let entry = self.entries.entry(key).or_insert_with(|| {
                self.ids += 1;
                Entry { id: self.ids, touched: 0, block: Arc::clone(block) }
            });
            before = entry.id;
            keys.push(key);
        }
        self.touch(&keys);
        while self.entries.len() > self.max_blocks
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

    fn prefix_cache(blocks: usize) -> PrefixCache {
        PrefixCache::new(LAYOUT, blocks * LAYOUT.block() * 64)
    }

    #[test]
    fn the_longest_common_beginning_is_found_in_whole_blocks() {
        let mut prefix_cache = prefix_cache(100);
        let held = blocks(3);
        prefix_cache.insert(&text(1, 3), &held);
        let mut longer = text(1, 5);
        assert_eq!(prefix_cache.find(&longer).blocks.len(), 3);
        assert!(Arc::ptr_eq(&prefix_cache.find(&longer).blocks[2], &held[2]));
        assert_eq!(prefix_cache.find(&longer[..47]).blocks.len(), 2);
        assert!(prefix_cache.find(&longer[..47]).next.is_none());
        longer[20] = 0;
        let found = prefix_cache.find(&longer);
        assert_eq!((found.blocks.len(), found.next.unwrap().1[4]), (1, 0));
        assert_eq!(
            prefix_cache.find(&text(2, 3)).blocks.len(),
            0,
            "the same later block after another first one"
        );
    }

    #[test]
    fn the_oldest_text_goes_first_and_its_end_before_its_beginning() {
        let mut prefix_cache = prefix_cache(6);
        prefix_cache.insert(&text(1, 3), &blocks(3));
        prefix_cache.insert(&text(2, 3), &blocks(3));
        prefix_cache.find(&text(1, 1));
        prefix_cache.insert(&text(3, 2), &blocks(2));
        assert_eq!(prefix_cache.entries.len(), 6);
        let left = [1, 2, 3].map(|first| prefix_cache.find(&text(first, 3)).blocks.len());
        assert_eq!(left, [1, 3, 2]);
        prefix_cache.insert(&text(4, 9), &blocks(9));
        assert_eq!(
            (
                prefix_cache.find(&text(4, 9)).blocks.len(),
                prefix_cache.entries.len(),
                prefix_cache.ages.len()
            ),
            (6, 6, 6)
        );
    }

    #[test]
    fn a_store_without_room_keeps_nothing() {
        let mut prefix_cache = prefix_cache(0);
        prefix_cache.insert(&text(1, 3), &blocks(3));
        assert_eq!((prefix_cache.find(&text(1, 3)).blocks.len(), prefix_cache.entries.len()), (0, 0));
    }
}
