//! The generator, the oracle and the `answer` crate, three programs that must agree.

use aske_answer::{Verdict, compare};
use aske_chat::ChatRole;
use aske_nano::{
    Family, LEVELS, NumberSet, QuestionSampler, ReplyFormat, SessionGenerator, TAUGHT_LEVELS, TeacherKind,
    Value, is_right, parse_question, right_reply,
};
use aske_session::Pack;
use std::collections::HashSet;
use std::sync::Arc;

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
    let (mut taught, mut held_out) =
        (QuestionSampler::new(2, NumberSet::Taught), QuestionSampler::new(2, NumberSet::HeldOut));
    for family in Family::ALL {
        for level in 1..=LEVELS {
            assert!(!taught.question(*family, level).unwrap().is_held_out());
            match held_out.question(*family, level) {
                Some(question) => assert!(parse_question(question.text()).unwrap().is_held_out()),
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
        assert!(parse_question(text).is_none(), "{text}");
    }
    assert!(parse_question(&"What is 1 + 2?".repeat(100)).is_none());
    for text in ["What is 7 mod 0?", "What is gcd(0, 0)?", "Solve 0x + 4 = 5.", "Compute $99^{40}$."] {
        assert_eq!(parse_question(text).unwrap().answer(), None, "{text}");
    }
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
        let verdict = compare(&question.expression(), &answer.to_string()).verdict;
        assert_eq!(verdict, Verdict::Equal, "{text}: {} = {answer}", question.expression());
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

#[test]
fn a_classroom_never_shows_what_is_held_out() {
    let pack = Pack::parse(&Pack::extra_files("nano").unwrap()).unwrap();
    let classroom = SessionGenerator::new(TeacherKind::Mixed, Arc::new(pack));
    let mut questions = 0;
    for seed in 0..300 {
        for message in classroom.session(seed).iter().filter(|message| message.role == ChatRole::Assistant) {
            let text = message.content.rsplit_once("#Question#").unwrap().1;
            let question = parse_question(text).unwrap();
            assert!(!question.is_held_out(), "{text}");
            questions += 1;
        }
    }
    assert!(questions > 900, "{questions}");
}
