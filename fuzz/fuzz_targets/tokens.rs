//! Two answers generated from bytes, nearly all of them mathematics, by both rules.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((a, b)) = aske_fuzz::pair(data) {
        aske_fuzz::check_pair(&a, &b);
        aske_fuzz::check_reading(&a);
    }
});
