//! Grades answers: a pure function, which may require verdicts of the equivalence checker first.

use crate::{Answers, Domain, Outcome, split_thinking};
use aske_answer::{Comparison, Method, Verdict, last_word};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Two answers to be compared, each in its role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerPair {
    /// The cross-check answer; between two cross-check answers, the earlier.
    pub reference: String,
    /// The answer that is compared with it.
    pub candidate: String,
}

impl AnswerPair {
    /// The pair of these answers.
    pub fn new(reference: &str, candidate: &str) -> Self {
        Self { reference: reference.to_owned(), candidate: candidate.to_owned() }
    }
}

/// Verdicts of the equivalence checker.
pub type Verdicts = HashMap<AnswerPair, bool>;

/// The grade of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grade {
    /// The label.
    pub outcome: Outcome,
    /// Which solver is right, where the cross-check stands.
    pub right: Option<[bool; 2]>,
    /// A comparison was undecided and, with no checker to ask, counted as no match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// The equivalence checker promoted at least one pair to a match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub promoted: bool,
    /// A match rests on texts that differ in case or white space only, although the mathematics differs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

/// Pairs on which the equivalence checker must give verdicts first; then grade again.
pub type MissingVerdicts = BTreeSet<AnswerPair>;

impl Grade {
    /// A grade in which every comparison was decided by the rules.
    pub fn new(outcome: Outcome, right: Option<[bool; 2]>) -> Self {
        Self { outcome, right, undecided: false, promoted: false, folded: false }
    }
}

/// Grades a session's answers: which of the two solvers is right, and the outcome that follows.
///
/// Without an equivalence checker (`verdicts` is `None`) no verdict is missing.
pub fn grade(
    answers: &Answers<'_>,
    domain: &Domain,
    verdicts: Option<&Verdicts>,
) -> Result<Grade, MissingVerdicts> {
    let mut matcher = Matcher::new(domain, verdicts);
    let (outcome, right) = if answers.question.is_none() {
        (Outcome::NoQuestion, None)
    } else {
        let right = matcher.judge(&answers.check, &answers.solvers)?;
        let right = right.and_then(|right| <[bool; 2]>::try_from(right).ok());
        (right.map_or(Outcome::BadCrossCheck, Outcome::of), right)
    };
    let Matcher { undecided, promoted, folded, .. } = matcher;
    Ok(Grade { outcome, right, undecided, promoted, folded })
}

/// Judges any number of answers to one question: whether each is right, or `None` if the cross-check answers do not all
/// agree.
///
/// An answer is right only if it matches all cross-check answers. Pairs that the symbolic comparison calls different or
/// undecided go to the equivalence checker if there is one (`verdicts` is `Some`).
pub fn judge(
    check: &[Option<&str>],
    answers: &[Option<&str>],
    domain: &Domain,
    verdicts: Option<&Verdicts>,
) -> Result<Option<Vec<bool>>, MissingVerdicts> {
    Matcher::new(domain, verdicts).judge(check, answers)
}

struct Matcher<'a> {
    domain: &'a Domain,
    verdicts: Option<&'a Verdicts>,
    missing: MissingVerdicts,
    undecided: bool,
    promoted: bool,
    folded: bool,
}

impl<'a> Matcher<'a> {
    fn new(domain: &'a Domain, verdicts: Option<&'a Verdicts>) -> Self {
        Self { domain, verdicts, missing: BTreeSet::new(), undecided: false, promoted: false, folded: false }
    }

    fn judge(
        &mut self,
        check: &[Option<&str>],
        answers: &[Option<&str>],
    ) -> Result<Option<Vec<bool>>, MissingVerdicts> {
        let pairs = (0..check.len()).flat_map(|i| (i + 1..check.len()).map(move |j| (i, j)));
        let agree = self.all(pairs.map(|(i, j)| (check[i], check[j])));
        self.require_verdicts()?;
        if !agree || check.iter().any(Option::is_none) || check.is_empty() {
            return Ok(None);
        }
        let right =
            answers.iter().map(|answer| self.all(check.iter().map(|gold| (*gold, *answer)))).collect();
        self.require_verdicts()?;
        Ok(Some(right))
    }

