//! Decides which sequences take part in a step, and with how many tokens.

use std::collections::{BTreeMap, HashSet};

/// What the scheduler knows of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceStatus {
    /// The client; a sequence without one is a client of its own.
    pub(crate) client: Option<u64>,
    /// Tokens still to process: one while it is decoding.
    pub(crate) pending: usize,
    /// Tokens processed.
    pub(crate) computed: usize,
}

impl SequenceStatus {
    /// Whether its prompt is processed.
    fn is_decoding(self) -> bool {
        self.pending == 1
    }

    /// The approximate cost of a token: a constant and the tokens attended to.
    fn cost(self) -> usize {
        256 + self.computed
    }
}

/// Prompt tokens per decoding sequence where clients share an engine, and the minimum per step.
const PREFILL_PER_DECODE: usize = 8;
const MIN_PREFILL: usize = 8;
/// Maximum credit of clients with several sequences.
const MAX_CREDIT: usize = 16 << 10;
/// Maximum cost of the decoding sequences in a step of clients with several, which bounds how long a new client waits.
const MAX_DECODE_COST: usize = 16 << 10;

/// A fair scheduler.
///
/// Clients with one sequence take part in every step. Those with several together get as much of the engine as all others, so
/// that a client is never slowed by how many replies another requests; among themselves they have equally many sequences in a
/// step. Short prompts come first, and few prompt tokens are processed beside decoding sequences, whose clients wait for
/// every step. Without clients everything takes part, in order.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    /// What clients with several sequences may use, in units of cost.
    credit: usize,
    /// Round-robin position among them.
    turn: usize,
}

impl Scheduler {
    /// The tokens that each sequence processes in the next step. `waiting` are clients with further requests, which count as
    /// clients with several; `room` is the limit for all prompts together.
    pub(crate) fn schedule(
        &mut self,
        ready: &[SequenceStatus],
        waiting: &HashSet<u64>,
        room: usize,
    ) -> Vec<usize> {
        // In order, so that ties fall the same way in every run.
        let mut clients: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut singles = Vec::new();
        for (at, one) in ready.iter().enumerate() {
            match one.client {
                Some(client) => clients.entry(client).or_default().push(at),
                None => singles.push(at),
            }
        }
        if clients.is_empty() {
            return all_sequences(ready, room);
        }
        if clients.len() + singles.len() == 1 {
            let mut shares = all_sequences(ready, room);
            limit_decoding(ready, &mut shares);
            return shares;
        }
        let mut bulk: Vec<Vec<usize>> = Vec::new();
        for (client, places) in clients {
            match places[..] {
                [single] if !waiting.contains(&client) => singles.push(single),
                _ => bulk.push(places),
            }
        }
        bulk.sort_unstable();
        let mut shares = vec![0; ready.len()];
        if singles.is_empty() {
            let fewest = bulk.iter().map(Vec::len).min().unwrap_or(1);
            let chosen = bulk.iter().flat_map(|places| &places[..fewest]).copied().collect();
            add_chosen(ready, chosen, room, &mut shares);
            limit_decoding(ready, &mut shares);
            self.credit = 0;
            return shares;
        }
        let left = add_chosen(ready, singles, room, &mut shares);
        let cost: usize = ready.iter().zip(&shares).map(|(one, share)| one.cost() * share).sum();
        self.credit = (self.credit + cost).min(MAX_CREDIT);
        self.add_bulk(ready, &bulk, left.max(MIN_PREFILL), &mut shares);
        shares
    }

    /// Adds one sequence of each client with several, round-robin, as far as their credit goes.
    fn add_bulk(&mut self, ready: &[SequenceStatus], bulk: &[Vec<usize>], room: usize, shares: &mut [usize]) {
        let mut room = room;
        for _ in bulk {
            let Some(&at) = bulk[self.turn % bulk.len()].first() else { return };
            let one = ready[at];
            let tokens =
                if one.is_decoding() { 1 } else { one.pending.min(room).min(self.credit / one.cost()) };
            let cost = tokens.max(1) * one.cost();
            if tokens == 0 || cost > self.credit {
                return;
            }
            self.credit -= cost;
            self.turn += 1;
            room -= if tokens > 1 { tokens } else { 0 };
            shares[at] = tokens;
        }
    }
}

/// Everything takes part; prompts are processed in order.
fn all_sequences(ready: &[SequenceStatus], mut room: usize) -> Vec<usize> {
    let share = |one: &SequenceStatus| {
        let share = if one.is_decoding() { 1 } else { one.pending.min(room) };
        room -= if share > 1 { share } else { 0 };
        share
    };
    ready.iter().map(share).collect()
}

/// Leaves the last decoding sequences out of a step that would take too long.
fn limit_decoding(ready: &[SequenceStatus], shares: &mut [usize]) {
    let mut total = 0;
    for (one, share) in ready.iter().zip(shares).filter(|(_, share)| **share == 1) {
        total += one.cost();
        if total > MAX_DECODE_COST && total > one.cost() {
            *share = 0;
        }
    }
}

