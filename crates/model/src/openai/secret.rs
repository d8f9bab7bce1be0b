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
            // What a server says is cut to a length, and the cut may go through the key.
            let part = (4..key.len())
                .rev()
                .filter_map(|end| key.get(..end))
                .find(|part| fault.message.ends_with(part));
            if let Some(rest) = part.and_then(|part| fault.message.strip_suffix(part)) {
                fault.message = format!("{rest}***");
            }
        }
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    #[test]
    fn a_key_is_scrubbed_whole_and_cut() {
        let secret = Secret::new(Some("sk-abcdef123"));
        let scrub = |message: &str| secret.scrub(Fault::new(Cause::Auth, message)).message;
        assert_eq!(scrub("key sk-abcdef123 is wrong: sk-abcdef123"), "key *** is wrong: ***");
        assert_eq!(scrub("your key is sk-abcd"), "your key is ***");
        assert_eq!(scrub("nothing here"), "nothing here");
    }
}