    fn require_verdicts(&mut self) -> Result<(), MissingVerdicts> {
        if self.missing.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.missing)) }
    }

    /// Whether all these pairs match. Verdicts are requested only while no pair is known to differ.
    fn all<'p>(&mut self, pairs: impl Iterator<Item = (Option<&'p str>, Option<&'p str>)>) -> bool {
        let mut open = BTreeSet::new();
        for (gold, pred) in pairs {
            let (Some(gold), Some(pred)) = (gold, pred) else { return false };
            match self.matches(gold, pred) {
                Some(true) => {}
                Some(false) => return false,
                None => {
                    open.insert(AnswerPair::new(gold, pred));
                }
            }
        }
        let known = open.is_empty();
        self.missing.append(&mut open);
        known
    }

    fn matches(&mut self, gold: &str, pred: &str) -> Option<bool> {
        let Comparison { verdict, method } = self.domain.compare(gold, pred);
        if verdict == Verdict::Equal {
            self.folded |= method == Method::Folded;
            return Some(true);
        }
        if let Some(verdicts) = self.verdicts {
            let said = verdicts.get(&AnswerPair::new(gold, pred)).copied();
            self.promoted |= said == Some(true);
            return said;
        }
        self.undecided |= verdict == Verdict::Undecided;
        Some(false)
    }
}