/// Adds the chosen sequences, the shortest prompts first; returns the room that is left.
fn add_chosen(ready: &[SequenceStatus], chosen: Vec<usize>, room: usize, shares: &mut [usize]) -> usize {
    let (decoding, mut prefilling): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|at| ready[*at].is_decoding());
    let prefill = (PREFILL_PER_DECODE * decoding.len()).max(MIN_PREFILL).min(room);
    let mut room = if decoding.is_empty() { room } else { prefill };
    for at in decoding {
        shares[at] = 1;
    }
    prefilling.sort_by_key(|at| (ready[*at].pending, *at));
    for at in prefilling {
        shares[at] = ready[at].pending.min(room);
        room -= shares[at];
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ready: &[(u64, usize)]) -> Vec<SequenceStatus> {
        let one = |&(client, pending)| SequenceStatus {
            client: (client > 0).then_some(client),
            pending,
            computed: 0,
        };
        ready.iter().map(one).collect()
    }

    fn of(ready: &[(u64, usize)]) -> Vec<usize> {
        Scheduler::default().schedule(&all(ready), &HashSet::new(), 384)
    }

    #[test]
    fn without_other_clients_everyone_takes_part() {
        assert_eq!(of(&[(0, 1), (0, 300), (0, 1), (0, 300), (0, 50)]), [1, 300, 1, 84, 0]);
        assert_eq!(of(&[(7, 1), (7, 1), (7, 500)]), [1, 1, 384]);
        assert_eq!(of(&[]), [0; 0]);
    }

    #[test]
    fn a_step_of_one_client_is_bounded_so_that_another_need_not_wait_long() {
        let long = |client| SequenceStatus { client, pending: 1, computed: 1024 };
        let mut scheduler = Scheduler::default();
        let shares = scheduler.schedule(&[long(Some(1)); 128], &HashSet::new(), 384);
        assert_eq!(shares.iter().sum::<usize>(), MAX_DECODE_COST / 1280);
        assert!(shares[0] == 1 && shares[127] == 0);
        assert_eq!(
            scheduler.schedule(&[long(None); 128], &HashSet::new(), 384),
            [1; 128],
            "a run of our own is not bounded"
        );
        let endless = SequenceStatus { client: Some(1), pending: 1, computed: 1 << 20 };
        assert_eq!(scheduler.schedule(&[endless; 2], &HashSet::new(), 384), [1, 0]);
    }

    #[test]
    fn clients_with_several_sequences_have_equally_many_in_a_step() {
        assert_eq!(of(&[(1, 1), (1, 1), (1, 1), (2, 1), (2, 1)]), [1, 1, 0, 1, 1]);
    }

    #[test]
    fn all_clients_with_several_sequences_have_together_what_the_others_have() {
        let mut scheduler = Scheduler::default();
        let mut ready = all(&[(1, 1), (1, 1), (2, 1), (2, 1), (3, 1)]);
        let mut totals = [0; 5];
        for _ in 0..100 {
            let shares = scheduler.schedule(&ready, &HashSet::new(), 384);
            assert_eq!(shares[4], 1, "the single one is in every step");
            totals.iter_mut().zip(shares).for_each(|(total, share)| *total += share);
        }
        assert_eq!(totals, [50, 0, 50, 0, 100]);
        // Long sequences cost more, so they have fewer tokens.
        ready[0].computed = 1024;
        ready[2].computed = 1024;
        let mut bulk = 0;
        for _ in 0..100 {
            let shares = scheduler.schedule(&ready, &HashSet::new(), 384);
            bulk += shares[..4].iter().sum::<usize>();
        }
        assert!((15..30).contains(&bulk), "256 / (256 + 1024) of 100: {bulk}");
    }

    #[test]
    fn a_client_with_one_sequence_and_more_that_wait_is_one_with_several() {
        let mut scheduler = Scheduler::default();
        let mut ready = all(&[(1, 1), (2, 1)]);
        ready[0].computed = 1024;
        let waiting = HashSet::from([1]);
        let taken: usize = (0..100).map(|_| scheduler.schedule(&ready, &waiting, 384)[0]).sum();
        assert!((15..30).contains(&taken), "{taken}");
    }

    #[test]
    fn short_prompts_come_first_and_few_prompt_tokens_beside_decoding() {
        assert_eq!(of(&[(1, 1500), (2, 100), (3, 1500)]), [284, 100, 0]);
        assert_eq!(of(&[(1, 1500), (2, 1), (3, 5)]), [3, 1, 5]);
        let mut many = vec![(9, 1500)];
        many.extend((10..70).map(|client| (client, 1)));
        assert_eq!(of(&many)[0], 384, "no more than a step takes");
    }

    #[test]
    fn every_step_gets_somewhere_and_everyone_in_the_end() {
        for ready in [[(1, 900), (2, 900)], [(1, 1), (2, 900)], [(0, 2), (2, 2)]] {
            assert!(of(&ready).iter().sum::<usize>() > 0);
        }
        let mut scheduler = Scheduler::default();
        let ready = all(&[(1, 1400), (1, 1400), (2, 1)]);
        let computed: usize = (0..2000).map(|_| scheduler.schedule(&ready, &HashSet::new(), 384)[0]).sum();
        assert!(computed > 1400, "a long prompt beside a decoding sequence is prefilled as well: {computed}");
    }
}
