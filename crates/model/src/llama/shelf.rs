//! Which tokens every sequence of a context holds, and who shares cells with whom. No llama.cpp in here.

/// What the sequences of one context hold.
///
/// A cell keeps the keys and values of one token. Sequences with a common beginning share its cells, so a beginning is
/// read once, however many requests have it.
pub(super) struct Shelf {
    rows: Vec<Row>,
    /// How many rows hold each cell.
    holders: Vec<u32>,
    free: Vec<u32>,
    clock: u64,
}

#[derive(Default)]
struct Row {
    tokens: Vec<u32>,
    cells: Vec<u32>,
    /// Cells that it may still need.
    reserved: usize,
    /// A request is being served in it.
    busy: bool,
    used_at: u64,
}

/// A row for a request, and what the context has to do for it, in this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Rows to be emptied.
    pub(super) emptied: Vec<usize>,
    /// The row of the request.
    pub(super) row: usize,
    /// Tokens of the prompt that the row holds already.
    pub(super) held: usize,
    /// The row they are copied from; without one, the row itself is cut down to them.
    pub(super) from: Option<usize>,
}

/// A row whose rest is shorter than this after the common beginning is cut, and not copied.
const REST: usize = 32;

impl Shelf {
    /// An empty shelf of so many rows and cells.
    pub(super) fn new(rows: usize, cells: usize) -> Self {
        let free = (0..u32::try_from(cells).unwrap_or(u32::MAX)).rev().collect();
        let rows = (0..rows).map(|_| Row::default()).collect();
        Self { rows, holders: vec![0; cells], free, clock: 0 }
    }

    /// The longest beginning of a prompt that a row holds, and the row. The last token is always read: its logits
    /// choose the first token of the reply.
    pub(super) fn longest(&self, prompt: &[u32]) -> Option<(usize, usize)> {
        let most = &prompt[..prompt.len().saturating_sub(1)];
        let held = self.rows.iter().enumerate().map(|(at, row)| (common(&row.tokens, most), at));
        // Of equally long ones an idle row is better: it may be used as it is.
        held.filter(|(length, _)| *length > 0)
            .max_by_key(|(length, at)| (*length, !self.rows[*at].busy))
            .map(|(length, at)| (at, length))
    }

    /// A place for a prompt and at most `more` tokens after it, both together no more than all cells; none while others
    /// need the room.
    pub(super) fn take(&mut self, prompt: &[u32], more: usize, shares: bool) -> Option<Place> {
        let source = if shares { self.longest(prompt) } else { None };
        let (source, held) = source.map_or((None, 0), |(row, held)| (Some(row), held));
        let wanted = prompt.len() - held + more;
        // Nothing is forgotten for a request that must wait all the same.
        if self.attainable(source, held) < self.reserved() + wanted {
            return None;
        }
        let in_place =
            source.filter(|row| !self.rows[*row].busy && self.rows[*row].tokens.len() - held <= REST);
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
            // The rest of the source is all that is in the way: go on in it.
            Some(source) => {
                self.cut(source, held);
                Some(self.place(source, prompt, held, None, wanted, emptied))
            }
            None => Some(self.place(row, prompt, held, from, wanted, emptied)),
        }
    }

    /// Free cells if all that is idle were forgotten, but for the beginning that a request needs.
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
    ) -> Place {
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
        Place { emptied, row, held, from }
    }

    /// The row reads one more token.
    pub(super) fn read(&mut self, row: usize, token: u32) {
        let Some(cell) = self.free.pop() else { return };
        self.holders[cell as usize] = 1;
        let row = &mut self.rows[row];
        row.tokens.push(token);
        row.cells.push(cell);
        row.reserved = row.reserved.saturating_sub(1);
    }

    /// The request in a row is over; what it read stays until there is need for the room.
    pub(super) fn leave(&mut self, row: usize) {
        self.clock += 1;
        let left = &mut self.rows[row];
        (left.busy, left.reserved, left.used_at) = (false, 0, self.clock);
    }

    /// Forgets what a row holds.
    pub(super) fn empty(&mut self, row: usize) {
        self.cut(row, 0);
    }

    /// Forgets everything; requests that are being served stay where they are, without anything read.
    pub(super) fn forget(&mut self) {
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

    /// The idle row that was used longest ago; an empty one first.
    fn oldest(&self, but: Option<usize>) -> Option<usize> {
        let idle = self.rows.iter().enumerate().filter(|(at, row)| !row.busy && Some(*at) != but);
        idle.min_by_key(|(_, row)| (!row.tokens.is_empty(), row.used_at)).map(|(at, _)| at)
    }

    /// The idle row that was used longest ago and holds something.
    fn oldest_held(&self, but: [Option<usize>; 2]) -> Option<usize> {
        let idle = self.rows.iter().enumerate().filter(|(at, row)| !row.busy && !but.contains(&Some(*at)));
        idle.filter(|(_, row)| !row.tokens.is_empty()).min_by_key(|(_, row)| row.used_at).map(|(at, _)| at)
    }
}

