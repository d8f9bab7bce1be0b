//! Grades of imported sessions: the outcome in the file, and the one computed from the answers.

use crate::MissingData;
use crate::fields::{Field, FieldMap};
use aske_session::{Domain, Grade, Outcome, Transcript, grade};
use serde_json::Value;

/// The grades of a session: the standard one, and the computed one if the file has its own outcome.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Grades {
    pub(crate) standard: Option<Grade>,
    pub(crate) computed: Option<Grade>,
}

/// Grades a session by the outcome in its file, or else by its answers if they are known.
pub(crate) fn grades(
    transcript: &Transcript,
    fields: &Value,
    map: &FieldMap,
    domain: &Domain,
    gaps: &mut Vec<MissingData>,
) -> Grades {
    let computed = by_answers(transcript, domain);
    let asked = transcript.answers().question.is_some();
    let Some(outcome) = map.find(fields, Field::Outcome, |value| outcome(value, asked)) else {
        if computed.is_none() {
            gaps.push(MissingData::Outcome);
        }
        return Grades { standard: computed, computed: None };
    };
    let recorded = map.find(fields, Field::Right, right);
    let found = computed.as_ref().filter(|grade| grade.outcome == outcome).and_then(|grade| grade.right);
    let right = match outcome {
        Outcome::Calibrated => recorded.or(found),
        Outcome::TooEasy => Some([true; 2]),
        Outcome::TooHard => Some([false; 2]),
        Outcome::NoQuestion | Outcome::BadCrossCheck => None,
    };
    // Who was right must be consistent with the outcome.
    let right = right.filter(|right| Outcome::of(*right) == outcome);
    if outcome == Outcome::Calibrated && right.is_none() {
        gaps.push(MissingData::Right);
    }
    Grades { standard: Some(Grade::new(outcome, right)), computed }
}

/// The grade by the answers, without an equivalence checker.
fn by_answers(transcript: &Transcript, domain: &Domain) -> Option<Grade> {
    let answers = transcript.answers();
    let checked = answers.question.is_none() || !answers.check.is_empty();
    if !transcript.is_answered() || !checked {
        return None;
    }
    grade(&answers, domain, None).ok()
}

/// An outcome by its name, or by the paper's calibration reward.
fn outcome(value: &Value, asked: bool) -> Option<Outcome> {
    if let Some(reward) = value.as_f64() {
        let is = |wanted: f64| (reward - wanted).abs() < 1e-9;
        let unsolved = if asked { Outcome::TooHard } else { Outcome::NoQuestion };
        let rewards = [(1.0, Outcome::Calibrated), (0.2, Outcome::TooEasy), (-0.2, unsolved)];
        return rewards.into_iter().find(|(wanted, _)| is(*wanted)).map(|(_, outcome)| outcome);
    }
    let name = value.as_str()?.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == name)
}

/// Two booleans.
fn right(value: &Value) -> Option<[bool; 2]> {
    let [one, two] = value.as_array()?.as_slice() else { return None };
    Some([one.as_bool()?, two.as_bool()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_chat::Finish;
    use aske_session::{SolverAnswer, Turn};
    use serde_json::json;

    fn transcript(answers: Option<[&str; 2]>, check: &[&str]) -> Transcript {
        let solved = |answer: &str| SolverAnswer { answer: Some(answer.to_owned()), finish: Finish::Other };
        let mut turn = Turn::read("#Question# What is 1 + 1?", Finish::Other, 200);
        turn.solved = answers.map(|answers| answers.map(solved));
        Transcript {
            turns: vec![turn],
            check: check.iter().map(|answer| Some((*answer).to_owned())).collect(),
        }
    }

    fn graded(transcript: &Transcript, fields: &Value) -> (Grades, Vec<MissingData>) {
        let mut gaps = Vec::new();
        (grades(transcript, fields, &FieldMap::default(), &Domain::math(), &mut gaps), gaps)
    }

    #[test]
    fn the_files_outcome_counts_and_ours_stands_beside_it() {
        let known = transcript(Some(["2", "3"]), &["2"]);
        let (both, gaps) = graded(&known, &json!({"info": {"outcome": "Too-Easy"}}));
        assert_eq!(both.standard, Some(Grade::new(Outcome::TooEasy, Some([true, true]))));
        assert_eq!(both.computed, Some(Grade::new(Outcome::Calibrated, Some([true, false]))));
        assert!(gaps.is_empty());
        let (agree, _) = graded(&known, &json!({"outcome": "calibrated"}));
        assert_eq!(agree.standard, Some(Grade::new(Outcome::Calibrated, Some([true, false]))));
        let (alone, _) = graded(&known, &json!({}));
        assert_eq!(
            (alone.standard.map(|grade| grade.outcome), alone.computed),
            (Some(Outcome::Calibrated), None)
        );
    }

    #[test]
    fn what_is_not_known_is_no_grade() {
        let unknown = transcript(None, &[]);
        assert_eq!(graded(&unknown, &json!({})), (Grades::default(), vec![MissingData::Outcome]));
        assert_eq!(graded(&unknown, &json!({"outcome": "superb"})).1, [MissingData::Outcome]);
        let (calibrated, gaps) = graded(&unknown, &json!({"outcome": "calibrated"}));
        assert_eq!((calibrated.standard.unwrap().right, gaps), (None, vec![MissingData::Right]));
        let (told, _) = graded(&unknown, &json!({"outcome": "calibrated", "right": [false, true]}));
        assert_eq!(told.standard.unwrap().right, Some([false, true]));
        let (wrong, gaps) = graded(&unknown, &json!({"outcome": "calibrated", "right": [true, true]}));
        assert_eq!((wrong.standard.unwrap().right, gaps), (None, vec![MissingData::Right]));
    }

    #[test]
    fn the_papers_calibration_reward_is_an_outcome() {
        // "+1.0 if exactly one boundary solver is correct, +0.2 if both are, and −0.2 if neither is".
        let unknown = transcript(None, &[]);
        for (reward, expected) in
            [(1.0, Outcome::Calibrated), (0.2, Outcome::TooEasy), (-0.2, Outcome::TooHard)]
        {
            let (grades, _) = graded(&unknown, &json!({"metrics": {"calibration_reward": reward}}));
            assert_eq!(grades.standard.unwrap().outcome, expected);
        }
        assert_eq!(outcome(&json!(0.95), true), None, "a sum of components is none");
        assert_eq!(outcome(&json!(-0.2), false), Some(Outcome::NoQuestion));
    }
}
