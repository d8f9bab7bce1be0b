//! Places servers on GPUs, all at once: bin packing.

/// A server to place: its share of each of its GPUs, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackItem {
    pub(crate) share: u32,
    pub(crate) gpus: usize,
}

/// Partial placements that are tried before giving up.
const MAX_TRIES: u32 = 200_000;

/// The GPUs of each item, such that none exceeds its capacity; none if no placement was found.
///
/// Tries worst fit first, which balances the GPUs, then best fit with backtracking.
pub(crate) fn pack(items: &[PackItem], capacities: &[u32]) -> Option<Vec<Vec<usize>>> {
    let mut sorted: Vec<usize> = (0..items.len()).collect();
    sorted.sort_by_key(|i| std::cmp::Reverse((items[*i].gpus, items[*i].share, std::cmp::Reverse(*i))));
    let mut placed = vec![Vec::new(); items.len()];
    let mut free = capacities.to_vec();
    if worst_fit(items, &sorted, &mut free, &mut placed) {
        return Some(placed);
    }
    free.copy_from_slice(capacities);
    let mut tries = MAX_TRIES;
    best_fit(items, &sorted, &mut free, &mut placed, &mut tries).then_some(placed)
}

fn worst_fit(items: &[PackItem], sorted: &[usize], free: &mut [u32], placed: &mut [Vec<usize>]) -> bool {
    sorted.iter().all(|i| {
        let mut gpus: Vec<usize> = (0..free.len()).filter(|gpu| free[*gpu] >= items[*i].share).collect();
        gpus.sort_by_key(|gpu| (std::cmp::Reverse(free[*gpu]), *gpu));
        gpus.truncate(items[*i].gpus);
        gpus.sort_unstable();
        for gpu in &gpus {
            free[*gpu] -= items[*i].share;
        }
        let complete = gpus.len() == items[*i].gpus;
        placed[*i] = gpus;
        complete
    })
}

fn best_fit(
    items: &[PackItem],
    sorted: &[usize],
    free: &mut [u32],
    placed: &mut [Vec<usize>],
    tries: &mut u32,
) -> bool {
    let Some((first, rest)) = sorted.split_first() else { return true };
    let PackItem { share, gpus } = items[*first];
    let mut fitting: Vec<usize> = (0..free.len()).filter(|gpu| free[*gpu] >= share).collect();
    fitting.sort_by_key(|gpu| (free[*gpu], *gpu));
    let mut seen = Vec::new();
    for chosen in fitting.windows(gpus.max(1)) {
        // GPUs with equal free memory are interchangeable.
        let key: Vec<u32> = chosen.iter().map(|gpu| free[*gpu]).collect();
        if *tries == 0 || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        *tries -= 1;
        for gpu in chosen {
            free[*gpu] -= share;
        }
        placed[*first] = chosen.to_vec();
        placed[*first].sort_unstable();
        if best_fit(items, rest, free, placed, tries) {
            return true;
        }
        for gpu in chosen {
            free[*gpu] += share;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn singles(shares: &[u32]) -> Vec<PackItem> {
        shares.iter().map(|share| PackItem { share: *share, gpus: 1 }).collect()
    }

    #[test]
    fn a_set_that_fits_only_one_way_is_placed() {
        // 6+4 and 5+3+2: evenly, 6 and 5+4 leave no room for 3 and 2 both.
        let placed = pack(&singles(&[6, 5, 4, 3, 2]), &[10, 10]).unwrap();
        assert_eq!(placed[0], placed[2]);
        assert_eq!(pack(&singles(&[6, 5, 5, 3, 2]), &[10, 10]), None);
        // GPUs may differ; 20 of 20 are used, so the smaller GPU has exactly 7.
        let (shares, placed) = ([6, 5, 4, 3, 2], pack(&singles(&[6, 5, 4, 3, 2]), &[7, 13]).unwrap());
        assert_eq!((0..5).filter(|i| placed[*i] == [0]).map(|i| shares[i]).sum::<u32>(), 7);
    }

    proptest! {
        #[test]
        fn nothing_is_too_full_and_everything_is_placed(
            items in prop::collection::vec((1_u32..600, 0_u32..3), 1..12),
            capacities in prop::collection::vec(600_u32..=970, 1..6),
        ) {
            let items: Vec<PackItem> =
                items.iter().map(|(share, log)| PackItem { share: *share, gpus: 1 << log }).collect();
            if let Some(placed) = pack(&items, &capacities) {
                let mut used = vec![0; capacities.len()];
                prop_assert_eq!(placed.len(), items.len());
                for (item, gpus) in items.iter().zip(&placed) {
                    prop_assert_eq!(gpus.len(), item.gpus);
                    prop_assert!(gpus.windows(2).all(|two| two[0] < two[1]));
                    for gpu in gpus {
                        used[*gpu] += item.share;
                    }
                }
                prop_assert!(used.iter().zip(&capacities).all(|(used, capacity)| used <= capacity));
            } else {
                // One GPU for each would do, so there are fewer than that.
                let wanted: usize = items.iter().map(|item| item.gpus).sum();
                prop_assert!(capacities.len() < wanted);
            }
        }
    }
}
