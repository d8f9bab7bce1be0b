//! Allocates the cells of a KV cache to rows, and shares those of common prefixes. Independent of llama.cpp.

/// The cells of one context.
///
/// A cell holds the keys and values of one token. Rows with a common prefix share its cells, so a prefix is processed once.
pub(super) struct CellPool {
    rows: Vec<Row>,
    /// Reference counts of the cells.
    holders: Vec<u32>,
    free: Vec<u32>,
    clock: u64,
}

#[derive(Default)]
struct Row {
    tokens: Vec<u32>,
    cells: Vec<u32>,
    /// Cells reserved for further tokens.
    reserved: usize,
    /// Whether a request uses it.
    busy: bool,
    used_at: u64,
}

/// A row for a request, and the operations on the context, in this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Allocation {
    /// Rows to clear.
    pub(super) emptied: Vec<usize>,
    /// The row of the request.
    pub(super) row: usize,
    /// Tokens of the prompt that the row holds already.
    pub(super) held: usize,
    /// The row to copy them from; without one, the row itself is truncated to them.
    pub(super) from: Option<usize>,
}

/// A row that exceeds the common prefix by at most this many tokens is truncated, not copied.
const MAX_TRUNCATED: usize = 32;

impl CellPool {
    /// An empty pool with this many rows and cells.
    pub(super) fn new(rows: usize, cells: usize) -> Self {
        let free = (0..u32::try_from(cells).unwrap_or(u32::MAX)).rev().collect();
        let rows = (0..rows).map(|_| Row::default()).collect();
        Self { rows, holders: vec![0; cells], free, clock: 0 }
    }

    /// The row with the longest prefix of a prompt, and its length. The last token is always processed: its logits give the
    /// first token of the reply.
    pub(super) fn longest(&self, prompt: &[u32]) -> Option<(usize, usize)> {
        let most = &prompt[..prompt.len().saturating_sub(1)];
        let held = self.rows.iter().enumerate().map(|(at, row)| (common(&row.tokens, most), at));
        // Idle rows come first: they can be used in place.
        held.filter(|(length, _)| *length > 0)
            .max_by_key(|(length, at)| (*length, !self.rows[*at].busy))
            .map(|(length, at)| (at, length))
    }

    /// Allocates a row for a prompt and up to `more` further tokens; none while other requests need the cells.
    pub(super) fn allocate(&mut self, prompt: &[u32], more: usize, shares: bool) -> Option<Allocation> {
        let source = if shares { self.longest(prompt) } else { None };
        let (source, held) = source.map_or((None, 0), |(row, held)| (Some(row), held));
        let wanted = prompt.len() - held + more;
        // Nothing is evicted for a request that must wait anyway.
        if self.attainable(source, held) < self.reserved() + wanted {
            return None;
        }
        let in_place = source
            .filter(|row| !self.rows[*row].busy && self.rows[*row].tokens.len() - held <= MAX_TRUNCATED);
        let row = in_place.or_else(|| self.oldest(source)).or_else(|| self.oldest(None))?;
        let mut emptied = Vec::new();
        if source == Some(row) {
            self.cut(row, held);
        } else {
            self.empty(row);
            emptied.push(row);
        }
        while self.free.len() < self.reserved() + wanted {
            let Some(oldest) = self.oldest_held([source, Some(row)]) else { break };
            self.empty(oldest);
            emptied.push(oldest);
        }
        let from = source.filter(|source| *source != row);
        match from.filter(|_| self.free.len() < self.reserved() + wanted) {
            // Only the rest of the source is in the way: continue in the source itself.
            Some(source) => {
                self.cut(source, held);
                Some(self.place(source, prompt, held, None, wanted, emptied))
            }
            None => Some(self.place(row, prompt, held, from, wanted, emptied)),
        }
    }

    /// Free cells if all idle rows were evicted, except for the prefix that a request needs.
    fn attainable(&self, source: Option<usize>, held: usize) -> usize {
        let mut needed = vec![false; self.holders.len()];
        for row in self.rows.iter().filter(|row| row.busy) {
            row.cells.iter().for_each(|cell| needed[*cell as usize] = true);
        }
        if let Some(source) = source {
            self.rows[source].cells[..held].iter().for_each(|cell| needed[*cell as usize] = true);
        }
        needed.iter().filter(|needed| !**needed).count()
    }

    fn place(
        &mut self,
        row: usize,
        prompt: &[u32],
        held: usize,
        from: Option<usize>,
        wanted: usize,
        emptied: Vec<usize>,
    ) -> Allocation {
        if let Some(from) = from {
            let cells = self.rows[from].cells[..held].to_vec();
            for cell in &cells {
                self.holders[*cell as usize] += 1;
            }
            self.rows[row].cells = cells;
            self.rows[row].tokens = prompt[..held].to_vec();
        }
        self.clock += 1;
        let taken = &mut self.rows[row];
        (taken.busy, taken.reserved, taken.used_at) = (true, wanted, self.clock);
        Allocation { emptied, row, held, from }
    }

    /// Appends a token to a row.
    pub(super) fn append(&mut self, row: usize, token: u32) {
        let Some(cell) = self.free.pop() else { return };
        self.holders[cell as usize] = 1;
        let row = &mut self.rows[row];
        row.tokens.push(token);
        row.cells.push(cell);
        row.reserved = row.reserved.saturating_sub(1);
    }

    /// Releases a row; its tokens stay cached until the cells are needed.
    pub(super) fn release(&mut self, row: usize) {
        self.clock += 1;
        let left = &mut self.rows[row];
        (left.busy, left.reserved, left.used_at) = (false, 0, self.clock);
    }

    /// Clears a row.
    pub(super) fn empty(&mut self, row: usize) {
        self.cut(row, 0);
    }

