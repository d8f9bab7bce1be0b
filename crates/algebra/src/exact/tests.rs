//! Tables of identities and of near misses, written as short formulas.

mod differences;
mod formula;
mod hostile;
mod identities;
mod laws;
mod soundness;

use crate::{
    exact::{canonical_form, same},
    expr::Expr,
    fuel::Fuel,
};
use formula::formula;

/// The fuel of one comparison.
const FUEL: u64 = 5_000_000;

fn decide(a: &str, b: &str) -> Option<bool> {
    same(&formula(a), &formula(b), &Fuel::new(FUEL)).unwrap_or(None)
}

fn shown(expr: &Expr) -> String {
    canonical_form(expr, &Fuel::new(FUEL)).map_or("out of fuel".into(), |n| n.to_string())
}
