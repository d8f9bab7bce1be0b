//! Repairs invalid JSON, so that a reply is not lost to an error elsewhere in the body.

use serde_json::Value;

/// Values nested deeper than this become null.
const MAX_DEPTH: usize = 32;

/// Parses a body after repairs; `None` if it is still invalid.
///
/// Replaced are: half of a surrogate pair, and bytes that are not UTF-8 (by U+FFFD); control characters and unknown
/// escapes in texts (by what they stand for); numbers out of range, `NaN`, `Infinity` and other bare words, and values
/// nested too deeply (by null); a byte order mark (by nothing). Of a key that comes twice the last counts.
pub(super) fn value(body: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(body);
    serde_json::from_str(&Repair::of(text.trim_start_matches('\u{feff}'))).ok()
}

struct Repair<'t> {
    rest: &'t str,
    out: String,
    depth: usize,
}

impl<'t> Repair<'t> {
    fn of(text: &'t str) -> String {
        let mut repair = Self { rest: text, out: String::with_capacity(text.len()), depth: 0 };
        while let Some(next) = repair.rest.chars().next() {
            match next {
                '{' | '[' => repair.open(),
                '}' | ']' => {
                    repair.depth = repair.depth.saturating_sub(1);
                    repair.take(1, repair.depth < MAX_DEPTH);
                }
                '"' => repair.text(),
                c if is_word(c) => repair.word(),
                c => repair.take(c.len_utf8(), repair.depth <= MAX_DEPTH),
            }
        }
        repair.out
    }

    /// Consumes bytes, and copies them if asked to.
    fn take(&mut self, bytes: usize, copied: bool) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        if copied {
            self.out.push_str(taken);
        }
    }

    fn write(&mut self, text: &str) {
        if self.depth <= MAX_DEPTH {
            self.out.push_str(text);
        }
    }

    fn open(&mut self) {
        if self.depth == MAX_DEPTH {
            self.write("null");
        }
        self.take(1, self.depth < MAX_DEPTH);
        self.depth += 1;
    }

    /// A number or a bare word.
    fn word(&mut self) {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let known = matches!(word, "true" | "false" | "null") || serde_json::from_str::<f64>(word).is_ok();
        self.write(if known { word } else { "null" });
        self.take(end, false);
    }

    /// A string with its quotation marks.
    fn text(&mut self) {
        self.write("\"");
        self.take(1, false);
        while let Some(next) = self.rest.chars().next() {
            match next {
                '"' => {
                    self.write("\"");
                    return self.take(1, false);
                }
                '\\' => self.escape(),
                c if c.is_control() => {
                    self.write(&format!("\\u{:04x}", u32::from(c)));
                    self.take(c.len_utf8(), false);
                }
                c => self.take(c.len_utf8(), self.depth <= MAX_DEPTH),
            }
        }
    }

    fn escape(&mut self) {
        let bytes = self.rest.as_bytes();
        match (unit(self.rest), bytes.get(1)) {
            (Some(0xd800..=0xdbff), _) => match self.rest.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => self.take(12, self.depth <= MAX_DEPTH),
                _ => self.replace(6, "\\ufffd"),
            },
            (Some(0xdc00..=0xdfff), _) => self.replace(6, "\\ufffd"),
            (Some(_), _) => self.take(6, self.depth <= MAX_DEPTH),
            (None, Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => {
                self.take(2, self.depth <= MAX_DEPTH);
            }
            // An invalid escape: the backslash is literal.
            (None, _) => self.replace(1, "\\\\"),
        }
    }

    fn replace(&mut self, bytes: usize, by: &str) {
        self.write(by);
        self.take(bytes, false);
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')
}

/// The UTF-16 unit of a `\\u` escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn repaired(text: &str) -> Option<Value> {
        value(text.as_bytes())
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_stays() {
        assert_eq!(repaired(r#""a\ud83d""#), Some(json!("a\u{fffd}")));
        assert_eq!(repaired(r#""\udc00b\uD800\n""#), Some(json!("\u{fffd}b\u{fffd}\n")));
        assert_eq!(repaired(r#""\ud83d\ude00 \ud83d\ud83d\ude00""#), Some(json!("😀 \u{fffd}😀")));
        assert_eq!(repaired(r#""\\ud83d""#), Some(json!("\\ud83d")), "a backslash, and no escape");
    }

    #[test]
    fn numbers_that_are_none_are_null() {
        let odd = "[1e400, -1e400, NaN, -Infinity, Infinity, 1e-400, -0.5, 12, 01, true, None]";
        assert_eq!(
            repaired(odd),
            Some(json!([null, null, null, null, null, 0.0, -0.5, 12, null, true, null]))
        );
    }

    #[test]
    fn texts_keep_what_they_say() {
        assert_eq!(value(b"\xef\xbb\xbf{\"a\":\"x\xff\"}"), Some(json!({"a": "x\u{fffd}"})));
        assert_eq!(
            repaired("{\"a\":\"one\ntwo\\( \\u12\",\"a\":\"NaN, 1e400\"}"),
            Some(json!({"a": "NaN, 1e400"}))
        );
        assert_eq!(repaired("\"one\ntwo\\( \\u12\""), Some(json!("one\ntwo\\( \\u12")));
    }

    #[test]
    fn deep_values_are_dropped_and_their_neighbours_stay() {
        for depth in [1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 100_000] {
            let deep = format!("{}\"]}}\",1{}", "[".repeat(depth), "]".repeat(depth));
            let found = repaired(&format!("{{\"deep\":{deep},\"after\":[1,{{\"x\":2}}]}}")).unwrap();
            assert_eq!(found["after"], json!([1, {"x": 2}]), "{depth}");
        }
    }

    #[test]
    fn what_is_cut_or_no_json_at_all_stays_unreadable() {
        for text in ["", "{\"a\":\"b", "{\"a\":1", "<html>busy</html>", "data: {}", "]", "{\"a\" 1}", "\"\\"]
        {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
