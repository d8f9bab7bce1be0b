//! Who may use the server: whoever has the token.

use crate::HttpError;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use std::fmt::{self, Write};
use std::net::IpAddr;

/// The environment variable that holds the token.
const VARIABLE: &str = "ASKE_TOKEN";
/// Bytes of a token at least.
const SHORTEST: usize = 16;

/// A secret that requests must carry. Only its hash is kept, and hashes are compared in constant time.
#[derive(Clone)]
pub struct Token(blake3::Hash);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token of this text: at least 16 visible ASCII characters, as an HTTP header can carry them.
    pub fn new(text: &str) -> Result<Self, HttpError> {
        if text.len() < SHORTEST {
            return Err(HttpError::BadToken("is shorter than 16 characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HttpError::BadToken("has characters other than visible ASCII"));
        }
        Ok(Self(blake3::hash(text.as_bytes())))
    }

    /// A new token, and its text.
    pub fn generate() -> Result<(Self, String), HttpError> {
        let text = random()?;
        Ok((Self(blake3::hash(text.as_bytes())), text))
    }

    /// Whether this is the token. `blake3::Hash` compares in constant time, and hashing hides the length.
    fn is(&self, given: &[u8]) -> bool {
        blake3::hash(given) == self.0
    }

    /// Whether a request carries the token as `Authorization: Bearer`.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return false };
        let Some((scheme, given)) = value.as_bytes().split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.is(given.trim_ascii())
    }
}

/// 256 random bits as text.
pub(crate) fn random() -> Result<String, HttpError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| HttpError::Random(error.to_string()))?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Which token a server requires, if any.
#[derive(Clone, Debug)]
pub struct Access {
    pub(crate) token: Option<Token>,
    generated: Option<String>,
}

impl Access {
    /// No token: for a server that only this machine can reach.
    pub fn open() -> Self {
        Self { token: None, generated: None }
    }

    /// This token is required.
    pub fn token(token: Token) -> Self {
        Self { token: Some(token), generated: None }
    }

    /// The token of `ASKE_TOKEN`; where it is not set, none on a loopback address and a generated one elsewhere.
    pub fn from_environment(host: IpAddr) -> Result<Self, HttpError> {
        match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => {
                let text = value.to_str().ok_or(HttpError::BadToken("is not valid UTF-8"))?;
                Ok(Self::token(Token::new(text)?))
            }
            None if host.is_loopback() => Ok(Self::open()),
            None => {
                let (token, text) = Token::generate()?;
                Ok(Self { token: Some(token), generated: Some(text) })
            }
        }
    }

    /// Whether a token is required.
    pub fn is_required(&self) -> bool {
        self.token.is_some()
    }

    /// The text of a generated token, to be shown once; none the second time.
    pub fn take_generated(&mut self) -> Option<String> {
        self.generated.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_the_whole_token_in_one_bearer_header_is_accepted() {
        let (token, text) = Token::generate().unwrap();
        assert_eq!(text.len(), 64);
        assert_ne!(Token::generate().unwrap().1, text);
        let with = |values: &[String]| {
            let one = |value: &String| (AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            let mut headers = HeaderMap::new();
            for (name, value) in values.iter().map(one) {
                headers.append(name, value);
            }
            token.is_in(&headers)
        };
        assert!(with(&[format!("Bearer {text}")]) && with(&[format!("bearer  {text} ")]));
        let wrong = [
            String::new(),
            "Bearer ".to_owned(),
            text.clone(),
            format!("Basic {text}"),
            format!("Bearer {}", &text[1..]),
            format!("Bearer {text}0"),
            format!("Bearer {}", text.to_uppercase()),
        ];
        assert!(wrong.iter().all(|value| !with(std::slice::from_ref(value))) && !with(&[]));
        let both = [format!("Bearer {text}"), "Bearer x".to_owned()];
        assert!(!with(&both));
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_token_that_a_header_cannot_carry_is_refused() {
        assert!(Token::new("0123456789abcdef").is_ok());
        for wrong in ["", "short", "0123456789 abcdef", "0123456789abcdé"] {
            assert!(Token::new(wrong).is_err(), "{wrong}");
        }
    }
}
