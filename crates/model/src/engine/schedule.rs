//! Who takes part in a step, and with how many tokens.

use std::collections::HashMap;

/// A sequence as the schedule sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// Whose it is; one without a group is a group of its own.
    pub(crate) group: Option<u64>,
    /// Tokens that it has yet to read: one where it writes.
    pub(crate) unread: usize,
}

/// Prompt tokens for each sequence that writes, where the two belong to different clients, and how few and how many a step
/// reads in any case.
const FOR_EACH_WRITER: usize = 8;
const LEAST_ROOM: usize = 16;

/// How many tokens each sequence reads in the next step; `room` is for all prompts together.
///
/// Among several clients every one has as many sequences in the step as the one with the fewest, the earliest first, so that
/// a client is never slowed by how much another asks for. Short prompts are read first, and few prompt tokens beside
/// sequences that write, whose clients wait for every step. Sequences without groups all take part, in their order.
pub(crate) fn shares(ready: &[Ready], room: usize) -> Vec<usize> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for group in ready.iter().filter_map(|one| one.group) {
        *counts.entry(group).or_default() += 1;
    }
    let alone = ready.iter().filter(|one| one.group.is_none()).count();
    let mut room = room;
    let mut shares = vec![0; ready.len()];
    if counts.len() + alone <= 1 || counts.is_empty() {
        for (share, one) in shares.iter_mut().zip(ready) {
            *share = if one.unread == 1 { 1 } else { one.unread.min(room) };
            room -= if *share > 1 { *share } else { 0 };
        }
        return shares;
    }
    let fewest = counts.values().copied().min().unwrap_or(1);
    let quota = if alone > 0 { 1 } else { fewest };
    let mut taken: HashMap<u64, usize> = HashMap::new();
    let mut readers = Vec::new();
    let mut writers = 0;
    for (at, one) in ready.iter().enumerate() {
        if let Some(group) = one.group {
            let taken = taken.entry(group).or_default();
            if *taken == quota {
                continue;
            }
            *taken += 1;
        }
        if one.unread == 1 {
            shares[at] = 1;
            writers += 1;
        } else {
            readers.push(at);
        }
    }
    if writers > 0 {
        room = (FOR_EACH_WRITER * writers).clamp(LEAST_ROOM, room.max(LEAST_ROOM)).min(room);
    }
    readers.sort_by_key(|at| ready[*at].unread);
    for at in readers {
        shares[at] = ready[at].unread.min(room);
        room -= shares[at];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ready: &[(u64, usize)]) -> Vec<usize> {
        let ready: Vec<Ready> = ready
            .iter()
            .map(|&(group, unread)| Ready { group: (group > 0).then_some(group), unread })
            .collect();
        shares(&ready, 384)
    }

    #[test]
    fn without_other_clients_everyone_takes_part() {
        assert_eq!(of(&[(0, 1), (0, 300), (0, 1), (0, 300), (0, 50)]), [1, 300, 1, 84, 0]);
        assert_eq!(of(&[(7, 1), (7, 1), (7, 500)]), [1, 1, 384]);
        assert_eq!(of(&[]), [0; 0]);
    }

    #[test]
    fn every_client_has_as_many_sequences_in_a_step_as_the_one_with_the_fewest() {
        assert_eq!(of(&[(1, 1), (1, 1), (1, 1), (2, 1)]), [1, 0, 0, 1]);
        assert_eq!(of(&[(1, 1), (1, 1), (1, 1), (2, 1), (2, 1)]), [1, 1, 0, 1, 1]);
        assert_eq!(of(&[(1, 1), (1, 1), (0, 1), (0, 1)]), [1, 0, 1, 1]);
    }

    #[test]
    fn short_prompts_are_read_first_and_few_tokens_beside_writers() {
        assert_eq!(of(&[(1, 1500), (2, 100), (3, 1500)]), [284, 100, 0]);
        assert_eq!(of(&[(1, 1500), (2, 1), (3, 10)]), [6, 1, 10]);
        let mut many = vec![(9, 1500)];
        many.extend((10..70).map(|group| (group, 1)));
        assert_eq!(of(&many)[0], 384, "no more than a step reads");
    }

    #[test]
    fn every_step_gets_somewhere() {
        for ready in [[(1, 900), (2, 900)], [(1, 1), (2, 900)], [(0, 2), (2, 2)]] {
            assert!(of(&ready).iter().sum::<usize>() > 0);
        }
    }
}
