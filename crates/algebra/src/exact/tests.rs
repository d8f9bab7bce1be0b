//! Tables of identities and of near misses, written as short formulas.

mod differences;
mod formula;
mod hostile;
mod identities;
mod laws;
mod soundness;

use crate::{
    exact::{normal, same},
    expr::Expr,
    fuel::Fuel,
};
use formula::formula;

/// The tank of one comparison.
const TANK: u64 = 5_000_000;

fn decide(a: &str, b: &str) -> Option<bool> {
    same(&formula(a), &formula(b), &Fuel::new(TANK)).unwrap_or(None)
}

fn shown(expr: &Expr) -> String {
    normal(expr, &Fuel::new(TANK)).map_or("out of fuel".into(), |n| n.to_string())
}
