//! Keys never leave through an error message.

use crate::Fault;

/// A key to look for in what servers say.
pub(super) struct Secret(Option<String>);

impl Secret {
    pub(super) fn new(key: Option<&str>) -> Self {
        Self(key.filter(|key| key.len() >= 4).map(str::to_owned))
    }

    /// The fault with every copy of the key replaced.
    pub(super) fn scrub(&self, mut fault: Fault) -> Fault {
        if let Some(key) = &self.0 {
            fault.message = fault.message.replace(key, "***");
        }
        fault
    }
}
