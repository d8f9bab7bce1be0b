//! The generator, the oracle and the `answer` crate, three programs that must agree.

use aske_answer::{Verdict, compare};
use aske_nano::{Draw, Family, LEVELS, Numbers, Value, understand};
use std::collections::HashSet;

#[test]
fn the_oracle_and_the_answer_engine_agree_on_100_000_questions() {
    let mut draw = Draw::new(1, Numbers::Any);
    let cells: Vec<(Family, u32)> =
        Family::ALL.iter().flat_map(|family| (1..=LEVELS).map(|level| (*family, level))).collect();
    let mut distinct = HashSet::new();
    for i in 0..100_000 {
        let (family, level) = cells[i % cells.len()];
        let question = draw.question(family, level).unwrap();
        let text = question.text();
        let answer = question.answer().unwrap();
        let heard = understand(text).unwrap_or_else(|| panic!("not understood: {text}"));
        assert_eq!((heard.family(), heard.level()), (family, Some(level)), "{text}");
        assert_eq!(heard.answer(), Some(answer), "{text}");
        let expression = question.expression();
        let verdict = |value: Value| compare(&expression, &value.to_string()).verdict;
        assert_eq!(verdict(answer), Verdict::Equal, "{text}: {expression} = {answer}");
        let wrong = Value::ratio(answer.numerator() + answer.denominator(), answer.denominator()).unwrap();
        assert_eq!(verdict(wrong), Verdict::Different, "{text}: {expression} = {wrong}");
        distinct.insert(text.to_owned());
    }
    assert!(distinct.len() > 70_000, "questions vary: {} distinct", distinct.len());
}

#[test]
fn every_cell_is_taught_and_all_but_the_smallest_keep_numbers_back() {
    let mut all_taught = Vec::new();
    let (mut taught, mut held_out) = (Draw::new(2, Numbers::Taught), Draw::new(2, Numbers::HeldOut));
    for family in Family::ALL {
        for level in 1..=LEVELS {
            assert!(!taught.question(*family, level).unwrap().is_held_out());
            match held_out.question(*family, level) {
                Some(question) => assert!(understand(question.text()).unwrap().is_held_out()),
                None => all_taught.push(format!("{family} {level}")),
            }
        }
    }
    // Fewer than 200 questions in every form: the first levels (percentages have more), powers of small numbers,
    // sums from 1 to n.
    let mut small: Vec<String> = Family::ALL
        .iter()
        .filter(|family| **family != Family::Percent)
        .map(|family| format!("{family} 1"))
        .collect();
    small.extend(["power 2", "power 3", "power 4", "power 5", "series 2"].map(str::to_owned));
    small.sort_unstable();
    all_taught.sort_unstable();
    assert_eq!(all_taught, small);
}

#[test]
fn what_is_not_of_the_language_is_not_understood() {
    for text in ["", "What is love?", "What is 1 + ?", "What is 99999999999999 + 1?", "Solve 3x + 4 = y."] {
        assert!(understand(text).is_none(), "{text}");
    }
    assert!(understand(&"What is 1 + 2?".repeat(100)).is_none());
    for text in ["What is 7 mod 0?", "What is gcd(0, 0)?", "Solve 0x + 4 = 5.", "Compute $99^{40}$."] {
        assert_eq!(understand(text).unwrap().answer(), None, "{text}");
    }
}