/// Reads an equivalence checker's reply: its last word must be `yes` or `no`. Anything else is unreadable,
/// which is a failure and not a "no".
pub fn read_verdict(content: &str) -> Option<bool> {
    let parts = split_thinking(content);
    let word = last_word(&parts.visible)?.trim_start_matches("\\boxed");
    match word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Reads a reply that has to be `yes` or `no`: its last line must be that word alone.
pub fn read_yes_no(content: &str) -> Option<bool> {
    let visible = split_thinking(content).visible;
    let line = visible.lines().rfind(|line| !line.trim().is_empty())?;
    read_verdict(line).filter(|_| line.split_whitespace().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_answer::Rules;
    use proptest::prelude::*;

    fn answers<'a>(one: &'a str, two: &'a str, check: [&'a str; 3]) -> Answers<'a> {
        let some = |s: &'a str| (!s.is_empty()).then_some(s);
        Answers { question: Some("q"), solvers: [some(one), some(two)], check: check.map(some).to_vec() }
    }

    fn outcome(answers: &Answers<'_>) -> Outcome {
        grade(answers, &Domain::math(), None).unwrap().outcome
    }

    #[test]
    fn exactly_one_right_is_calibrated_both_too_easy_none_too_hard() {
        assert_eq!(outcome(&answers("1", "2", ["1"; 3])), Outcome::Calibrated);
        assert_eq!(outcome(&answers("2", "1", ["1"; 3])), Outcome::Calibrated);
        assert_eq!(outcome(&answers("1", "1", ["1"; 3])), Outcome::TooEasy);
        assert_eq!(outcome(&answers("2", "3", ["1"; 3])), Outcome::TooHard);
        assert_eq!(outcome(&answers("", "", ["1"; 3])), Outcome::TooHard);
    }

    #[test]
    fn which_solver_is_right_is_recorded() {
        let grade = grade(&answers("2", "1", ["1"; 3]), &Domain::math(), None).unwrap();
        assert_eq!(grade.right, Some([false, true]));
    }

    #[test]
    fn cross_check_answers_that_disagree_are_a_bad_cross_check() {
        assert_eq!(outcome(&answers("1", "2", ["1", "1", "2"])), Outcome::BadCrossCheck);
        assert_eq!(outcome(&answers("1", "2", ["1", "1", ""])), Outcome::BadCrossCheck);
        assert_eq!(outcome(&answers("1", "2", ["", "", ""])), Outcome::BadCrossCheck);
    }

    #[test]
    fn one_cross_check_draw_is_enough_when_one_is_asked_for() {
        let one_draw = |check| Answers { question: Some("q"), solvers: [Some("1"), Some("2")], check };
        assert_eq!(outcome(&one_draw(vec![Some("1")])), Outcome::Calibrated);
        assert_eq!(outcome(&one_draw(vec![None])), Outcome::BadCrossCheck);
        assert_eq!(outcome(&one_draw(vec![])), Outcome::BadCrossCheck);
    }

    #[test]
    fn a_solver_is_right_only_if_it_matches_all_three() {
        // Within 1% of the first and second draw, not of the third; the draws agree among themselves.
        let domain = Domain::Number { tolerance: 0.01 };
        let grade = grade(&answers("99.2", "100.4", ["100", "100", "100.5"]), &domain, None).unwrap();
        assert_eq!(grade.right, Some([false, true]));
    }

    #[test]
    fn pairs_that_differ_go_to_the_equivalence_checker_stage_by_stage() {
        let answers = answers("unity", "2", ["1", "1", "eins"]);
        let mut verdicts = Verdicts::new();
        let need = |verdicts: &Verdicts| -> Vec<AnswerPair> {
            grade(&answers, &Domain::math(), Some(verdicts)).unwrap_err().into_iter().collect()
        };
        assert_eq!(need(&verdicts), [AnswerPair::new("1", "eins")]);
        verdicts.insert(AnswerPair::new("1", "eins"), true);
        let second = need(&verdicts);
        let pairs = [("1", "2"), ("1", "unity"), ("eins", "2"), ("eins", "unity")];
        assert_eq!(second, pairs.map(|(reference, candidate)| AnswerPair::new(reference, candidate)));
        for pair in second {
            let equal = pair.candidate == "unity";
            verdicts.insert(pair, equal);
        }
        let grade = grade(&answers, &Domain::math(), Some(&verdicts)).unwrap();
        assert_eq!((grade.outcome, grade.right), (Outcome::Calibrated, Some([true, false])));
        assert!(grade.promoted);
    }

    #[test]
    fn the_cross_check_answer_is_the_reference_and_of_two_the_earlier() {
        let need = |answers: &Answers<'_>, verdicts: &Verdicts| -> Vec<AnswerPair> {
            grade(answers, &Domain::math(), Some(verdicts)).unwrap_err().into_iter().collect()
        };
        for (reference, candidate) in [("aardvark", "zebra"), ("zebra", "aardvark")] {
            let solved = answers(candidate, reference, [reference; 3]);
            let asked = need(&solved, &Verdicts::new());
            assert_eq!(asked, [AnswerPair::new(reference, candidate)]);
            let reversed = Verdicts::from([(AnswerPair::new(candidate, reference), true)]);
            assert_eq!(need(&solved, &reversed), asked, "a verdict on the other roles is none on these");
            let drawn = answers("1", "2", [reference, reference, candidate]);
            assert_eq!(need(&drawn, &Verdicts::new()), asked);
        }
    }

    #[test]
    fn a_known_difference_asks_for_no_further_verdict() {
        let answers = answers("5", "1", ["1", "eins", "uno"]);
        let all_checks_agree =
            [("1", "eins"), ("1", "uno"), ("eins", "uno")].map(|(a, b)| (AnswerPair::new(a, b), true));
        let mut verdicts: Verdicts = all_checks_agree.into_iter().collect();
        verdicts.extend(["eins", "uno"].map(|reference| (AnswerPair::new(reference, "1"), true)));
        verdicts.insert(AnswerPair::new("1", "5"), false);
        let grade = grade(&answers, &Domain::math(), Some(&verdicts)).unwrap();
        assert_eq!(grade.right, Some([false, true]));
    }

    #[test]
    fn undecided_without_a_checker_is_no_match_and_flagged() {
        let long = "1".repeat(70_000);
        let grade = grade(&answers(&long, "1", ["1"; 3]), &Domain::math(), None).unwrap();
        assert_eq!(grade.outcome, Outcome::Calibrated);
        assert!(grade.undecided);
    }

    #[test]
    fn a_match_that_rests_on_case_and_white_space_is_flagged() {
        let rules = Rules::Paper;
        let paper = Domain::Math { rules };
        let graded =
            |one: &str, reference: &str| grade(&answers(one, "0", [reference; 3]), &paper, None).unwrap();
        let folded = graded("1 1/3", "11/3");
        assert_eq!((folded.right, folded.folded), (Some([true, false]), true));
        assert!(!graded("1/2", "0.5").folded);
        assert!(!graded(r"\pi r^2", r"\pi r^2").folded);
    }

    #[test]
    fn an_unreadable_verdict_is_not_a_no() {
        assert_eq!(read_verdict("They agree.\n**Yes**."), Some(true));
        assert_eq!(read_verdict("<think>yes</think>no"), Some(false));
        assert_eq!(read_verdict("Yes!"), Some(true));
        assert_eq!(read_verdict(r"so \boxed{no}."), Some(false));
        assert_eq!(read_verdict("no idea"), None);
        assert_eq!(read_yes_no("They agree.\n\n**Yes**.\n"), Some(true));
        assert_eq!(read_yes_no("<think>hm</think>No"), Some(false));
        for text in ["I would not say yes", "so there are no", "perhaps", "", "yes no"] {
            assert_eq!(read_yes_no(text), None, "{text}");
        }
        assert_eq!(read_verdict(""), None);
    }

    proptest! {
        #[test]
        fn the_outcome_is_symmetric_in_the_solvers(a in "[12]?", b in "[12]?", c in "[12]", d in "[12]", e in "[12]") {
            let forward = outcome(&answers(&a, &b, [&c, &d, &e]));
            let backward = outcome(&answers(&b, &a, [&e, &c, &d]));
            prop_assert_eq!(forward, backward);
        }
    }
}
