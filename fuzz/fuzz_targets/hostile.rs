//! Long and deep answers, up to 64 KB, for hangs and memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((a, b)) = aske_fuzz::hostile(data) {
        aske_fuzz::check_pair(&a, &b);
    }
});
