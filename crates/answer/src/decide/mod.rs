//! Whether two typed answers are the same.

mod equation;
mod judge;
mod pair;
mod points;
mod region;
mod shape;
mod truth;
mod value;

use crate::compare::{Comparison, MAX_BYTES, Method};
use crate::fuel::Fuel;
use crate::policy::Policy;
use crate::read;
use crate::text;
use judge::Judge;
use truth::Truth;

/// Work for one comparison, reading included: about 20 ms at most.
const TANK: u64 = 2_000_000;

pub(crate) fn compare(gold: &str, pred: &str, policy: &Policy) -> Comparison {
    // Both orders are one question, and get one answer.
    let (first, second) = if gold <= pred { (gold, pred) } else { (pred, gold) };
    match truth(first, second, policy) {
        Truth::Yes(method) => Comparison::decided(true, method),
        Truth::No(method) => Comparison::decided(false, method),
        Truth::Open => Comparison::undecided(),
    }
}

fn truth(gold: &str, pred: &str, policy: &Policy) -> Truth {
    if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
        return Truth::Open;
    }
    let (folded_gold, folded_pred) = (text::fold(gold), text::fold(pred));
    if folded_gold.is_empty() || folded_pred.is_empty() {
        return Truth::No(Method::Text);
    }
    if folded_gold == folded_pred {
        return Truth::Yes(Method::Text);
    }
    let fuel = Fuel::new(TANK);
    let readings = (read::readings(gold, &fuel), read::readings(pred, &fuel));
    let read = matches!(&readings, (Ok(gold), Ok(pred)) if !gold.is_empty() && !pred.is_empty());
    let typed = match &readings {
        (Ok(gold), Ok(pred)) if read => {
            let judge = Judge { policy, fuel: &fuel };
            judge.any_reading(gold, pred)
        }
        (Err(_), _) | (_, Err(_)) => Truth::Open,
        // One of them is not mathematics: only its words can be the same.
        _ => Truth::No(Method::Text),
    };
    // The last resort: parts in another order, unless they were read, and the many names of "no solution".
    typed.or(|| match text::same_folded(&folded_gold, &folded_pred) {
        Some(Method::Parts) if read => Truth::No(Method::Text),
        Some(method) => Truth::Yes(method),
        None => Truth::No(Method::Text),
    })
}
