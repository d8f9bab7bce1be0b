//! One number, equal within a tolerance.

use aske_answer::{Comparison, Method, normalise};

/// The boxed contents, else the last number in the reply.
pub(super) fn read(boxed: Option<&str>, visible: &str) -> Option<String> {
    if let Some(boxed) = boxed {
        return Some(boxed.to_owned());
    }
    visible
        .split_whitespace()
        .rev()
        .map(|word| word.trim_matches(['.', ',', ';', ':', '?', '!', '*', '$', '(', ')', '=']))
        .map(|word| word.trim_end_matches(|c: char| c.is_alphabetic() || c == '°'))
        .map(|word| word.rsplit('=').next().unwrap_or(word))
        .find(|word| parse(word).is_some())
        .map(str::to_owned)
}

pub(super) fn compare(gold: &str, pred: &str, tolerance: f64) -> Comparison {
    if let (Some(gold), Some(pred)) = (parse(gold), parse(pred)) {
        let close = (gold - pred).abs() <= tolerance * gold.abs().max(pred.abs());
        return Comparison::decided(close, Method::Tolerance);
    }
    let (gold, pred) = (normalise(gold), normalise(pred));
    Comparison::decided(!gold.is_empty() && gold == pred, Method::Text)
}

/// Longer texts are not parsed as numbers.
const MAX_BYTES: usize = 1024;

/// `1,200.5`, `3/4`, `\frac{3}{4}`, `2.5e-3`, `2.5 \times 10^{-3}`, `12\%`; with no unit.
fn parse(answer: &str) -> Option<f64> {
    if answer.len() > MAX_BYTES {
        return None;
    }
    let text: String = normalise(answer).chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.replace("\\cdot", "\\times").replace('×', "\\times");
    if let Some(percent) = text.strip_suffix('%') {
        return Some(plain(percent)? / 100.0);
    }
    if let Some(fraction) = text.strip_prefix("\\frac{").and_then(|rest| rest.strip_suffix('}')) {
        let (above, below) = fraction.split_once("}{")?;
        return finite(plain(above)? / plain(below)?);
    }
    if let Some((mantissa, power)) = text.split_once("\\times10^") {
        let power = power.trim_matches(['{', '}']);
        return finite(plain(mantissa)? * 10_f64.powi(power.parse().ok()?));
    }
    match text.split_once('/') {
        Some((above, below)) => finite(plain(above)? / plain(below)?),
        None => plain(&text),
    }
}

fn plain(text: &str) -> Option<f64> {
    let digits = text.replace(',', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    finite(digits.parse().ok()?)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_answer::Verdict;

    fn same(a: &str, b: &str, tolerance: f64) -> bool {
        compare(a, b, tolerance).verdict == Verdict::Equal
    }

    #[test]
    fn numbers_are_read_in_many_notations() {
        for (text, value) in [
            ("1,200.5", 1200.5),
            ("3/4", 0.75),
            (r"\frac{3}{4}", 0.75),
            (r"2.5 \times 10^{-3}", 0.0025),
            ("2.5e-3", 0.0025),
            (r"12\%", 0.12),
            ("$-7$", -7.0),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        for text in ["", "inf", "nan", "1/0", "five", "3 m"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn hostile_answers_are_no_numbers() {
        for text in ["%".repeat(60_000), "9".repeat(60_000), "\\frac{".repeat(9_000)] {
            assert_eq!(parse(&text), None);
        }
        assert_eq!(parse("%%%%"), None);
    }

    #[test]
    fn numbers_within_the_tolerance_are_equal() {
        assert!(same("100", "100.9", 0.01) && !same("100", "102", 0.01));
        assert!(same("0", "0.0", 0.0) && !same("0", "1e-9", 0.5));
        assert!(
            same("150 km", "150 km", 0.01) && !same("150 km", "151 km", 0.01),
            "the same words are the same"
        );
    }

    #[test]
    fn the_last_number_is_read_without_a_box() {
        assert_eq!(read(None, "It takes 3 hours, or 180 minutes."), Some("180".into()));
        assert_eq!(read(None, "In 2 hours it covers 150km."), Some("150".into()));
        assert_eq!(read(None, "From 2 equations we get x=5."), Some("5".into()));
    }
}
