//! Runs of letters: products of variables, or words.

use crate::units;

/// Short words that are not products of variables.
const WORDS: &[&str] = &[
    "no", "yes", "on", "off", "odd", "is", "it", "if", "the", "of", "to", "at", "by", "all", "any", "not",
    "one", "two", "six", "ten", "red", "day", "am", "pm", "NA", "DNE", "dne", "sum", "set", "Yes", "No",
    "YES", "NO", "Bob", "Ann", "Tom", "Joe", "Amy", "Sam", "Max", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat",
    "Sun", "man", "men", "for", "are", "was", "as", "in", "an", "so", "we", "he", "up", "us",
];

/// Whether a run of two letters or more is a product of variables: short, and no word or unit.
pub(crate) fn is_product(word: &str, spaced: bool) -> bool {
    let letters = word.chars().count();
    let limit = if spaced { 3 } else { 4 };
    word.is_ascii() && letters <= limit && !WORDS.contains(&word) && !units::is_abbreviation(word)
}
