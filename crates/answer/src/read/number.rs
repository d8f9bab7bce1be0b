//! Numbers as written: digits, separators, decimal points, repeating decimals, powers of ten.

use super::notation::{Ambiguities, Comma, Notation};
use super::token::{Num, Tok};
use aske_algebra::expr::Rational;
use dashu_int::{IBig, UBig};
use smol_str::SmolStr;

/// Digits after the point that are read; more would make every sum of such numbers long work.
const MAX_DECIMALS: usize = 2_000;
/// A power of ten beyond this is not written out.
const MAX_EXPONENT: i64 = 5_000;

/// Where a number stands, which tells what a comma or a space after it can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// Outside every bracket.
    Open,
    /// Between brackets, where commas separate.
    Bracketed,
    /// Right behind `_` or `^`: the number ends with its digits.
    Script,
}

/// The number at the start of `text` and its length in bytes.
pub(crate) fn leading(
    text: &str,
    notation: Notation,
    place: Position,
    ambiguities: &Ambiguities,
) -> Option<(Tok, usize)> {
    if let Some(found) = prefixed(text) {
        return Some(found);
    }
    let nested = place != Position::Open;
    let comma = if nested && notation.comma != Comma::Decimal { Comma::Separator } else { notation.comma };
    let bytes = text.as_bytes();
    let mut at = run(bytes, 0);
    let mut digits = String::new();
    let starts_with_point =
        at == 0 && bytes.first() == Some(&b'.') && bytes.get(1).is_some_and(u8::is_ascii_digit);
    if at == 0 && !starts_with_point && !text.starts_with(".\\overline{") && !text.starts_with(".\\bar{") {
        return None;
    }
    digits.push_str(&text[..at]);
    let grouped = if place == Position::Script { None } else { groups(text, at, comma, nested, ambiguities) };
    if let Some((more, end)) = &grouped {
        digits.push_str(more);
        at = *end;
    }
    let mut scale = 0;
    let mut decimal = false;
    // Without groups there are digits alone so far.
    let separators = if grouped.is_some() { text[..at].replace("\\,", " ") } else { String::new() };
    let separated = separators.contains([',', '.', '\'']);
    // A decimal point, or a comma that is one.
    let point = match bytes.get(at) {
        Some(b'.') => Some(1),
        Some(b',') if !separated && is_decimal_comma(bytes, at, comma, nested, ambiguities) => Some(1),
        // Braces make the comma part of the number, and it did not group thousands.
        Some(b'{') if !separators.contains(',') && text[at..].starts_with("{,}") => Some(3),
        Some(b',') if grouped.as_ref().is_some_and(|(_, end)| european(text, at.min(*end))) => Some(1),
        _ => None,
    };
    let mut repeat = None;
    if let Some(width) = point {
        let end = run(bytes, at + width);
        repeat = repeating(text, end);
        if end > at + width || repeat.is_some() {
            decimal = true;
            scale = end - at - width;
            digits.push_str(&text[at + width..end]);
            at = end;
            // `0.000 001`: groups of three behind the point too.
            while place == Position::Open
                && scale.is_multiple_of(3)
                && let Some(gap) =
                    [" ", "\\,", "\u{2009}", "\u{202f}"].iter().find(|gap| text[at..].starts_with(**gap))
                && run(bytes, at + gap.len()) == at + gap.len() + 3
            {
                digits.push_str(&text[at + gap.len()..at + gap.len() + 3]);
                scale += 3;
                at += gap.len() + 3;
            }
        }
    }
    if at == 0 && repeat.is_none() {
        return None;
    }
    if scale > MAX_DECIMALS {
        return Some((Tok::TooLong, at));
    }
    let num =
        |value: Rational, decimal: bool, digits: Option<SmolStr>| Tok::Num(Num { value, decimal, digits });
    let integer: UBig = if digits.is_empty() { UBig::ZERO } else { digits.parse().ok()? };
    let mut value = match scale {
        0 => Rational::from(integer),
        _ => Rational::from_parts(IBig::from(integer), UBig::from(10_u8).pow(scale)),
    };
    let dots =
        if decimal && repeat.is_none() { recurring(text, &digits[digits.len() - scale..], at) } else { None };
    let repeat = repeat.or_else(|| dots.map(|(block, end)| (SmolStr::new(block), end)));
    if let Some((block, end)) = repeat {
        // d digits that repeat after s decimals add block / ((10^d − 1)·10^s).
        let nines = UBig::from(10_u8).pow(block.len()) - UBig::ONE;
        let repeated: UBig = block.parse().ok()?;
        value += Rational::from_parts(IBig::from(repeated), nines * UBig::from(10_u8).pow(scale));
        return Some((num(value, false, None), end));
    }
    if let Some((exponent, end)) = power_of_ten(bytes, at).filter(|_| !notation.euler) {
        ambiguities.power.set(true);
        let power = UBig::from(10_u8).pow(usize::try_from(exponent.unsigned_abs()).ok()?);
        value = if exponent < 0 { value / power } else { value * power };
        let decimal = decimal && !value.is_int();
        return Some((num(value, decimal, None), end));
    }
    let plain = !decimal && grouped.is_none();
    let digits = plain.then(|| SmolStr::new(&digits));
    Some((num(value, decimal, digits), at))
}

