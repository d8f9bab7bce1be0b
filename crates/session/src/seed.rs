//! Counter-based seeds: each call's seed depends on the run's seed and the call's slot, so any session can be replayed alone.

use crate::Slot;
use serde::{Deserialize, Serialize};

/// The seed of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of one call: 31 bits, which every server accepts.
    pub fn of_call(self, record: &str, slot: Slot) -> u32 {
        let mut hasher = keyed(self, record);
        hasher.update(slot.role.as_str().as_bytes());
        hasher.update(&slot.turn.to_le_bytes());
        hasher.update(&slot.draw.to_le_bytes());
        u32::from_le_bytes(first_bytes(&hasher)) >> 1
    }
}

/// A pseudo-random bit for a name, determined by the seed.
pub fn coin(seed: Seed, name: &str) -> bool {
    keyed(seed, name).finalize().as_bytes()[0] & 1 == 1
}

fn keyed(seed: Seed, name: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.0.to_le_bytes());
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher
}

fn first_bytes(hasher: &blake3::Hasher) -> [u8; 4] {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..4]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use std::collections::HashSet;

    #[test]
    fn every_place_has_its_own_seed_and_keeps_it() {
        let mut seen = HashSet::new();
        for record in ["a:b/0", "a:b/1", "a:c/0"] {
            for turn in 1..=5 {
                for draw in 0..3 {
                    let slot = Slot { turn, role: Role::Check, draw };
                    assert!(seen.insert(Seed(7).of_call(record, slot)));
                    assert_eq!(Seed(7).of_call(record, slot), Seed(7).of_call(record, slot));
                    assert_ne!(Seed(7).of_call(record, slot), Seed(8).of_call(record, slot));
                }
            }
        }
    }
}
