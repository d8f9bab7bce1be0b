//! Any text as an answer: what was read, its canonical form, and both written out.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    aske_fuzz::check_reading(text);
    aske_fuzz::check_self(text);
});
