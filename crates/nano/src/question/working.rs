//! Short derivations of answers, digit by digit, in steps that a small network can learn.

use super::value::{Value, gcd};

/// The decimal digits, lowest first.
fn digits(number: i128) -> Vec<i128> {
    let mut rest = number.abs();
    let mut digits = vec![rest % 10];
    rest /= 10;
    while rest > 0 {
        digits.push(rest % 10);
        rest /= 10;
    }
    digits
}

fn digit(digits: &[i128], place: usize) -> i128 {
    digits.get(place).copied().unwrap_or(0)
}

/// Column by column from the right, with carries: `7+5=12, 4+8+1=13`.
pub(super) fn addition(a: i128, b: i128) -> String {
    let (one, two) = (digits(a), digits(b));
    let mut carry = 0;
    let columns = (0..one.len().max(two.len())).map(|place| {
        let (x, y) = (digit(&one, place), digit(&two, place));
        let total = x + y + carry;
        let column = if carry == 0 { format!("{x}+{y}={total}") } else { format!("{x}+{y}+1={total}") };
        carry = total / 10;
        column
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// Column by column from the right, with borrows: `12-8=4, 4-3=1`. The first number is the larger one.
pub(super) fn subtraction(a: i128, b: i128) -> String {
    let (one, two) = (digits(a), digits(b));
    let mut borrow = 0;
    let columns = (0..one.len()).map(|place| {
        let (top, bottom) = (digit(&one, place) - borrow, digit(&two, place));
        borrow = i128::from(top < bottom);
        let top = top + 10 * borrow;
        format!("{top}-{bottom}={}", top - bottom)
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// Multiplies the digits of the first number one by one and adds the products: `30*7=210, 4*7=28, 210+28=238`.
pub(super) fn product(a: i128, b: i128) -> String {
    let mut parts = Vec::new();
    let mut total: Option<i128> = None;
    for (place, digit) in digits(a).into_iter().enumerate().rev() {
        let value = digit * 10_i128.pow(u32::try_from(place).unwrap_or(0));
        if value == 0 && !(total.is_none() && place == 0) {
            continue;
        }
        parts.push(format!("{value}*{b}={}", value * b));
        if let Some(sum) = total {
            parts.push(format!("{sum}+{}={}", value * b, sum + value * b));
        }
        total = Some(total.unwrap_or(0) + value * b);
    }
    parts.join(", ")
}

/// The partial dividends of a long division, each with its remainder.
fn partial_dividends(a: i128, b: i128) -> impl Iterator<Item = (i128, i128)> {
    let mut rest = 0;
    digits(a).into_iter().rev().map(move |digit| {
        let partial = rest * 10 + digit;
        rest = partial % b;
        (partial, rest)
    })
}

/// Long division, one digit at a time: `72-68=4, 43-34=9`. Leading digits that together are smaller than the divisor
/// are combined.
pub(super) fn division(a: i128, b: i128) -> String {
    let steps = partial_dividends(a, b).filter(|(partial, _)| *partial >= b);
    joined(steps.map(|(partial, rest)| format!("{partial}-{}={rest}", partial - rest)), format!("{a}<{b}"))
}

/// Long division with the digits of the quotient: `10=1*7+3, 30=4*7+2`.
pub(super) fn quotient(a: i128, b: i128) -> String {
    let steps = partial_dividends(a, b).skip_while(|(partial, _)| *partial < b);
    joined(steps.map(|(partial, rest)| format!("{partial}={}*{b}+{rest}", partial / b)), format!("{a}<{b}"))
}

/// The steps separated by commas, or another text if there are none.
fn joined(steps: impl Iterator<Item = String>, otherwise: String) -> String {
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() { otherwise } else { steps.join(", ") }
}

/// Euclid's steps: `2*36=72, 84-72=12, 3*12=36, 36-36=0`.
pub(super) fn euclid(a: i128, b: i128) -> String {
    let (mut a, mut b) = (a.max(b), a.min(b));
    let mut steps = Vec::new();
    while b != 0 {
        let (times, rest) = (a / b, a % b);
        if times > 1 {
            steps.push(format!("{times}*{b}={}", a - rest));
        }
        steps.push(format!("{a}-{}={rest}", a - rest));
        (a, b) = (b, rest);
    }
    joined(steps.into_iter(), format!("{a}+0={a}"))
}

/// The unknown as a quotient in lowest terms; Euclid's first step shows whether it is an integer:
/// `x=12/4, 3*4=12, 12-12=0, x=3` and `x=6/4, 6-4=2, 2*2=4, 4-4=0, gcd 2, x=3/2`.
pub(super) fn unknown(name: char, above: i128, below: i128) -> Option<(Value, String)> {
    let value = Value::ratio(above, below)?;
    if above == 0 || below.abs() == 1 {
        return Some((value, format!("{name}={above}/{below}={value}")));
    }
    let shared =
        if value.as_whole().is_some() { String::new() } else { format!("gcd {}, ", gcd(above, below)) };
    let steps = euclid(above.abs(), below.abs());
    Some((value, format!("{name}={above}/{below}, {steps}, {shared}{name}={value}")))
}

/// The squares of the multiples of ten around the root, then the root itself: `20*20=400, 30*30=900, 20*23=460, 3*23=69,
/// 460+69=529`.
pub(super) fn root(root: i128) -> String {
    let below = root / 10 * 10;
    let around =
        format!("{below}*{below}={}, {1}*{1}={2}", below * below, below + 10, (below + 10) * (below + 10));
    format!("{around}, {}", product(root, root))
}

/// A fraction reduced to lowest terms: `22/24, gcd 2, 11/12`.
pub(super) fn reduced(numerator: i128, denominator: i128) -> String {
    let shared = gcd(numerator, denominator).max(1);
    let (n, d) = (numerator / shared, denominator / shared);
    if d == 1 {
        format!("{numerator}/{denominator}={n}")
    } else {
        format!("{numerator}/{denominator}, gcd {shared}, {n}/{d}")
    }
}

/// The product of several factors, step by step: `7*6=42, 42*5=210`.
pub(super) fn chain(factors: &[i128]) -> String {
    let mut factors = factors.iter();
    let mut total = factors.next().copied().unwrap_or(1);
    let mut steps = Vec::new();
    for factor in factors {
        steps.push(format!("{total}*{factor}={}", total * factor));
        total *= factor;
    }
    steps.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workings_go_step_by_step() {
        assert_eq!(addition(47, 85), "7+5=12, 4+8+1=13");
        assert_eq!(addition(9, 101), "9+1=10, 0+0+1=1, 0+1=1");
        assert_eq!(subtraction(52, 38), "12-8=4, 4-3=1");
        assert_eq!(subtraction(100, 1), "10-1=9, 9-0=9, 0-0=0");
        assert_eq!(product(34, 7), "30*7=210, 4*7=28, 210+28=238");
        assert_eq!(product(304, 7), "300*7=2100, 4*7=28, 2100+28=2128");
        assert_eq!((product(0, 7), product(8, 7)), ("0*7=0".into(), "8*7=56".into()));
        assert_eq!(division(723, 17), "72-68=4, 43-34=9");
        assert_eq!(division(3, 17), "3<17");
        assert_eq!(quotient(100, 7), "10=1*7+3, 30=4*7+2");
        assert_eq!(quotient(70, 7), "7=1*7+0, 0=0*7+0");
        assert_eq!(euclid(36, 84), "2*36=72, 84-72=12, 3*12=36, 36-36=0");
        assert_eq!((euclid(3, 3), euclid(0, 7)), ("3-3=0".into(), "7+0=7".into()));
        let unknown = |above, below| unknown('x', above, below).unwrap().1;
        assert_eq!(unknown(12, 4), "x=12/4, 3*4=12, 12-12=0, x=3");
        assert_eq!(unknown(-6, 4), "x=-6/4, 6-4=2, 2*2=4, 4-4=0, gcd 2, x=-3/2");
        assert_eq!((unknown(0, 4), unknown(5, -1)), ("x=0/4=0".into(), "x=5/-1=-5".into()));
        assert_eq!(reduced(22, 24), "22/24, gcd 2, 11/12");
        assert_eq!(reduced(24, 12), "24/12=2");
        assert_eq!(chain(&[7, 6, 5]), "7*6=42, 42*5=210");
    }
}
