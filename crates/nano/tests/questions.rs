//! What the generator draws, what the oracle understands, and what is held out of training.

use aske_chat::ChatRole;
use aske_nano::{Family, LEVELS, NumberSet, QuestionSampler, SessionGenerator, TeacherKind, parse_question};
use aske_session::Pack;
use std::sync::Arc;

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
