//! Dates: `2024-01-05`, `January 5, 2024`, `5 January 2024`, `January 5`.

use crate::answer::Date;

/// The number of a month by its name or its usual short form.
pub(crate) fn month(word: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.to_ascii_lowercase();
    let word = word.trim_end_matches('.');
    let short = word.len() == 3 || word == "sept";
    MONTHS
        .iter()
        .position(|name| *name == word || short && name.starts_with(&word[..3]))
        .and_then(|at| u8::try_from(at + 1).ok())
}

/// Reads a whole answer as a date.
pub(crate) fn read(text: &str) -> Option<Date> {
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    iso(text).or_else(|| with_month_name(text))
}

fn valid(year: Option<u16>, month: u8, day: u8) -> Option<Date> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Date { year, month, day })
}

fn iso(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let mut digits = |width: usize| {
        let part = parts.next()?;
        (part.len() == width && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u16>().ok())?
    };
    let (year, month, day) = (digits(4)?, digits(2)?, digits(2)?);
    if parts.next().is_some() {
        return None;
    }
    valid(Some(year), u8::try_from(month).ok()?, u8::try_from(day).ok()?)
}

fn with_month_name(text: &str) -> Option<Date> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("of"))
        .collect();
    let day = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let suffix = &word[digits.len()..];
        matches!(suffix, "" | "st" | "nd" | "rd" | "th").then(|| digits.parse::<u8>().ok())?
    };
    let year = |word: &str| (word.len() == 4).then(|| word.parse::<u16>().ok())?;
    let (first, second, rest) = match words.as_slice() {
        [first, second] => (*first, *second, None),
        [first, second, third] => (*first, *second, Some(year(third)?)),
        _ => return None,
    };
    match (month(first), month(second)) {
        (Some(month), None) => valid(rest, month, day(second)?),
        (None, Some(month)) => valid(rest, month, day(first)?),
        _ => None,
    }
}

/// Whether a text is a date whose order of day and month is not known: `12/25/2020`.
pub(crate) fn is_slashed(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split('/').collect();
    let digits = |part: &str, width: std::ops::RangeInclusive<usize>| {
        width.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    matches!(parts.as_slice(), [a, b, year] if digits(a, 1..=2) && digits(b, 1..=2) && digits(year, 4..=4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_are_one_date() {
        let date = Some(Date { year: Some(2024), month: 1, day: 5 });
        for text in ["2024-01-05", "January 5, 2024", "5 January 2024", "Jan. 5, 2024", "5th of January 2024"]
        {
            assert_eq!(read(text), date, "{text}");
        }
        assert_eq!(read("May 1"), Some(Date { year: None, month: 5, day: 1 }));
    }

    #[test]
    fn differences_are_no_dates() {
        for text in ["2024-1-5", "2024-13-05", "2024-01-05-1", "10-05-2024", "may 5 apples", "12"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(is_slashed("12/25/2020"));
        assert!(!is_slashed("1/2/3"));
    }
}