/// `0xFF`, `0b101`, `0o17`.
fn prefixed(text: &str) -> Option<(Tok, usize)> {
    let radix = match text.get(..2)? {
        "0x" | "0X" => 16,
        "0b" | "0B" => 2,
        "0o" | "0O" => 8,
        _ => return None,
    };
    let length = text[2..].bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
    let end = 2 + length;
    let more = text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    if length == 0 || length > MAX_DECIMALS || more {
        return None;
    }
    let value = Rational::from(IBig::from_str_radix(&text[2..end], radix).ok()?);
    Some((Tok::Num(Num { value, decimal: false, digits: None }), end))
}

/// The digits that `0.1666...` repeats, and how many bytes the dots take. Three of one digit or two of a longer
/// block must have been written.
fn recurring<'a>(text: &str, decimals: &'a str, end: usize) -> Option<(&'a str, usize)> {
    let rest = &text[end..];
    let dots = ["...", "\\ldots", "\\dots", "\\cdots"].into_iter().find(|dots| rest.starts_with(dots))?;
    let length = decimals.len();
    let repeats = |block: usize, times: usize| {
        length >= block * times
            && (1..times).all(|back| {
                decimals[length - block..] == decimals[length - block * (back + 1)..length - block * back]
            })
    };
    let block = if repeats(1, 3) { 1 } else { (2..=length / 2).find(|&block| repeats(block, 2))? };
    // Zeros go on only to the next digit: `0.101001000…`.
    let repeated = &decimals[length - block..];
    repeated.contains(|c| c != '0').then(|| (repeated, end + dots.len()))
}

/// Where the run of digits that starts at `from` ends.
fn run(bytes: &[u8], from: usize) -> usize {
    from + bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
}

/// Groups of three digits after the first one, without their separators, and where they end.
fn groups(
    text: &str,
    first: usize,
    comma: Comma,
    nested: bool,
    ambiguities: &Ambiguities,
) -> Option<(String, usize)> {
    // The first character of every separator.
    let separated =
        text[first..].starts_with(['{', ',', '.', '\\', '~', '\u{2009}', '\u{202f}', '\u{a0}', ' ', '\'']);
    if first == 0 || first > 3 || !separated {
        return None;
    }
    for separator in
        ["{,}", ",\\!", ",", ".", "\\,", "\\ ", "\\;", "~", "\u{2009}", "\u{202f}", "\u{a0}", " ", "'"]
    {
        let mut at = first;
        let mut digits = String::new();
        while let Some(rest) = text[at..].strip_prefix(separator) {
            let start = text.len() - rest.len();
            if run(text.as_bytes(), start) != start + 3 {
                break;
            }
            digits.push_str(&text[start..start + 3]);
            at = start + 3;
        }
        // A separator that goes on with another number of digits makes a list of it all.
        let broken = text[at..]
            .strip_prefix(separator)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if digits.is_empty() || broken {
            continue;
        }
        // Points group thousands where there are two of them, or where a decimal comma follows.
        if separator == "." && (digits.len() < 6 && !european(text, at) || nested) {
            return None;
        }
        if separator == "," {
            if text.starts_with('0') {
                return None;
            }
            if !nested {
                ambiguities.group.set(true);
            }
            if comma != Comma::Thousands {
                return None;
            }
        }
        // A space groups only where the first group is a number of its own, and no fraction follows.
        if separator == " " && (text.starts_with('0') || nested || text[at..].starts_with('/')) {
            return None;
        }
        return Some((digits, at));
    }
    None
}

