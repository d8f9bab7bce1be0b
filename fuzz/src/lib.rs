//! What the fuzz targets share: the laws of a comparison, and answers grown from bytes.

mod grow;

pub use grow::{hostile, pair};

use aske_answer::{Policy, Rules, Verdict, explain, normalise};
use cap::Cap;
use std::alloc::System;

/// No comparison may hold more memory than this, its input and libFuzzer's own corpus aside.
const MEMORY: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Runs `work` so that going past the memory bound aborts.
pub fn bounded<T>(work: impl FnOnce() -> T) -> T {
    // Lowering the limit below what is held would fail; it is only ever set from here.
    let limit = ALLOCATOR.allocated() + MEMORY;
    assert!(ALLOCATOR.set_limit(limit).is_ok(), "the memory limit cannot be set");
    let done = work();
    assert!(ALLOCATOR.set_limit(usize::MAX).is_ok(), "the memory limit cannot be lifted");
    done
}

/// Every law that holds for any two texts.
pub fn check_pair(a: &str, b: &str) {
    for rules in [Rules::Aske(Policy::default()), Rules::MathVerify] {
        let forth = bounded(|| rules.compare(a, b));
        // One in eight is asked twice: more would only cost executions.
        if (a.len() + b.len()) % 8 == 0 {
            let again = bounded(|| rules.compare(a, b));
            assert_eq!(forth, again, "not deterministic under {}\n  {a}\n  {b}", rules.name());
        }
        let back = bounded(|| rules.compare(b, a));
        // Under math-verify's rules it matters which of the two is the gold one.
        if matches!(rules, Rules::Aske(_)) {
            assert_eq!(forth.verdict, back.verdict, "asymmetric ({forth:?}, {back:?})\n  {a}\n  {b}");
        }
    }
    check_self(a);
    check_self(b);
}

/// An answer that says something equals itself.
pub fn check_self(text: &str) {
    let says_something =
        normalise(text).chars().any(|c| !c.is_whitespace() && !matches!(c, '"' | '*' | '`' | '“' | '”'));
    let itself = bounded(|| Rules::default().compare(text, text)).verdict;
    let expected = if says_something { Verdict::Equal } else { Verdict::Different };
    assert_eq!(itself, expected, "not reflexive\n  {text}");
}

/// Reading an answer, its canonical form and both written out: bounded in length.
pub fn check_reading(text: &str) {
    let told = bounded(|| explain(text, text, &Rules::default()));
    assert_eq!(told.gold, told.pred, "two readings of one text\n  {text}");
    for reading in &told.gold {
        let written = reading.read.len() + reading.canonical.as_deref().map_or(0, str::len);
        assert!(written < 4 << 20, "{written} bytes to show {} bytes\n  {text}", text.len());
    }
}
