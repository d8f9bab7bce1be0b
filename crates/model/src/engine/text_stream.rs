//! Incremental detokenization for streaming.

/// Splits the text of a reply into pieces as tokens arrive. Incomplete characters, and text that may be the beginning of a
/// stop string, are held back.
pub(super) struct TextStream<'s> {
    stops: Vec<&'s str>,
    tokens: Vec<u32>,
    /// The tokens of the last piece. Tokens are decoded together with these, since some have other spaces at the beginning
    /// of a text.
    from: usize,
    to: usize,
    pending: String,
    emitted: usize,
}

/// Stands for bytes that are not, or not yet, a character.
const REPLACEMENT: char = '\u{FFFD}';

impl<'s> TextStream<'s> {
    pub(super) fn new(stops: impl Iterator<Item = &'s str>) -> Self {
        Self {
            stops: stops.collect(),
            tokens: Vec::new(),
            from: 0,
            to: 0,
            pending: String::new(),
            emitted: 0,
        }
    }

    /// Adds a token; returns the text that can be sent now.
    pub(super) fn add(&mut self, token: u32, decode: impl Fn(&[u32]) -> String) -> Option<String> {
        self.tokens.push(token);
        let text = decode(&self.tokens[self.from..]);
        let before = decode(&self.tokens[self.from..self.to]);
        let more = text.strip_prefix(before.as_str()).filter(|more| !more.is_empty())?;
        if more.ends_with(REPLACEMENT) {
            return None;
        }
        self.pending.push_str(more);
        (self.from, self.to) = (self.to, self.tokens.len());
        let sure = self.pending.len() - self.withheld();
        let piece: String = self.pending.drain(..sure).collect();
        self.emitted += piece.len();
        (!piece.is_empty()).then_some(piece)
    }

    /// The rest of the complete text.
    pub(super) fn rest(self, content: &str) -> Option<String> {
        content.get(self.emitted..).filter(|rest| !rest.is_empty()).map(str::to_owned)
    }

    /// Bytes at the end of the pending text that are, follow or may begin a stop string.
    fn withheld(&self) -> usize {
        let pending = &self.pending;
        let in_doubt = |stop: &&str| {
            let met = pending.find(*stop).map(|at| pending.len() - at);
            let begun = || {
                (1..stop.len()).rev().find(|length| pending.as_bytes().ends_with(&stop.as_bytes()[..*length]))
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

    fn segments(text: &str, stops: &[&str], content: &str) -> Vec<String> {
        let mut segments = TextStream::new(stops.iter().copied());
        let mut out: Vec<String> =
            text.bytes().filter_map(|byte| segments.add(byte.into(), decode)).collect();
        out.extend(segments.rest(content));
        out
    }

    #[test]
    fn characters_come_whole() {
        assert_eq!(segments("a€b", &[], "a€b"), ["a", "€", "b"]);
        // The last bytes are no character: what the whole text has instead comes at the end.
        let mut broken = TextStream::new(std::iter::empty());
        assert_eq!(broken.add(0xE2, decode), None);
        assert_eq!(broken.rest("\u{FFFD}").as_deref(), Some("\u{FFFD}"));
    }

    #[test]
    fn nothing_of_a_stop_string_is_said_and_what_only_began_like_one_is() {
        assert_eq!(segments("x END", &["END"], "x ").concat(), "x ");
        assert_eq!(segments("x ENDy", &["END"], "x ").concat(), "x ");
        assert_eq!(segments("x ENE", &["END"], "x ENE").concat(), "x ENE");
        assert_eq!(segments("x EN", &["END"], "x EN").concat(), "x EN");
        assert_eq!(segments("aab", &["ab"], "a").concat(), "a");
        assert_eq!(segments("e€€", &["€€"], "e").concat(), "e", "stop strings may have any characters");
    }
}
