//! Runs of letters: products of variables, or words.

/// Short words that are not products of variables.
const WORDS: &[&str] = &[
    "no", "yes", "on", "off", "odd", "is", "it", "if", "the", "of", "to", "at", "by", "all", "any", "not",
    "one", "two", "six", "ten", "red", "day", "am", "pm", "NA", "DNE", "dne", "sum", "set", "Yes", "No",
    "YES", "NO", "Bob", "Ann", "Tom", "Joe", "Amy", "Sam", "Max", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat",
    "Sun", "man", "men", "for", "are", "was", "as", "in", "an", "so", "we", "he", "up", "us",
];

/// Units that are longer than one letter, which a product of variables never is where a number stands before.
const UNITS: &[&str] = &[
    "cm", "mm", "km", "dm", "nm", "ft", "kg", "mg", "lb", "lbs", "oz", "ml", "mL", "hr", "hrs", "sec", "min",
    "mph", "kmh", "kph", "kW", "kJ", "Hz", "kHz", "Pa", "kPa", "mol", "deg", "rad", "yd", "mi", "sq", "cu",
    "mV", "kV", "mA", "cc",
];

/// Whether a run of two letters or more is a product of variables: short, and no word or unit.
pub(crate) fn is_product(word: &str, spaced: bool) -> bool {
    let letters = word.chars().count();
    let ascii = word.is_ascii();
    let limit = if spaced { 3 } else { 4 };
    ascii
        && letters <= limit
        && !WORDS.contains(&word)
        && !(spaced && UNITS.contains(&word))
        && !UNITS.contains(&word)
}
