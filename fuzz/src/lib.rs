//! Shared by the fuzz targets: the properties of a comparison, and a generator of answers from bytes.

mod generate;

pub use generate::{hostile, pair};

use aske_answer::{NotationPolicy, Rules, Verdict, explain, normalise};
use cap::Cap;
use std::alloc::System;

/// The memory a comparison may allocate, besides its input and libFuzzer's corpus.
const MEMORY: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Runs `work` and aborts if it allocates more than [`MEMORY`].
pub fn bounded<T>(work: impl FnOnce() -> T) -> T {
    // The limit is only set here; lowering it below the allocated size would fail.
    let limit = ALLOCATOR.allocated() + MEMORY;
    assert!(ALLOCATOR.set_limit(limit).is_ok(), "the memory limit cannot be set");
    let result = work();
    assert!(ALLOCATOR.set_limit(usize::MAX).is_ok(), "the memory limit cannot be lifted");
    result
}

/// Asserts the properties of a comparison of any two texts.
pub fn check_pair(a: &str, b: &str) {
    for rules in [Rules::Aske(NotationPolicy::default()), Rules::MathVerify] {
        let forward = bounded(|| rules.compare(a, b));
        // One in eight is compared twice; more would only cost executions.
        if (a.len() + b.len()) % 8 == 0 {
            let repeated = bounded(|| rules.compare(a, b));
            assert_eq!(forward, repeated, "not deterministic under {}\n  {a}\n  {b}", rules.name());
        }
        let reverse = bounded(|| rules.compare(b, a));
        // Under math-verify's rules it matters which of the two is the gold one.
        if matches!(rules, Rules::Aske(_)) {
            assert_eq!(forward.verdict, reverse.verdict, "asymmetric ({forward:?}, {reverse:?})\n  {a}\n  {b}");
        }
    }
    check_self(a);
    check_self(b);
}

/// Asserts that a non-empty answer equals itself.
pub fn check_self(text: &str) {
    let is_answer =
        normalise(text).chars().any(|c| !c.is_whitespace() && !matches!(c, '"' | '*' | '`' | '“' | '”'));
    let itself = bounded(|| Rules::default().compare(text, text)).verdict;
    let expected = if is_answer { Verdict::Equal } else { Verdict::Different };
    assert_eq!(itself, expected, "not reflexive\n  {text}");
}

/// Asserts that the readings and canonical forms of an answer are bounded in length.
pub fn check_reading(text: &str) {
    let explanation = bounded(|| explain(text, text, &Rules::default()));
    assert_eq!(explanation.gold, explanation.pred, "two readings of one text\n  {text}");
    for reading in &explanation.gold {
        let written = reading.read.len() + reading.canonical.as_deref().map_or(0, str::len);
        assert!(written < 4 << 20, "{written} bytes to show {} bytes\n  {text}", text.len());
    }
}
