//! One complete session for each domain beside mathematics, from the first ask to the outcome.

mod common;

use aske_chat::Reply;
use aske_session::{Domain, Outcome, Role};
use common::{ONE, Played, TWO, last, play, rounds, session, turn};

/// A session of one probing round: the two questions, then what each solver says to each, then the draws.
fn played(domain: Domain, questions: [&str; 2], one: [&str; 2], two: [&str; 2], check: [&str; 3]) -> Played {
    let played = play(session(rounds(1), domain), |call| {
        let at = call.slot.turn as usize - 1;
        match call.slot.role {
            Role::Asker => turn(questions[at]),
            ONE => Reply::text(one[at]),
            TWO => Reply::text(two[at]),
            _ => Reply::text(check[call.slot.draw as usize]),
        }
    });
    assert_eq!(played.calls.len(), 2 + 2 + 2 + 3);
    for call in played.calls.iter().filter(|call| call.slot.role != Role::Asker) {
        assert!(last(call).starts_with(questions[call.slot.turn as usize - 1]), "{call:?}");
    }
    played
}

/// What the asker was told after the probing round.
fn told(played: &Played) -> &str {
    last(played.to(Role::Asker)[1])
}

/// The answers read in each turn.
fn answers(played: &Played) -> Vec<[Option<&str>; 2]> {
    let turns = played.transcript.turns.iter();
    turns.flat_map(|turn| &turn.solved).map(|solved| solved.each_ref().map(|s| s.answer.as_deref())).collect()
}

#[test]
fn a_session_of_choice() {
    let played = played(
        Domain::Choice,
        [
            "Which planet is the largest?\nA) Mars\nB) Jupiter\nC) Venus",
            "Which gas is most of Earth's air?\nA) Oxygen\nB) Argon\nC) Carbon dioxide\nD) Nitrogen",
        ],
        [
            "Jupiter is by far the largest.\n\n#Summary#\n\\boxed{B}\nI compared the diameters.",
            "Nitrogen makes up about 78%.\n\n\\boxed{\\text{D}}",
        ],
        ["**#Summary#**\n\\boxed{(C) Venus}\nI guessed.", "We breathe it, so the answer must be (A)."],
        [
            "Nitrogen. \\boxed{D}",
            "<think>A or D?</think>\\boxed{D) Nitrogen}",
            "It is nitrogen: \\boxed{(d)}",
        ],
    );
    assert!(told(&played).contains("Model 1:\n\\boxed{B}\nI compared the diameters."));
    assert!(told(&played).contains("Model 2:\n\\boxed{(C) Venus}\nI guessed."));
    assert_eq!(answers(&played), [[Some("B"), Some("C")], [Some("D"), Some("A")]]);
    assert_eq!(played.transcript.answers().check, [Some("D"); 3]);
    let grade = played.grade(&Domain::Choice);
    assert_eq!((grade.outcome, grade.right), (Outcome::Calibrated, Some([true, false])));
    let asker = &played.calls[0].messages[0].content;
    assert!(asker.contains("multiple-choice") && last(played.to(Role::Check)[0]).contains("letter"));
}

#[test]
fn a_session_of_number_within_a_tolerance() {
    let questions = [
        "A car drives 150 km in 2 hours. What is its mean speed in km/h?",
        "With g = 9.81 m/s², how long in seconds does a stone fall 20 m? Round to three digits.",
    ];
    let session = |tolerance: f64| {
        played(
            Domain::Number { tolerance },
            questions,
            ["150 / 2.\n#Summary#\n\\boxed{75}\nI divided.", "t = \\sqrt{2h/g}, so \\boxed{2.02}."],
            ["It is 75.0 km/h.", "I take g = 10, so t = sqrt(4) = 2.00 s."],
            ["\\boxed{2.02}", "\\boxed{2.019}", "sqrt(40/9.81) gives 2.0193."],
        )
    };
    let loose = session(0.01);
    assert!(told(&loose).contains("Model 1:\n\\boxed{75}\nI divided.\n"));
    assert!(told(&loose).contains("Model 2:\nThis model gave no structured answer"));
    assert_eq!(answers(&loose), [[Some("75"), Some("75.0")], [Some("2.02"), Some("2.00")]]);
    assert_eq!(loose.transcript.answers().check, [Some("2.02"), Some("2.019"), Some("2.0193")]);
    // |2.02 − 2.00| / 2.02 = 0.0099; |2.02 − 2.019| / 2.02 = 0.0005.
    for (tolerance, outcome, right) in [
        (0.01, Outcome::TooEasy, Some([true, true])),
        (0.009, Outcome::Calibrated, Some([true, false])),
        (0.0001, Outcome::BadCrossCheck, None),
    ] {
        let grade = session(tolerance).grade(&Domain::Number { tolerance });
        assert_eq!((grade.outcome, grade.right), (outcome, right), "{tolerance}");
    }
    let asker = &loose.calls[0].messages[0].content;
    assert!(asker.contains("quantitative") && last(loose.to(Role::Check)[0]).contains("single number"));
}

#[test]
fn a_session_of_text() {
    let played = played(
        Domain::Text,
        [
            "Which novel by F. Scott Fitzgerald is narrated by Nick Carraway?",
            "In which city did the 1896 Summer Olympics take place? Give the city alone.",
        ],
        ["#Summary#\n\\boxed{The Great Gatsby}\nI know the book.", "I recall it clearly.\n\n\\boxed{Paris}"],
        ["#Output#\n\\boxed{great gatsby}", "The first modern games were held in Greece.\n\nAthens."],
        ["\\boxed{Athens}", "\\boxed{\\text{athens}}", "<think>Paris was 1900.</think>**Athens**"],
    );
    assert!(told(&played).contains("Model 1:\n\\boxed{The Great Gatsby}\nI know the book."));
    assert!(told(&played).contains("Model 2:\n\\boxed{great gatsby}\n"));
    assert_eq!(answers(&played)[1], [Some("Paris"), Some("Athens.")]);
    let grade = played.grade(&Domain::Text);
    assert_eq!((grade.outcome, grade.right), (Outcome::Calibrated, Some([false, true])));
    let asker = &played.calls[0].messages[0].content;
    assert!(
        asker.contains("fact or of language") && last(played.to(Role::Check)[0]).contains("short phrase")
    );
}
