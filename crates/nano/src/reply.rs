//! Replies as the shipped solvers are taught to write them.

use crate::{Family, Question};

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A probing round: the working, then `#Summary#`, the answer and a sentence.
    Probe,
    /// The final question: the working, then the answer.
    Final,
}

/// The reply with this answer, right or wrong, after this working.
pub fn reply(question: &Question, occasion: Occasion, working: &str, answer: &str) -> String {
    match occasion {
        Occasion::Probe => {
            format!("{working}\n#Summary#\n\\boxed{{{answer}}}\n{}", sentence(question.family()))
        }
        Occasion::Final => format!("{working}\n\\boxed{{{answer}}}"),
    }
}

/// The right reply; none where the oracle has no answer.
pub fn right_reply(question: &Question, occasion: Occasion) -> Option<String> {
    Some(reply(question, occasion, &question.working()?, &question.answer()?.to_string()))
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
