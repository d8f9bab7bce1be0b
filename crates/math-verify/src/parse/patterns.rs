//! The patterns by which math-verify finds answers in a text, with their priorities: lower ones are tried first.

use fancy_regex::{Regex, RegexBuilder};
use std::fmt::Write;
use std::sync::LazyLock;

/// A pattern and its priority.
pub(super) struct Pattern {
    pub(super) regex: Regex,
    pub(super) priority: i64,
    /// Without one of these the text has no match.
    needs: &'static [&'static str],
    /// Whether the text has no match without the word "answer".
    answer: bool,
}

/// The most formulas that are joined by "and", "or" and commas.
pub(super) const JOINED: usize = 6;
/// Steps of backtracking in one text, as a bound on its time.
const STEPS: usize = 4_000_000;

const FORMULA: &[&str] = &["$", r"\(", r"\[", "[", r"\frac"];
const BOX: &[&str] = &[r"\boxed"];
const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Pattern {
    fn new(source: &str, priority: i64, needs: &'static [&'static str], answer: bool) -> Option<Self> {
        let regex = RegexBuilder::new(source).backtrack_limit(STEPS).build().ok()?;
        Some(Self { regex, priority, needs, answer })
    }

    /// Whether the text may have a match.
    pub(super) fn may_match(&self, text: &str, has_answer: bool) -> bool {
        (has_answer || !self.answer)
            && (self.needs.is_empty() || self.needs.iter().any(|part| text.contains(part)))
    }
}

/// One formula between delimiters, or a fraction of two numbers; `boxed` ones contain a box.
fn formula(prefix: &str, boxed: bool) -> String {
    let percent = format!(r"(?P<{prefix}_percent>(?:\\?%|[Pp]ercent|[Pp]ercentage|[Pp]ct))");
    let content = |one: &str| {
        if boxed { format!(r"{one}*?\\boxed\{{{one}+?\}}{one}*?") } else { format!("{one}+?") }
    };
    let dollars = content(r"(?:[^$]|\$(?!\$))");
    let brackets = content(r"(?:[^\\]|\\(?!\]))");
    let dollar = content(r"(?:\\[$]|[^\n$])");
    let parenthesis = content(r"(?:[^\\\n]|\\(?!\)))");
    let bracket = content(r"[^\n\]\[]");
    let mut all = vec![
        format!(r"(?<!\\)\$\$(?P<{prefix}_a>{dollars})(?<!\\)\$\$"),
        format!(r"(?<!\\)\\\[(?P<{prefix}_b>{brackets})(?<!\\)\\\]"),
        format!(r"(?<!\\)(?<!\d)\$(?P<{prefix}_c>{dollar})(?<!\\)\$"),
        format!(r"(?<!\\)\\\((?P<{prefix}_d>{parenthesis})(?<!\\)\\\)"),
        format!(r"\s\[(?P<{prefix}_e>{bracket})\]\s"),
    ];
    if !boxed {
        let number = r"-?\d+(?:[.,]\d+)?";
        all.push(format!(r"(?P<{prefix}_f>-?\\frac\{{{number}\}}\{{{number}\}})"));
    }
    format!(r"(?:(?:{})\s*{percent}?)", all.join("|"))
}

/// Several formulas, joined.
fn formulas(boxed: bool) -> String {
    let mut out = formula("g0", boxed);
    let space = if boxed { r"\s*" } else { "" };
    for next in 1..JOINED {
        let one = formula(&format!("g{next}"), boxed);
        let _ = write!(out, r"{space}(?:\s*(?:,?and|,?or|,)\s*{one})?");
    }
    format!("(?:{out})")
}

/// Formulas that no box is needed for: after words that announce an answer, and alone last.
static LATEX: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let one = formulas(false);
    [
        (format!(r"(?s)(?i:final answer is)\:?\s*{one}\.?\s?I hope"), 0, true),
        (format!(r"(?s)(?i:final answer.{{0,100}}?)\s+is\:?\s*{one}"), 50, true),
        (format!(r"(?s)(?i:answer):.{{0,50}}?{one}"), 100, true),
        (format!(r"(?s)(?i:answer).{{0,50}}?{one}"), 200, true),
        (format!("(?s){one}"), 300, false),
    ]
    .iter()
    .filter_map(|(source, priority, answer)| Pattern::new(source, *priority, FORMULA, *answer))
    .collect()
});

