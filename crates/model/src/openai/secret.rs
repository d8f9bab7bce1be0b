//! Masks API keys in error messages and in replies that repeat them.

use crate::ProviderError;
use crate::redact::MASK;
use aske_chat::Reply;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter keys are not masked in replies. They are placeholders such as `none`, and an answer may contain the word.
const MIN_IN_REPLIES: usize = 8;

/// Shorter keys are not masked at all.
const MIN_IN_ERRORS: usize = 4;

/// The shortest part of a key that is masked.
const HALF: usize = 12;

/// Parts of the names of headers whose values are masked in replies as keys are; other values may be words of an answer.
const CREDENTIALS: [&str; 6] = ["auth", "key", "token", "secret", "cookie", "password"];

/// The API key, and the values of further headers.
pub(super) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(super) fn new(key: Option<&str>, headers: &[(String, String)]) -> Self {
        let header = |(name, value): &(String, String)| {
            // Without a scheme such as `Bearer`.
            let secret = Secret::new(value.rsplit(' ').next());
            let name = name.to_lowercase();
            let is_credential = CREDENTIALS.iter().any(|part| name.contains(part));
            Secret { in_replies: secret.in_replies && is_credential, ..secret }
        };
        Self(std::iter::once(Secret::new(key)).chain(headers.iter().map(header)).collect())
    }

    /// The error with every copy of a secret masked.
    pub(super) fn scrub(&self, error: ProviderError) -> ProviderError {
        self.0.iter().fold(error, |error, secret| secret.scrub(error))
    }

    /// A text of the server with every copy of a secret masked.
    pub(super) fn scrub_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| secret.scrub_text(&text))
    }

    /// The reply with every copy of a secret masked.
    pub(super) fn scrub_reply(&self, reply: Reply) -> Reply {
        self.0.iter().fold(reply, |reply, secret| secret.scrub_reply(reply))
    }
}

/// A key in all its encodings, the longest first.
#[derive(Default)]
struct Secret {
    encodings: Vec<String>,
    in_replies: bool,
}

impl Secret {
    fn new(key: Option<&str>) -> Self {
        let Some(key) = key.filter(|key| key.len() >= MIN_IN_ERRORS) else { return Self::default() };
        let mut encodings = encodings(key);
        encodings.retain(|encoding| encoding.len() >= MIN_IN_ERRORS);
        encodings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        encodings.dedup();
        Self { encodings, in_replies: key.len() >= MIN_IN_REPLIES }
    }

    /// The error with every copy of the key masked.
    fn scrub(&self, mut error: ProviderError) -> ProviderError {
        self.mask(&mut error.message, MIN_IN_ERRORS);
        error
    }

    /// A text of the server with every copy of the key masked.
    fn scrub_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.mask(&mut text, MIN_IN_ERRORS);
        text
    }

    /// The reply with every copy of the key masked.
    fn scrub_reply(&self, mut reply: Reply) -> Reply {
        if self.in_replies {
            self.mask(&mut reply.content, MIN_IN_REPLIES);
            if let Some(reasoning) = &mut reply.reasoning {
                self.mask(reasoning, MIN_IN_REPLIES);
            }
        }
        reply
    }

    /// Replaces every encoding, whole or its first half and more, and at the end of the text a beginning of one with at
    /// least this many bytes: what a server says is cut to a length, and the cut may go through the key.
    fn mask(&self, text: &mut String, least: usize) {
        for encoding in &self.encodings {
            if let Some(masked) = masked(text, encoding) {
                *text = masked;
            }
        }
        let begun = |encoding: &String| {
            let parts = (least..encoding.len()).rev().filter_map(|end| encoding.get(..end));
            parts.filter(|part| text.ends_with(part)).map(str::len).next()
        };
        if let Some(length) = self.encodings.iter().filter_map(begun).max() {
            text.truncate(text.len() - length);
            text.push_str(MASK);
        }
    }
}

/// The text with this encoding of a key masked, also where only its first half or more of it occurs; `None` if nothing is
/// replaced.
fn masked(text: &str, encoding: &str) -> Option<String> {
    let half = encoding.get(..HALF.max(encoding.len() / 2)).unwrap_or(encoding);
    let mut place = text.find(half)?;
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    loop {
        let (before, found) = rest.split_at(place);
        let same = found.chars().zip(encoding.chars()).take_while(|(a, b)| a == b);
        let same: usize = same.map(|(a, _)| a.len_utf8()).sum();
        out.push_str(before);
        out.push_str(MASK);
        rest = &found[same..];
        match rest.find(half) {
            Some(next) => place = next,
            None => return Some(out + rest),
        }
    }
}

