//! The reply format that the bundled solvers are trained on.

use crate::{Family, Question};

/// Which question a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyFormat {
    /// A probing round: the working, then `#Summary#`, the answer and a sentence.
    Probe,
    /// The final question: the working, then the answer.
    Final,
}

/// A reply with this working and answer, correct or not.
pub fn reply(question: &Question, format: ReplyFormat, working: &str, answer: &str) -> String {
    match format {
        ReplyFormat::Probe => {
            format!("{working}\n#Summary#\n\\boxed{{{answer}}}\n{}", sentence(question.family()))
        }
        ReplyFormat::Final => format!("{working}\n\\boxed{{{answer}}}"),
    }
}

/// The correct reply; `None` if the oracle has no answer.
pub fn right_reply(question: &Question, format: ReplyFormat) -> Option<String> {
    Some(reply(question, format, &question.working()?, &question.answer()?.to_string()))
}

fn sentence(family: Family) -> &'static str {
    match family {
        Family::Sum => "I went column by column.",
        Family::Product => "I went place by place.",
        Family::Fraction => "I used one denominator.",
        Family::Power => "I multiplied.",
        Family::Remainder => "I used long division.",
        Family::Gcd => "I used the algorithm of Euclid.",
        Family::Linear => "I moved the numbers to one side.",
        Family::System => "I used determinants.",
        Family::Sequence => "I counted the steps.",
        Family::Series => "I paired the ends.",
        Family::Count => "I counted the choices.",
        Family::Percent => "I took the hundredth part.",
        Family::Order => "I multiplied before I added.",
    }
}
