//! Assigns sample numbers to sessions.

use crate::{MissingData, SkipReason};
use aske_record::{PairId, SessionId, SessionRecord};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

/// The sample numbers in use.
#[derive(Debug, Default)]
pub(crate) struct SampleNumbers {
    taken: HashSet<SessionId>,
    next: HashMap<PairId, u32>,
    records: HashSet<u128>,
}

impl SampleNumbers {
    /// A free sample number: the wanted one, or else the next of the pair.
    pub(crate) fn find(&mut self, pair: &PairId, wanted: Option<u32>) -> (u32, Option<MissingData>) {
        let id = |sample: u32| SessionId { pair: pair.clone(), sample };
        if let Some(sample) = wanted.filter(|sample| self.taken.insert(id(*sample))) {
            return (sample, None);
        }
        let next = self.next.entry(pair.clone()).or_default();
        while !self.taken.insert(id(*next)) {
            *next += 1;
        }
        (*next, wanted.map(|_| MissingData::Sample))
    }

    /// Rejects a duplicate record.
    pub(crate) fn reject_duplicate(&mut self, record: &SessionRecord) -> Result<(), SkipReason> {
        let bytes = serde_json::to_vec(record).unwrap_or_default();
        if self.records.insert(xxh3_128(&bytes)) { Ok(()) } else { Err(SkipReason::Duplicate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_its_number_where_it_is_free() {
        let mut places = SampleNumbers::default();
        let pair = PairId::new("a", "b").unwrap();
        assert_eq!(places.find(&pair, Some(1)), (1, None));
        assert_eq!(places.find(&pair, None), (0, None));
        assert_eq!(places.find(&pair, Some(1)), (2, Some(MissingData::Sample)));
        assert_eq!(places.find(&PairId::new("a", "c").unwrap(), Some(1)), (1, None));
    }
}