    /// Clears all rows; requests keep theirs.
    pub(super) fn clear(&mut self) {
        for row in 0..self.rows.len() {
            self.empty(row);
        }
    }

    fn cut(&mut self, row: usize, length: usize) {
        let row = &mut self.rows[row];
        row.tokens.truncate(length);
        for cell in row.cells.drain(length.min(row.cells.len())..) {
            let holders = &mut self.holders[cell as usize];
            *holders -= 1;
            if *holders == 0 {
                self.free.push(cell);
            }
        }
    }

    fn reserved(&self) -> usize {
        self.rows.iter().map(|row| row.reserved).sum()
    }

    /// The least recently used idle row; an empty one first.
    fn oldest(&self, but: Option<usize>) -> Option<usize> {
        let idle = self.rows.iter().enumerate().filter(|(at, row)| !row.busy && Some(*at) != but);
        idle.min_by_key(|(_, row)| (!row.tokens.is_empty(), row.used_at)).map(|(at, _)| at)
    }

    /// The least recently used idle row that is not empty.
    fn oldest_held(&self, but: [Option<usize>; 2]) -> Option<usize> {
        let idle = self.rows.iter().enumerate().filter(|(at, row)| !row.busy && !but.contains(&Some(*at)));
        idle.filter(|(_, row)| !row.tokens.is_empty()).min_by_key(|(_, row)| row.used_at).map(|(at, _)| at)
    }
}

/// The length of the common prefix.
pub(super) fn common(one: &[u32], two: &[u32]) -> usize {
    one.iter().zip(two).take_while(|(one, two)| one == two).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Serves a request to its end; returns the allocation.
    fn serve(cells: &mut CellPool, prompt: &[u32], reply: &[u32]) -> Allocation {
        let place = cells.allocate(prompt, reply.len(), true).unwrap();
        for token in prompt[place.held..].iter().chain(reply) {
            cells.append(place.row, *token);
        }
        cells.release(place.row);
        place
    }

    #[test]
    fn a_conversation_goes_on_in_its_row_and_another_shares_its_beginning() {
        let mut cells = CellPool::new(4, 100);
        let first = serve(&mut cells, &[1, 2, 3], &[4, 5]);
        assert_eq!((first.held, first.from), (0, None));
        let next = serve(&mut cells, &[1, 2, 3, 4, 5, 6, 7], &[8]);
        assert_eq!((next.row, next.held, next.from), (first.row, 5, None), "the same row, read on");
        // A long rest is worth keeping: the beginning is copied.
        let long: Vec<u32> = (0..60).map(|n| 1000 + n).collect();
        serve(&mut cells, &long, &[]);
        let mut other = long[..10].to_vec();
        other.extend([7, 7]);
        let shared = serve(&mut cells, &other, &[]);
        assert_eq!(shared.held, 10);
        assert!(shared.from.is_some());
        // 8 of the conversation, 60 of the long one, 2 of the other: 10 are shared.
        assert_eq!(cells.holders.len() - cells.free.len(), 8 + 60 + 2);
    }

    #[test]
    fn the_oldest_rows_make_room_and_busy_ones_never_do() {
        let mut cells = CellPool::new(3, 20);
        let busy = cells.allocate(&[1, 2, 3, 4], 4, true).unwrap();
        serve(&mut cells, &[5, 5, 5, 5], &[6]);
        // 8 are promised to the first, 5 are held by the second.
        let third = cells.allocate(&[7, 7, 7, 7, 7, 7], 4, true).unwrap();
        assert_eq!(third.emptied.len(), 2, "its own row, and the one in the way: {third:?}");
        assert_eq!(cells.allocate(&[9, 9], 10, true), None);
        cells.release(busy.row);
        cells.release(third.row);
        assert!(cells.allocate(&[9, 9], 18, true).is_some());
    }

    #[test]
    fn the_last_token_of_a_prompt_is_always_read() {
        let mut cells = CellPool::new(2, 20);
        serve(&mut cells, &[1, 2, 3], &[]);
        assert_eq!(serve(&mut cells, &[1, 2, 3], &[]).held, 2);
    }

    #[test]
    fn cells_are_neither_lost_nor_given_twice_whatever_comes() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut cells = CellPool::new(5, 64);
        let mut open: Vec<(usize, Vec<u32>, usize)> = Vec::new();
        for _ in 0..4000 {
            if open.len() < 4 && random.bool() {
                let prompt: Vec<u32> = (0..random.usize(1..20)).map(|_| random.u32(0..2)).collect();
                let more = random.usize(0..8);
                if let Some(place) = cells.allocate(&prompt, more, true) {
                    assert_eq!(cells.rows[place.row].tokens, prompt[..place.held]);
                    for token in &prompt[place.held..] {
                        cells.append(place.row, *token);
                    }
                    assert_eq!(cells.rows[place.row].tokens, prompt, "there was room for all of it");
                    open.push((place.row, prompt, more));
                }
            } else if !open.is_empty() {
                let (row, prompt, more) = open.swap_remove(random.usize(..open.len()));
                assert!(cells.rows[row].tokens.starts_with(&prompt), "nobody else wrote into it");
                for _ in 0..random.usize(0..=more) {
                    cells.append(row, 9);
                }
                cells.release(row);
            }
            let mut held: BTreeMap<u32, u32> = BTreeMap::new();
            for row in &cells.rows {
                assert_eq!(row.cells.len(), row.tokens.len());
                for cell in &row.cells {
                    *held.entry(*cell).or_default() += 1;
                }
            }
            for (cell, holders) in cells.holders.iter().enumerate() {
                assert_eq!(held.get(&u32::try_from(cell).unwrap()).copied().unwrap_or(0), *holders);
            }
            assert_eq!(held.len() + cells.free.len(), 64);
        }
    }
}
