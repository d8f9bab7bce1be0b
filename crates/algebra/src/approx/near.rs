//! How two expressions stand to each other at a point.

use super::context::{Fail, Faith};
use super::kernel::MOST_BITS;
use super::value::{Value, sharpness};
use super::{Point, Trouble, attempt};
use crate::expr::Expr;
use crate::fuel::Fuel;

/// How two expressions stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// They differ: their enclosures have nothing in common.
    Apart,
    /// They are the same: both are known exactly.
    Same,
    /// Their enclosures overlap.
    Close {
        /// How many leading bits of the larger one both agree on; 0 where both may be zero.
        bits: u32,
        /// How many bits after the binary point both agree on.
        absolute: u32,
    },
    /// One of them has no value that can be had.
    Unclear(Trouble),
}

/// Compares two expressions at a point, at 53 bits first and then at rising precision until they are told
/// apart or `max_bits` is reached. The flag says whether only proven bounds took part.
///
/// Where the fuel runs out on the way, what the lower precision showed is the answer.
pub fn nearness(a: &Expr, b: &Expr, at: &Point, max_bits: u32, fuel: &Fuel) -> (Nearness, bool) {
    let most = max_bits.clamp(53, MOST_BITS);
    let bound = has_operators(a) || has_operators(b);
    let mut best = None;
    // Proven bounds first: they can tell two values apart for good.
    let mut plan = Some((Faith::Proof, 53));
    while let Some((faith, bits)) = plan {
        let values =
            attempt(a, at, bits, faith, fuel).and_then(|a| Ok((a, attempt(b, at, bits, faith, fuel)?)));
        let mut sharp = false;
        match values {
            Ok((a, b)) => {
                let found = (stand(&a, &b), a.is_rigorous() && b.is_rigorous());
                let Nearness::Close { bits, .. } = found.0 else {
                    return found;
                };
                sharp = bits >= SHARP;
                best = Some(better(best, found));
            }
            Err(Fail::Unknown) if faith == Faith::Proof && bound => {}
            Err(Fail::Blurred) => {}
            Err(fail) => return best.unwrap_or((Nearness::Unclear(fail.into()), faith == Faith::Proof)),
        }
        let next = (bits < most).then_some((faith, (2 * bits).max(128).min(most)));
        plan = match faith {
            // Operators are costly, and crude bounds of them do not sharpen with precision.
            Faith::Proof if bound && !sharp => Some((Faith::Estimate, 53)),
            _ if bound && (sharp && faith == Faith::Estimate || bits >= MOST_BITS_OF_OPERATORS) => None,
            _ => next,
        };
    }
    best.unwrap_or((Nearness::Unclear(Trouble::Unknown), true))
}

/// Agreement that is good enough to stop estimating.
const SHARP: u32 = 30;
/// The precision up to which sums, integrals and limits are followed.
const MOST_BITS_OF_OPERATORS: u32 = 128;

/// Whether an expression has operators that can be estimated better than they can be enclosed.
fn has_operators(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Decimal(_) | Expr::Constant(_) | Expr::Symbol(_) => false,
        Expr::Sum(parts) | Expr::Product(parts) | Expr::Call(_, parts) | Expr::Apply(_, parts) => {
            parts.iter().any(has_operators)
        }
        Expr::Power(base, exponent) => has_operators(base) || has_operators(exponent),
        Expr::Bind(_) => true,
    }
}

fn better(old: Option<(Nearness, bool)>, new: (Nearness, bool)) -> (Nearness, bool) {
    let rank = |found: &(Nearness, bool)| match found.0 {
        Nearness::Close { bits, absolute } => (bits, absolute),
        _ => (0, 0),
    };
    match old {
        Some(old) if rank(&old) > rank(&new) => old,
        _ => new,
    }
}

fn stand(a: &Value, b: &Value) -> Nearness {
    match (a, b) {
        (Value::Infinite { negative: a }, Value::Infinite { negative: b }) => {
            return if a == b { Nearness::Same } else { Nearness::Apart };
        }
        (Value::Infinite { .. }, _) | (_, Value::Infinite { .. }) => return Nearness::Apart,
        _ => {}
    }
    if a.is_rigorous()
        && b.is_rigorous()
        && let (Some(a), Some(b)) = (a.closed(), b.closed())
    {
        return if a == b { Nearness::Same } else { Nearness::Apart };
    }
    if a.exact_complex(b) {
        return Nearness::Same;
    }
    let ((a_re, a_im), (b_re, b_im)) = (a.spans(), b.spans());
    if !a_re.meets(&b_re) || !a_im.meets(&b_im) {
        return Nearness::Apart;
    }
    let (bits, absolute) = sharpness(&a_re.hull(&b_re), &a_im.hull(&b_im), MOST_BITS);
    Nearness::Close { bits, absolute }
}
