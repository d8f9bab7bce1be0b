//! A reply's text, piece by piece, as its tokens come.

/// The text of a reply that is being written.
///
/// Pieces put together are the reply's text: characters whose bytes are still coming, and what may be the beginning of
/// a stop string, wait.
pub(super) struct Pieces<'s> {
    stops: Vec<&'s str>,
    tokens: Vec<u32>,
    /// Where the last piece begins among the tokens, and where it ends: tokens are read with those before them, since
    /// some write their spaces differently at the beginning of a text.
    from: usize,
    to: usize,
    held: String,
    given: usize,
}

/// What stands for bytes that are no character, or not yet.
const UNREADABLE: char = '\u{FFFD}';

impl<'s> Pieces<'s> {
    pub(super) fn new(stops: impl Iterator<Item = &'s str>) -> Self {
        Self { stops: stops.collect(), tokens: Vec::new(), from: 0, to: 0, held: String::new(), given: 0 }
    }

    /// What can be said now that this token is written.
    pub(super) fn add(&mut self, token: u32, decode: impl Fn(&[u32]) -> String) -> Option<String> {
        self.tokens.push(token);
        let text = decode(&self.tokens[self.from..]);
        let before = decode(&self.tokens[self.from..self.to]);
        let more = text.strip_prefix(before.as_str()).filter(|more| !more.is_empty())?;
        if more.ends_with(UNREADABLE) {
            return None;
        }
        self.held.push_str(more);
        (self.from, self.to) = (self.to, self.tokens.len());
        let sure = self.held.len() - self.doubtful();
        let piece: String = self.held.drain(..sure).collect();
        self.given += piece.len();
        (!piece.is_empty()).then_some(piece)
    }

    /// What is left to say of the whole text.
    pub(super) fn rest(self, content: &str) -> Option<String> {
        content.get(self.given..).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }

    /// Bytes at the end of what is held that are a stop string, what follows one, or the beginning of one.
    fn doubtful(&self) -> usize {
        let held = &self.held;
        let in_doubt = |stop: &&str| {
            let met = held.find(*stop).map(|at| held.len() - at);
            let begun = || {
                (1..stop.len()).rev().find(|length| held.as_bytes().ends_with(&stop.as_bytes()[..*length]))
            };
            met.or_else(begun).unwrap_or(0)
        };
        self.stops.iter().map(in_doubt).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each token is a byte.
    fn decode(tokens: &[u32]) -> String {
        let bytes: Vec<u8> = tokens.iter().map(|token| u8::try_from(*token).unwrap()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn pieces(text: &str, stops: &[&str], content: &str) -> Vec<String> {
        let mut pieces = Pieces::new(stops.iter().copied());
        let mut out: Vec<String> = text.bytes().filter_map(|byte| pieces.add(byte.into(), decode)).collect();
        out.extend(pieces.rest(content));
        out
    }

    #[test]
    fn characters_come_whole() {
        assert_eq!(pieces("a€b", &[], "a€b"), ["a", "€", "b"]);
        // The last bytes are no character: what the whole text has instead comes at the end.
        let mut broken = Pieces::new(std::iter::empty());
        assert_eq!(broken.add(0xE2, decode), None);
        assert_eq!(broken.rest("\u{FFFD}").as_deref(), Some("\u{FFFD}"));
    }

    #[test]
    fn nothing_of_a_stop_string_is_said_and_what_only_began_like_one_is() {
        assert_eq!(pieces("x END", &["END"], "x ").concat(), "x ");
        assert_eq!(pieces("x ENDy", &["END"], "x ").concat(), "x ");
        assert_eq!(pieces("x ENE", &["END"], "x ENE").concat(), "x ENE");
        assert_eq!(pieces("x EN", &["END"], "x EN").concat(), "x EN");
        assert_eq!(pieces("aab", &["ab"], "a").concat(), "a");
        assert_eq!(pieces("e€€", &["€€"], "e").concat(), "e", "stop strings may have any characters");
    }
}
