//! Any two texts, one to a line, by both rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (a, b) = text.split_once('\n').unwrap_or((text, ""));
    aske_fuzz::check_pair(a, b);
});