/// Whether a decimal comma with one or two digits ends the number, as in `1.250,75`.
fn european(text: &str, at: usize) -> bool {
    let groups = text[..at].contains('.');
    let Some(comma) = [",", "{,}"].into_iter().find(|comma| text[at..].starts_with(comma)) else {
        return false;
    };
    let start = at + comma.len();
    let end = run(text.as_bytes(), start);
    groups && (start + 1..=start + 2).contains(&end) && !text[end..].starts_with([',', '.'])
}

/// Whether the comma at `at` is a decimal point under this choice.
fn is_decimal_comma(bytes: &[u8], at: usize, comma: Comma, nested: bool, ambiguities: &Ambiguities) -> bool {
    let end = run(bytes, at + 1);
    let last = bytes.get(end) != Some(&b',') && at > 0 && end > at + 1;
    if last && !nested {
        ambiguities.decimal.set(true);
    }
    last && comma == Comma::Decimal && !nested
}

/// The digits under a repeating mark and where it ends.
fn repeating(text: &str, at: usize) -> Option<(SmolStr, usize)> {
    for (open, close) in [("\\overline{", '}'), ("\\bar{", '}'), ("\\dot{", '}'), ("(", ')')] {
        if let Some(rest) = text[at..].strip_prefix(open)
            && let Some(end) = rest.find(close)
            && end > 0
            && end <= 100
            && rest[..end].bytes().all(|b| b.is_ascii_digit())
        {
            let after = text.len() - rest.len() + end + 1;
            // `0.\dot{1}4\dot{2}`: dots over the first and the last digit of the block.
            let middle = run(text.as_bytes(), after);
            if open == "\\dot{"
                && let Some(last) = text[middle..].strip_prefix(open)
                && last.starts_with(|c: char| c.is_ascii_digit())
                && last[1..].starts_with('}')
                && middle < after + 100
            {
                let block = format!("{}{}{}", &rest[..end], &text[after..middle], &last[..1]);
                return Some((block.into(), text.len() - last.len() + 2));
            }
            return Some((SmolStr::new(&rest[..end]), after));
        }
    }
    if let Some(rest) = text[at..].strip_prefix("\\overline").or_else(|| text[at..].strip_prefix("\\bar"))
        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
    {
        let digit = rest.trim_start();
        return Some((SmolStr::new(&digit[..1]), text.len() - digit.len() + 1));
    }
    None
}

/// `e8`, `E-5`: the exponent and where it ends.
fn power_of_ten(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mark = [&b"e"[..], b"E", b"\\mathrm{e}", b"\\text{e}"];
    let rest = bytes.get(at..)?;
    let at = at + mark.iter().find(|mark| rest.starts_with(mark))?.len();
    let negative = bytes.get(at) == Some(&b'-');
    let start = at + usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    let end = run(bytes, start);
    if end == start || bytes.get(end).is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let exponent: i64 = std::str::from_utf8(&bytes[start..end]).ok()?.parse().ok()?;
    (exponent <= MAX_EXPONENT).then_some((if negative { -exponent } else { exponent }, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, usize) {
        match leading(text, Notation::default(), Position::Open, &Ambiguities::default()) {
            Some((Tok::Num(num), length)) => (num.value.to_string(), length),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn separators_group_thousands() {
        for text in ["1,000", "1{,}000", "1\\,000", "1 000", "1\u{2009}000", "1,\\!000"] {
            assert_eq!(read(text), ("1000".into(), text.len()), "{text}");
        }
        assert_eq!(read("1,00").0, "1");
        assert_eq!(read("1,000,00").0, "1");
        assert_eq!(read("1234,567").0, "1234");
    }

    #[test]
    fn decimals_repeat() {
        assert_eq!(read("0.\\overline{3}").0, "1/3");
        assert_eq!(read("0.1\\overline{6}").0, "1/6");
        assert_eq!(read("0.(142857)").0, "1/7");
        assert_eq!(read(".5").0, "1/2");
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(read("3e8"), ("300000000".into(), 3));
        assert_eq!(read("1.5E-3"), ("3/2000".into(), 6));
        assert_eq!(read("2e^x"), ("2".into(), 1));
        assert_eq!(read("2ex"), ("2".into(), 1));
    }
}
