//! How two expressions stand to each other at a point.

use super::context::Fail;
use super::kernel::MOST_BITS;
use super::value::{Value, sharpness};
use super::{Point, Trouble, attempt};
use crate::fuel::Fuel;
use crate::tree::Expr;

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
pub fn nearness(a: &Expr, b: &Expr, at: &Point, max_bits: u32, fuel: &Fuel) -> (Nearness, bool) {
    let mut best = None;
    // Proven bounds first: they can tell two values apart for good.
    let mut estimates = false;
    let mut bits = 53;
    loop {
        let values = attempt(a, at, bits, estimates, fuel)
            .and_then(|a| Ok((a, attempt(b, at, bits, estimates, fuel)?)));
        let again = match values {
            Ok((a, b)) => {
                let rigorous = a.is_rigorous() && b.is_rigorous();
                let found = stand(&a, &b);
                if !matches!(found, Nearness::Close { .. }) {
                    return (found, rigorous);
                }
                best = Some(better(best, (found, rigorous)));
                // More precision rarely sharpens an estimate that agrees already.
                !matches!((rigorous, found), (false, Nearness::Close { bits: 30.., .. }))
            }
            Err(Fail::Unknown) if !estimates => {
                estimates = true;
                continue;
            }
            Err(Fail::Blurred) => true,
            Err(fail) => return best.unwrap_or((Nearness::Unclear(fail.into()), !estimates)),
        };
        let next = if bits < 128 { 128 } else { bits * 2 };
        if !again || bits >= max_bits.min(MOST_BITS) {
            let coarse = matches!(best, None | Some((Nearness::Close { bits: ..30, .. }, true)));
            if coarse && !estimates && uses_estimates(a, b) {
                (estimates, bits) = (true, 53);
                continue;
            }
            return best.unwrap_or((Nearness::Unclear(Trouble::Unknown), !estimates));
        }
        bits = next.min(max_bits.min(MOST_BITS));
        if !estimates && uses_estimates(a, b) {
            // Crude bounds do not sharpen with precision: estimate instead.
            (estimates, bits) = (true, 53);
        }
    }
}

/// Whether an expression has operators that can be estimated better than they can be enclosed.
fn uses_estimates(a: &Expr, b: &Expr) -> bool {
    let mut stack = vec![a, b];
    while let Some(next) = stack.pop() {
        if matches!(next, Expr::Bind(_)) {
            return true;
        }
        stack.extend(next.children());
    }
    false
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
