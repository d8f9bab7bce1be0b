//! Access control by a bearer token.

use crate::HttpError;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use std::fmt;
use std::net::IpAddr;

/// The environment variable that holds the token.
const TOKEN_VAR: &str = "ASKE_TOKEN";
/// The minimum length of a token in bytes.
const MIN_LENGTH: usize = 16;

/// A secret that requests must carry. Only its hash is kept, and hashes are compared in constant time.
#[derive(Clone)]
pub struct Token(blake3::Hash);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token with this text: at least 16 visible ASCII characters, which an HTTP header can carry.
    pub fn new(text: &str) -> Result<Self, HttpError> {
        if text.len() < MIN_LENGTH {
            return Err(HttpError::BadToken("is shorter than 16 characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HttpError::BadToken("has characters other than visible ASCII"));
        }
        Ok(Self(blake3::hash(text.as_bytes())))
    }

    /// A new token, and its text.
    pub fn generate() -> Result<(Self, String), HttpError> {
        let text = random_hex()?;
        Ok((Self(blake3::hash(text.as_bytes())), text))
    }

    /// Whether this is the token: `blake3::Hash` compares in constant time, and hashing hides the length.
    fn matches(&self, given: &[u8]) -> bool {
        blake3::hash(given) == self.0
    }

    /// Whether a request carries the token as `Authorization: Bearer`.
    pub(crate) fn authorizes(&self, headers: &HeaderMap) -> bool {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return false };
        let Some((scheme, given)) = value.as_bytes().split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.matches(given.trim_ascii())
    }
}

/// 256 random bits in hexadecimal.
pub(crate) fn random_hex() -> Result<String, HttpError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(HttpError::Random)?;
    Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
}

/// Which token a server requires, if any.
#[derive(Clone, Debug)]
pub struct Access {
    pub(crate) token: Option<Token>,
    generated: Option<String>,
}

impl Access {
    /// No token, for a server on a loopback address.
    pub fn open() -> Self {
        Self { token: None, generated: None }
    }

    /// Requires this token.
    pub fn token(token: Token) -> Self {
        Self { token: Some(token), generated: None }
    }

    /// The token in `ASKE_TOKEN`; if unset, none on a loopback address and a generated one otherwise.
    pub fn from_environment(host: IpAddr) -> Result<Self, HttpError> {
        match std::env::var_os(TOKEN_VAR).filter(|value| !value.is_empty()) {
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

    /// The text of a generated token, to be shown once; none on later calls.
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
            token.authorizes(&headers)
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
