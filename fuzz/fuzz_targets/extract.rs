//! Where a reply's answer stands: any text.
#![no_main]

use aske_answer::{boxes, last_boxed, last_word, normalise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let found = aske_fuzz::bounded(|| boxes(text));
    for range in &found {
        let inside = text.get(range.clone());
        assert!(inside.is_some_and(|inside| !inside.trim().is_empty()), "{range:?} of {text:?}");
        assert!(
            text[..range.start].ends_with('{') && text[range.end..].starts_with('}'),
            "{range:?} of {text:?}"
        );
    }
    assert!(found.is_sorted_by(|one, next| one.end < next.start), "{found:?} of {text:?}");
    assert_eq!(last_boxed(text), found.last().map(|range| text[range.clone()].trim()));
    assert!(last_word(text).is_none_or(|word| text.contains(word) && !word.contains(char::is_whitespace)));
    let plain = aske_fuzz::bounded(|| normalise(text));
    // Nothing is spelled out longer than it was, and the ends are clean.
    assert!(plain.len() <= text.len() && plain.trim() == plain, "{plain:?} from {text:?}");
});
