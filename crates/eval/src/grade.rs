//! Grades a reply. Pure; answers that need a judge are returned as such.

use crate::{Declaration, Grading, Problem};
use aske_answer::{Method, NotationPolicy, Verdict};
use aske_chat::{Finish, Reply};
use aske_session::{Domain, SolverAnswer, split_thinking};

/// Longer answers are not judged; the symbolic comparison has the same limit.
const MAX_BYTES: usize = 64 << 10;

/// The answer in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedReply {
    pub(crate) solved: SolverAnswer,
    /// Whether the answer was boxed.
    pub(crate) boxed: bool,
}

impl ParsedReply {
    /// Reads the last box, or else the last word.
    pub(crate) fn read(reply: &Reply) -> Self {
        let boxed = split_thinking(&reply.content).boxed().is_some();
        Self { solved: SolverAnswer::read(reply, &Domain::math()), boxed }
    }

    /// The answer to grade: of a truncated reply, only a boxed one.
    pub(crate) fn answer(&self) -> Option<&str> {
        let capped = self.solved.finish == Finish::Length;
        self.solved.answer.as_deref().filter(|_| self.boxed || !capped)
    }
}

/// The grade of a sample, or that the judge must decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Graded; by the comparison of this name, unless there was nothing to compare.
    Done { right: bool, by: String, comparison: Option<&'static str> },
    /// The judge decides.
    NeedsJudge,
}

/// Grades a sample; `judged` says whether there is a judge.
pub(crate) fn decide(
    declaration: &Declaration,
    problem: &Problem,
    parsed: &ParsedReply,
    judged: bool,
) -> Decision {
    let Some(answer) = parsed.answer() else {
        return Decision::Done { right: false, by: "none".to_owned(), comparison: None };
    };
    if judged && declaration.grading == Grading::Judge {
        return match answer.len() {
            0..=MAX_BYTES => Decision::NeedsJudge,
            _ => Decision::Done { right: false, by: name(Method::Bounds), comparison: None },
        };
    }
    let rules = declaration.comparison.rules(NotationPolicy::default());
    let found = rules.compare(&problem.answer, answer);
    let (right, by) = (found.verdict == Verdict::Equal, name(found.method));
    Decision::Done { right, by, comparison: Some(rules.name()) }
}

/// The name under which a method is recorded.
fn name(method: Method) -> String {
    match serde_json::to_value(method) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnswerKind;
    use aske_config::AnswerComparison;

    fn decided(reply: &str, finish: Finish, answer: &str) -> (bool, String) {
        let declaration = Declaration { comparison: AnswerComparison::Paper, ..Declaration::plain("x") };
        let problem = Problem {
            id: "1".into(),
            question: "q".into(),
            answer: answer.into(),
            kind: AnswerKind::Free,
            level: None,
        };
        let parsed = ParsedReply::read(&Reply { finish, ..Reply::text(reply) });
        match decide(&declaration, &problem, &parsed, true) {
            Decision::Done { right, by, .. } => (right, by),
            Decision::NeedsJudge => panic!("this dataset has no judge"),
        }
    }

    #[test]
    fn the_last_box_counts_else_the_last_word() {
        assert!(decided(r"\boxed{3}, no: \boxed{\frac{1}{2}}", Finish::Stop, "0.5").0);
        assert!(decided("So the answer is 42.", Finish::Stop, "42").0);
        assert!(!decided(r"\boxed{41} or rather 42", Finish::Stop, "42").0);
        assert_eq!(decided("", Finish::Stop, "42"), (false, "none".to_owned()));
    }

    #[test]
    fn a_capped_reply_without_a_box_is_wrong_and_one_with_a_box_is_compared() {
        assert_eq!(decided("so it must be 42", Finish::Length, "42"), (false, "none".to_owned()));
        assert!(decided(r"\boxed{42}. To check this", Finish::Length, "42").0);
    }

    #[test]
    fn the_judge_is_asked_only_for_answers() {
        let declaration = Declaration { grading: Grading::Judge, ..Declaration::plain("x") };
        let problem = Problem {
            id: "1".into(),
            question: "q".into(),
            answer: "1".into(),
            kind: AnswerKind::Free,
            level: None,
        };
        let decide =
            |reply: Reply, judged| decide(&declaration, &problem, &ParsedReply::read(&reply), judged);
        assert_eq!(decide(Reply::text(r"\boxed{1}"), true), Decision::NeedsJudge);
        assert!(matches!(decide(Reply::text(r"\boxed{1}"), false), Decision::Done { right: true, .. }));
        let cut = Reply { finish: Finish::Length, ..Reply::text("1") };
        assert!(matches!(decide(cut, true), Decision::Done { right: false, .. }));
        let endless = Reply::text(format!("\\boxed{{{}}}", "1".repeat(MAX_BYTES + 1)));
        assert!(matches!(decide(endless, true), Decision::Done { right: false, .. }));
    }
}
