//! The generator, the oracle and the `answer` crate: three programs that must agree.

use super::{Family, LEVELS, NumberSet, Question, QuestionSampler, TAUGHT_LEVELS, Value, parse_question};
use crate::{ReplyFormat, is_right, right_reply};
use aske_answer::{Verdict, compare};
use std::collections::HashSet;

/// The first phrasing of every form, and the answer as an unevaluated LaTeX expression of its numbers `#1`, `#2`, …
const EXPRESSIONS: [(&str, &str); 32] = [
    ("What is {} + {}?", "#1+#2"),
    ("What is {} - {}?", "#1-#2"),
    ("What is {} * {}?", r"#1 \cdot #2"),
    ("What is {}/{} + {}/{}?", r"\frac{#1}{#2}+\frac{#3}{#4}"),
    ("What is {}/{} - {}/{}?", r"\frac{#1}{#2}-\frac{#3}{#4}"),
    ("What is {}/{} * {}/{}?", r"\frac{#1}{#2} \cdot \frac{#3}{#4}"),
    ("What is {} squared?", "#1^2"),
    ("What is {}^{}?", "#1^{#2}"),
    ("What is the square root of {}?", r"\sqrt{#1}"),
    ("What is {} mod {}?", r"#1 \bmod #2"),
    ("What is gcd({}, {})?", r"\gcd(#1,#2)"),
    ("Solve x + {} = {}.", "#2-#1"),
    ("Solve {}x + {} = {}.", r"\frac{#3-#2}{#1}"),
    ("Solve {}x - {} = {}.", r"\frac{#3+#2}{#1}"),
    ("Solve {}x + {} = {}x + {}.", r"\frac{#4-#2}{#1-#3}"),
    ("If x + y = {} and x - y = {}, what is x?", r"\frac{#1+#2}{2}"),
    (
        "If {}x + {}y = {} and {}x + {}y = {}, what is x?",
        r"\frac{#3 \cdot #5-#2 \cdot #6}{#1 \cdot #5-#2 \cdot #4}",
    ),
    (
        "If {}x + {}y = {} and {}x + {}y = {}, what is y?",
        r"\frac{#1 \cdot #6-#3 \cdot #4}{#1 \cdot #5-#2 \cdot #4}",
    ),
    (
        "An arithmetic sequence begins with {} and grows by {} each step. What is term number {}?",
        r"#1+(#3-1) \cdot #2",
    ),
    ("What is term number {} of the sequence {}, {}, {}, ...?", r"#2+(#1-1) \cdot (#3-#2)"),
    ("What is the sum of the whole numbers from 1 to {}?", r"\sum_{k=1}^{#1} k"),
    (
        "An arithmetic sequence begins with {} and grows by {} each step. What is the sum of its first {} terms?",
        r"\frac{#3 \cdot (2 \cdot #1+(#3-1) \cdot #2)}{2}",
    ),
    ("From {} people, how many groups of {} can be chosen?", r"\binom{#1}{#2}"),
    ("In how many orders can {} people stand in a line?", "#1!"),
    ("How many multiples of {} are there from 1 to {}?", r"\lfloor \frac{#2}{#1} \rfloor"),
    ("What is {}% of {}?", r"\frac{#1 \cdot #2}{100}"),
    ("What is {} increased by {}%?", r"#1+\frac{#1 \cdot #2}{100}"),
    ("What is {} reduced by {}%?", r"#1-\frac{#1 \cdot #2}{100}"),
    ("What is {} + {} * {}?", r"#1+#2 \cdot #3"),
    ("What is ({} + {}) * {}?", r"(#1+#2) \cdot #3"),
    ("What is {} * {} + {} * {}?", r"#1 \cdot #2+#3 \cdot #4"),
    ("What is {} * {} - {} * {}?", r"#1 \cdot #2-#3 \cdot #4"),
];

fn expression(question: &Question) -> String {
    let first = question.form.phrasings[0];
    let (_, expression) = EXPRESSIONS.iter().find(|(phrasing, _)| *phrasing == first).unwrap();
    let numbers = (1..).zip(&question.numbers);
    numbers.fold((*expression).to_owned(), |text, (at, number): (u32, _)| {
        text.replace(&format!("#{at}"), &number.to_string())
    })
}

#[test]
fn the_oracle_and_the_answer_engine_agree_on_100_000_questions() {
    let mut draw = QuestionSampler::new(1, NumberSet::Any);
    let cells: Vec<(Family, u32)> =
        Family::ALL.iter().flat_map(|family| (1..=LEVELS).map(|level| (*family, level))).collect();
    let mut distinct = HashSet::new();
    for i in 0..100_000 {
        let (family, level) = cells[i % cells.len()];
        let question = draw.question(family, level).unwrap();
        let text = question.text();
        let answer = question.answer().unwrap();
        let heard = parse_question(text).unwrap_or_else(|| panic!("not understood: {text}"));
        assert_eq!((heard.family(), heard.level()), (family, Some(level)), "{text}");
        assert_eq!(heard.answer(), Some(answer), "{text}");
        let expression = expression(&question);
        let verdict = |value: Value| compare(&expression, &value.to_string()).verdict;
        assert_eq!(verdict(answer), Verdict::Equal, "{text}: {expression} = {answer}");
        let wrong = Value::ratio(answer.numerator() + answer.denominator(), answer.denominator()).unwrap();
        assert_eq!(verdict(wrong), Verdict::Different, "{text}: {expression} = {wrong}");
        distinct.insert(text.to_owned());
    }
    assert!(distinct.len() > 70_000, "questions vary: {} distinct", distinct.len());
}

#[test]
fn wild_questions_are_understood_and_answered_and_never_held_out() {
    let mut draw = QuestionSampler::new(3, NumberSet::Taught);
    let mut beyond = HashSet::new();
    let (mut fractions, mut negative, mut longest) = (0, 0, 0);
    for i in 0..6_500 {
        let family = Family::ALL[i % Family::ALL.len()];
        let level = u32::try_from(i / Family::ALL.len()).unwrap() % TAUGHT_LEVELS + 1;
        let question = draw.wild(family, level).unwrap();
        let text = question.text();
        let answer = question.answer().unwrap();
        let heard = parse_question(text).unwrap_or_else(|| panic!("not understood: {text}"));
        assert_eq!((heard.family(), heard.answer()), (family, Some(answer)), "{text}");
        assert!(!heard.is_held_out(), "{text}");
        let expression = expression(&question);
        let verdict = compare(&expression, &answer.to_string()).verdict;
        assert_eq!(verdict, Verdict::Equal, "{text}: {expression} = {answer}");
        let reply = right_reply(&question, ReplyFormat::Final).unwrap();
        assert!(is_right(&question, &reply) && reply.ends_with(&format!("{{{answer}}}")), "{text}: {reply}");
        longest = longest.max(reply.len());
        if question.level().is_none() {
            beyond.insert(family);
            fractions += u32::from(answer.as_whole().is_none() && family == Family::Linear);
            negative += u32::from(answer.numerator() < 0);
        }
    }
    assert_eq!(beyond.len(), Family::ALL.len(), "every family knows numbers that no level draws");
    assert!(fractions > 100 && negative > 200, "{fractions} fractions and {negative} negative numbers");
    // A reply of 200 tokens ends a network's turn; no token is shorter than a character.
    assert!(longest < 180, "{longest}");
}
