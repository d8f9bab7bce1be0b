//! Numerical comparison of two expressions at a point.

use super::context::{Rigor, StepError};
use super::kernel::MAX_BITS;
use super::value::{Value, sharpness};
use super::{EvaluationError, Point, attempt};
use crate::expr::Expr;
use crate::fuel::Fuel;

/// How two expressions compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They differ: their enclosures are disjoint.
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
    /// One of them could not be evaluated.
    Unclear(EvaluationError),
}

/// Compares two expressions at a point, at 53 bits first and then at rising precision until they are told
/// apart or `max_bits` is reached. The flag says whether only proven bounds took part.
///
/// Where the fuel runs out on the way, what the lower precision showed is the answer.
pub fn agreement(a: &Expr, b: &Expr, at: &Point, max_bits: u32, fuel: &Fuel) -> (Agreement, bool) {
    let most = max_bits.clamp(53, MAX_BITS);
    let bound = has_operators(a) || has_operators(b);
    let mut best = None;
    // Proven bounds first: they can tell two values apart for good.
    let mut plan = Some((Rigor::Certified, 53));
    while let Some((rigor, bits)) = plan {
        let values =
            attempt(a, at, bits, rigor, fuel).and_then(|a| Ok((a, attempt(b, at, bits, rigor, fuel)?)));
        let mut sharp = false;
        match values {
            Ok((a, b)) => {
                let found = (compared(&a, &b), a.is_rigorous() && b.is_rigorous());
                let Agreement::Close { bits, .. } = found.0 else {
                    return found;
                };
                sharp = bits >= SHARP;
                best = Some(better(best, found));
            }
            Err(StepError::Unsupported) if rigor == Rigor::Certified && bound => {}
            Err(StepError::Imprecise) => {}
            Err(fail) => return best.unwrap_or((Agreement::Unclear(fail.into()), rigor == Rigor::Certified)),
        }
        let next = (bits < most).then_some((rigor, (2 * bits).max(128).min(most)));
        plan = match rigor {
            // Operators are costly, and crude bounds of them do not sharpen with precision.
            Rigor::Certified if bound && !sharp => Some((Rigor::Estimated, 53)),
            _ if bound && (sharp && rigor == Rigor::Estimated || bits >= MAX_BITS_OF_OPERATORS) => None,
            _ => next,
        };
    }
    best.unwrap_or((Agreement::Unclear(EvaluationError::Unsupported), true))
}

/// Bits of agreement after which estimating stops.
const SHARP: u32 = 30;
/// The highest precision for sums, integrals and limits.
const MAX_BITS_OF_OPERATORS: u32 = 128;

/// Whether an expression has operators that can be estimated better than they can be enclosed.
fn has_operators(expr: &Expr) -> bool {
    expr.any(&|part| matches!(part, Expr::Bind(_)))
}

fn better(old: Option<(Agreement, bool)>, new: (Agreement, bool)) -> (Agreement, bool) {
    let rank = |found: &(Agreement, bool)| match found.0 {
        Agreement::Close { bits, absolute } => (bits, absolute),
        _ => (0, 0),
    };
    match old {
        Some(old) if rank(&old) > rank(&new) => old,
        _ => new,
    }
}

fn compared(a: &Value, b: &Value) -> Agreement {
    match (a, b) {
        (Value::Infinite { negative: a }, Value::Infinite { negative: b }) => {
            return if a == b { Agreement::Same } else { Agreement::Apart };
        }
        (Value::Infinite { .. }, _) | (_, Value::Infinite { .. }) => return Agreement::Apart,
        _ => {}
    }
    if a.is_rigorous()
        && b.is_rigorous()
        && let (Some(a), Some(b)) = (a.closed(), b.closed())
    {
        return if a == b { Agreement::Same } else { Agreement::Apart };
    }
    if a.exact_complex(b) {
        return Agreement::Same;
    }
    let ((a_re, a_im), (b_re, b_im)) = (a.spans(), b.spans());
    if !a_re.meets(&b_re) || !a_im.meets(&b_im) {
        return Agreement::Apart;
    }
    let (bits, absolute) = sharpness(&a_re.hull(&b_re), &a_im.hull(&b_im), MAX_BITS);
    Agreement::Close { bits, absolute }
}