/// Formulas that contain a box, and a box alone, in this order.
static BOXED: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    [format!("(?s){}", formulas(true)), r"(?s)(?P<box>\\boxed\{.+\})".to_owned()]
        .iter()
        .filter_map(|source| Pattern::new(source, 0, BOX, false))
        .collect()
});

/// Numbers and arithmetic in plain text.
static EXPRESSION: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let number = concat!(
        r"(?<!\d)(?:(?P<integer1>-?[1-9]\d{0,2}(?:[ ,]\d{3})+)(?P<decimal1>\.\d+)?|",
        r"(?P<integer2>-?\d+)(?P<decimal2>[.,]\d+)|(?P<decimal3>\.\d+)|(?P<integer3>-?\d+)",
        r")(?P<percent>\s*(?:%|[Pp]ercent|\s*[Pp]ercentage|\s*[Pp]ct))?"
    );
    let operators = r"\+\-\*×/\^\(\)÷";
    let any = format!(r"[\d\.\s{operators}]");
    let before = r"(?:^|\s|=)(?:\*\*)?";
    let arithmetic =
        format!(r"(?:{before}(?P<expr>-?\(?-?\d{any}*[{operators}]{any}+\)?)(?:\*\*)?(?:\.|,|:|\s|\)|\$|$))");
    let currency = r"\$€£¥₹₽₪₩₫฿₡₢₣₤₥₦₧₨₭₮₯₰₱₲₳₴₵₶₷₸₺₻₼₾₿";
    let number = format!("(?:{before}[{currency}]?{number})");
    let one = format!("(?:{arithmetic}|{number})");
    [
        (format!(r"(?i:final answer is)\:?\s*{one}\.?\s?I hope"), 0, true),
        (format!(r"(?i:final answer.{{0,100}}?)\s+is\:?{one}"), 50, true),
        (format!(r"(?i:answer):(?:.{{0,100}}=\s*|.{{0,50}}?){one}(?!\s*=)"), 100, true),
        (format!(r"(?i:answer)(?:.{{0,100}}=\s*|.{{0,50}}?){one}(?!\s*=)"), 200, true),
        (arithmetic, 300, false),
        (number, 300, false),
    ]
    .iter()
    .filter_map(|(source, priority, answer)| Pattern::new(source, *priority, DIGITS, *answer))
    .collect()
});

/// The patterns of formulas, without those of boxes.
pub(super) fn latex() -> &'static [Pattern] {
    &LATEX
}

/// The patterns of boxes.
pub(super) fn boxed() -> &'static [Pattern] {
    &BOXED
}

/// The patterns of numbers and arithmetic.
pub(super) fn expression() -> &'static [Pattern] {
    &EXPRESSION
}

/// The patterns of given words, as the letters of a multiple choice are.
pub(super) fn words(words: &[String], anchorless: bool) -> Vec<Pattern> {
    let keys = words.iter().map(|word| regex::escape(word)).collect::<Vec<_>>().join("|");
    let keys = format!("(?P<key>{keys})");
    let after = r"(?:\*\*)?(?:\.|,|:|\s|$)";
    let one = format!(r"(?:^|\s)(?:\*\*)?{keys}{after}");
    let mut all = vec![
        (format!(r"(?i:final answer is)\:?\s*{keys}\.?\s?I hope"), 0, true),
        (format!(r"(?i:final answer.{{0,100}}?)\s+is\:?\s*{keys}"), 50, true),
        (format!(r"(?i:answer):.{{0,50}}?{one}"), 100, true),
        (format!(r"(?i:answer).{{0,50}}?{one}"), 200, true),
    ];
    if anchorless {
        all.push((format!(r"^(?:\*\*)?{keys}{after}"), 250, false));
        all.push((one, 300, false));
    }
    all.iter()
        .filter_map(|(source, priority, answer)| Pattern::new(source, *priority, &[], *answer))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!((latex().len(), boxed().len(), expression().len()), (5, 2, 6));
        assert_eq!(words(&["A.".to_owned(), "(".to_owned()], true).len(), 6);
    }
}
