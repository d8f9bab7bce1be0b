//! Numbers of sessions among the samples of their pair.

use crate::{Gap, Left};
use aske_record::{PairId, SessionId, SessionRecord};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

/// The sessions that have their place.
#[derive(Debug, Default)]
pub(crate) struct Places {
    taken: HashSet<SessionId>,
    next: HashMap<PairId, u32>,
    records: HashSet<u128>,
}

impl Places {
    /// A free place: the wanted one, else the pair's next.
    pub(crate) fn find(&mut self, pair: &PairId, wanted: Option<u32>) -> (u32, Option<Gap>) {
        let id = |sample: u32| SessionId { pair: pair.clone(), sample };
        if let Some(sample) = wanted.filter(|sample| self.taken.insert(id(*sample))) {
            return (sample, None);
        }
        let next = self.next.entry(pair.clone()).or_default();
        while !self.taken.insert(id(*next)) {
            *next += 1;
        }
        (*next, wanted.map(|_| Gap::Sample))
    }

    /// Refuses a record that was there before.
    pub(crate) fn only_once(&mut self, record: &SessionRecord) -> Result<(), Left> {
        let bytes = serde_json::to_vec(record).unwrap_or_default();
        if self.records.insert(xxh3_128(&bytes)) { Ok(()) } else { Err(Left::Twice) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_its_number_where_it_is_free() {
        let mut places = Places::default();
        let pair = PairId::new("a", "b").unwrap();
        assert_eq!(places.find(&pair, Some(1)), (1, None));
        assert_eq!(places.find(&pair, None), (0, None));
        assert_eq!(places.find(&pair, Some(1)), (2, Some(Gap::Sample)));
        assert_eq!(places.find(&PairId::new("a", "c").unwrap(), Some(1)), (1, None));
    }
}