/// The key verbatim, percent-encoded, as JSON, in hexadecimal, and in base64 at each of the three byte alignments.
fn encodings(key: &str) -> Vec<String> {
    let in_url = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    let json = key.replace('\\', "\\\\").replace('"', "\\\"");
    let mut all = vec![
        key.to_owned(),
        encoded(key, in_url, |byte| format!("%{byte:02X}")),
        encoded(key, in_url, |byte| format!("%{byte:02x}")),
        json.replace('/', "\\/"),
        json.chars().map(|c| if "<>&'+=".contains(c) { escaped(c) } else { c.to_string() }).collect(),
        json,
        encoded(key, |_| false, |byte| format!("{byte:02x}")),
        encoded(key, |_| false, |byte| format!("{byte:02X}")),
    ];
    // JSON in a text of JSON.
    let again: Vec<String> =
        all.iter().filter(|text| text.contains('\\')).map(|text| text.replace('\\', "\\\\")).collect();
    all.extend(again);
    for before in 0..3 {
        let bytes = [&vec![0; before], key.as_bytes()].concat();
        // Six bits to a character: those that the key alone decides.
        let own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            all.extend(encoded.get(own.clone()).map(str::to_owned));
        }
    }
    all
}

/// The key with every byte that is not plain written in another transport.
fn encoded(key: &str, plain: impl Fn(u8) -> bool, write: impl Fn(u8) -> String) -> String {
    key.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { write(byte) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCause;

    fn scrub(key: &str, message: &str) -> String {
        Secret::new(Some(key)).scrub(ProviderError::new(ErrorCause::Auth, message)).message
    }

    fn scrub_reply(key: &str, content: &str) -> String {
        let reply = Reply { reasoning: Some(content.to_owned()), ..Reply::text(content) };
        let reply = Secret::new(Some(key)).scrub_reply(reply);
        assert_eq!(reply.reasoning.as_ref(), Some(&reply.content));
        reply.content
    }

    #[test]
    fn a_key_is_scrubbed_whole_and_cut() {
        let scrub = |message: &str| scrub("sk-abcdef123", message);
        assert_eq!(scrub("key sk-abcdef123 is wrong: sk-abcdef123"), "key *** is wrong: ***");
        assert_eq!(scrub("your key is sk-abcd"), "your key is ***");
        assert_eq!(scrub("nothing here"), "nothing here");
    }

    #[test]
    fn a_key_is_scrubbed_from_replies_in_every_spelling() {
        let key = "sk-a/b+c=0123456789";
        let scrub = |content: &str| scrub_reply(key, content);
        assert_eq!(scrub("it is sk-a/b+c=0123456789."), "it is ***.");
        assert_eq!(scrub("?key=sk-a%2Fb%2Bc%3D0123456789&x"), "?key=***&x");
        assert_eq!(scrub("?key=sk-a%2fb%2bc%3d0123456789&x"), "?key=***&x");
        assert_eq!(scrub(r"sk-a\/b+c=0123456789"), "***");
        assert_eq!(scrub(r"sk-a\\/b+c=0123456789"), "***");
        assert_eq!(scrub(r"sk-a/b\u002bc\u003d0123456789"), "***");
        assert_eq!(scrub("736b2d612f622b633d30313233343536373839"), "***");
        // python3: base64.b64encode(b"x" * n + key) for n from 0 to 2; characters that the neighbours decide too stay.
        assert_eq!(scrub("c2stYS9iK2M9MDEyMzQ1Njc4OQ=="), "***Q==");
        assert_eq!(scrub("eHNrLWEvYitjPTAxMjM0NTY3ODk="), "eH***k=");
        assert_eq!(scrub("eHhzay1hL2IrYz0wMTIzNDU2Nzg5"), "eHh***");
        assert_eq!(scrub("cut: sk-a/b+c=01"), "cut: ***");
        assert_eq!(scrub("<b>sk-a/b+c=012345</b> sk-a/b+c=0123456789sk-a/b+c=012"), "<b>***</b> ******");
        assert_eq!(scrub("sk-a and 0123456789 are no key"), "sk-a and 0123456789 are no key");
    }

    #[test]
    fn headers_are_secret_and_only_credentials_are_masked_in_replies() {
        let headers = [("X-Api-Token", "Bearer tk-123456789"), ("X-Priority", "interactive")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = Secrets::new(Some("sk-abcdef123"), &headers);
        let text = "sk-abcdef123 tk-123456789 interactive";
        assert_eq!(secrets.scrub(ProviderError::new(ErrorCause::Auth, text)).message, "*** *** ***");
        assert_eq!(secrets.scrub_reply(Reply::text(text)).content, "*** *** interactive");
    }

    #[test]
    fn what_a_server_without_keys_is_given_hides_no_answer() {
        assert_eq!(scrub_reply("EMPTY", "the EMPTY set"), "the EMPTY set");
        assert_eq!(scrub_reply("1234", "\\boxed{1234}"), "\\boxed{1234}");
        assert_eq!(scrub("EMPTY", "the key EMPTY is wrong"), "the key *** is wrong");
    }
}
