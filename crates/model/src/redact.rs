//! Masks secrets in addresses and messages.

/// Replaces a secret.
pub(crate) const MASK: &str = "***";

/// Prefixes of the keys of well-known providers.
const PREFIXES: [&str; 20] = [
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk_",
    "hf_",
    "gsk_",
    "xai-",
    "AIza",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "nvapi-",
    "pplx-",
    "csk-",
    "fw_",
    "r8_",
    "tgp_",
    "eyJ",
];

/// Minimum length of a key with a known prefix.
const PREFIXED: usize = 12;

/// Minimum length of a part without separators that counts as random if it mixes kinds of characters.
const RANDOM: usize = 16;

/// Whether a text looks like an API key rather than a name: it has a known prefix, or a long part of it mixes letters with
/// digits or upper with lower case.
pub fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    if text.is_empty() || text.contains(|c: char| !c.is_ascii_graphic()) {
        return false;
    }
    let prefixed = PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    (prefixed && text.len() >= PREFIXED) || text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
}

fn is_random(part: &str) -> bool {
    let has = |kind: fn(&char) -> bool| part.chars().any(|c| kind(&c));
    let letters = has(char::is_ascii_alphabetic);
    let mixed = has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase);
    part.len() >= RANDOM && ((letters && has(char::is_ascii_digit)) || mixed)
}

/// An address without user, password, query and fragment. Invalid addresses are treated alike, so that a password in a
/// mistyped address is not shown either.
pub fn redact_url(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let (mut head, tail) = match rest.find(['?', '#']) {
        Some(place) => rest.split_at(place),
        None => (rest, ""),
    };
    let (mut user, mut end) = ("", tail.get(..1).map_or_else(String::new, |mark| format!("{mark}{MASK}")));
    if let Some((_, host)) = head.rsplit_once('@') {
        (user, head) = ("***@", host);
    } else if let Some((_, host)) =
        tail.rsplit_once('@').filter(|_| head.contains(':') || !head.contains('/'))
    {
        // Passwords may contain any character in practice.
        (user, head, end) = ("***@", host, String::new());
    }
    let path = head.split('/').map(|part| if looks_like_key(part) { MASK } else { part });
    format!("{scheme}{user}{}{end}", path.collect::<Vec<_>>().join("/"))
}

/// Masks the keys and credentials that a message quotes.
pub fn redact_text(text: &str) -> String {
    let is_border = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | '=' | '(' | ')');
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(is_border) {
        let word = part.trim_end_matches(is_border);
        let border = &part[word.len()..];
        if word.contains("://") {
            out.push_str(&redact_url(word));
        } else if looks_like_key(word) {
            out.push_str(MASK);
        } else {
            out.push_str(word);
        }
        out.push_str(border);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_names() {
        for key in [
            "sk-proj-abcdefghijklmnop",
            "hf_AbCdEfGhIjKlMnOpQrStUvWxYz",
            "AIzaSyA1234567890abcdefghijkl",
            "a0123456789abcdef0123456789abcde",
            "AKIAIOSFODNN7EXAMPLE",
            "Bearer sk-abcdefghijkl",
        ] {
            assert!(looks_like_key(key), "{key}");
        }
        for name in [
            "OPENAI_API_KEY",
            "meta-llama/Llama-3.2-3B-Instruct",
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
            "gemini-3.1-flash-lite-preview",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "runs/nano-nano-asker",
            "max_completion_tokens",
            "sk-a",
            "hunter2",
            "What is 2 + 2?",
            "",
        ] {
            assert!(!looks_like_key(name), "{name}");
        }
    }

    #[test]
    fn addresses_keep_their_host_and_path_only() {
        for (url, shown) in [
            ("http://localhost:8000/v1", "http://localhost:8000/v1"),
            ("https://user:pass@host:8000/v1", "https://***@host:8000/v1"),
            ("https://host/v1?key=pass", "https://host/v1?***"),
            ("https://user:pass@host/v1?key=pass#pass", "https://***@host/v1?***"),
            ("https://host/v1#token=pass", "https://host/v1#***"),
            ("http://user:pa/ss@host/v1", "http://***@host/v1"),
            ("http://user:pa?ss@host/v1", "http://***@host/v1"),
            ("http://user:pa/s?s@host/v1", "http://***@host/v1"),
            ("user:pass@host/v1", "***@host/v1"),
            ("https://host/sk-abcdefghijklmnop/v1", "https://host/***/v1"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(redact_url(url), shown, "{url}");
        }
    }

    #[test]
    fn messages_lose_what_they_quote_of_keys() {
        assert_eq!(
            redact_text("invalid type: string \"sk-abcdefghijklmnop\", expected a map"),
            "invalid type: string \"***\", expected a map"
        );
        assert_eq!(redact_text("at `http://a:b@c/d?e`, in line 3"), "at `http://***@c/d?***`, in line 3");
        assert_eq!(redact_text("unknown key `sampels`"), "unknown key `sampels`");
    }
}