/// How many tokens two texts have in common at their beginning.
pub(super) fn common(one: &[u32], two: &[u32]) -> usize {
    one.iter().zip(two).take_while(|(one, two)| one == two).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Serves a request to its end; gives the place.
    fn serve(shelf: &mut Shelf, prompt: &[u32], reply: &[u32]) -> Place {
        let place = shelf.take(prompt, reply.len(), true).unwrap();
        for token in prompt[place.held..].iter().chain(reply) {
            shelf.read(place.row, *token);
        }
        shelf.leave(place.row);
        place
    }

    #[test]
    fn a_conversation_goes_on_in_its_row_and_another_shares_its_beginning() {
        let mut shelf = Shelf::new(4, 100);
        let first = serve(&mut shelf, &[1, 2, 3], &[4, 5]);
        assert_eq!((first.held, first.from), (0, None));
        let next = serve(&mut shelf, &[1, 2, 3, 4, 5, 6, 7], &[8]);
        assert_eq!((next.row, next.held, next.from), (first.row, 5, None), "the same row, read on");
        // A long rest is worth keeping: the beginning is copied.
        let long: Vec<u32> = (0..60).map(|n| 1000 + n).collect();
        serve(&mut shelf, &long, &[]);
        let mut other = long[..10].to_vec();
        other.extend([7, 7]);
        let shared = serve(&mut shelf, &other, &[]);
        assert_eq!(shared.held, 10);
        assert!(shared.from.is_some());
        // 8 of the conversation, 60 of the long one, 2 of the other: 10 are shared.
        assert_eq!(shelf.holders.len() - shelf.free.len(), 8 + 60 + 2);
    }

    #[test]
    fn the_oldest_rows_make_room_and_busy_ones_never_do() {
        let mut shelf = Shelf::new(3, 20);
        let busy = shelf.take(&[1, 2, 3, 4], 4, true).unwrap();
        serve(&mut shelf, &[5, 5, 5, 5], &[6]);
        // 8 are promised to the first, 5 are held by the second.
        let third = shelf.take(&[7, 7, 7, 7, 7, 7], 4, true).unwrap();
        assert_eq!(third.emptied.len(), 2, "its own row, and the one in the way: {third:?}");
        assert_eq!(shelf.take(&[9, 9], 10, true), None);
        shelf.leave(busy.row);
        shelf.leave(third.row);
        assert!(shelf.take(&[9, 9], 18, true).is_some());
    }

    #[test]
    fn the_last_token_of_a_prompt_is_always_read() {
        let mut shelf = Shelf::new(2, 20);
        serve(&mut shelf, &[1, 2, 3], &[]);
        assert_eq!(serve(&mut shelf, &[1, 2, 3], &[]).held, 2);
    }

    #[test]
    fn cells_are_neither_lost_nor_given_twice_whatever_comes() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut shelf = Shelf::new(5, 64);
        let mut open: Vec<(usize, Vec<u32>, usize)> = Vec::new();
        for _ in 0..4000 {
            if open.len() < 4 && random.bool() {
                let prompt: Vec<u32> = (0..random.usize(1..20)).map(|_| random.u32(0..2)).collect();
                let more = random.usize(0..8);
                if let Some(place) = shelf.take(&prompt, more, true) {
                    assert_eq!(shelf.rows[place.row].tokens, prompt[..place.held]);
                    for token in &prompt[place.held..] {
                        shelf.read(place.row, *token);
                    }
                    assert_eq!(shelf.rows[place.row].tokens, prompt, "there was room for all of it");
                    open.push((place.row, prompt, more));
                }
            } else if !open.is_empty() {
                let (row, prompt, more) = open.swap_remove(random.usize(..open.len()));
                assert!(shelf.rows[row].tokens.starts_with(&prompt), "nobody else wrote into it");
                for _ in 0..random.usize(0..=more) {
                    shelf.read(row, 9);
                }
                shelf.leave(row);
            }
            let mut held: BTreeMap<u32, u32> = BTreeMap::new();
            for row in &shelf.rows {
                assert_eq!(row.cells.len(), row.tokens.len());
                for cell in &row.cells {
                    *held.entry(*cell).or_default() += 1;
                }
            }
            for (cell, holders) in shelf.holders.iter().enumerate() {
                assert_eq!(held.get(&u32::try_from(cell).unwrap()).copied().unwrap_or(0), *holders);
            }
            assert_eq!(held.len() + shelf.free.len(), 64);
        }
    }
}
