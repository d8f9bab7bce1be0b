//! Inputs made to be slow: no comparison takes longer than a moment, under any rules.
//!
//! `benches/answers.py --hostile` measures 174 of them. The bound here is generous, because it is checked without
//! optimisation and beside other tests; an input whose cost grows with the square of its length exceeds it nevertheless.

use aske_answer::{NotationPolicy, Rules};
use std::time::{Duration, Instant};

const BOUND: Duration = Duration::from_secs(1);

#[test]
fn long_inputs_take_no_more_than_a_moment() {
    let repeated = [
        ("5", r"\text{ cm}", 6_000, ""),
        ("5", r"\text{ cm, }", 5_000, "total"),
        ("", "f(x)", 15_000, ""),
        ("", "HT", 30_000, ""),
        ("1", "/2", 20_000, ""),
        ("", "two hundred and ", 4_000, ""),
        ("", "(1 2)", 12_000, ""),
        (r"\text{", "a b ", 15_000, ""),
        ("5 ", "is ", 20_000, "the answer"),
        ("(", "only ", 12_000, ")"),
    ];
    for (start, part, count, end) in repeated {
        let text = format!("{start}{}{end}", part.repeat(count));
        let changed = format!("{text}a");
        for rules in [Rules::Aske(NotationPolicy::default()), Rules::MathVerify, Rules::Paper] {
            let begun = Instant::now();
            let found = rules.compare(&text, &changed);
            let took = begun.elapsed();
            assert!(took < BOUND, "{part} {count} times, {}: {took:?}, {found:?}", rules.name());
        }
    }
}
