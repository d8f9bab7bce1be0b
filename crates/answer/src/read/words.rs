//! Runs of letters: products of variables, or words.

use crate::{units, vocabulary};
use smol_str::SmolStr;

/// Whether a run of letters is one of the short words, in a usual case: `no`, `No`, `NO`.
fn is_short_word(word: &str) -> bool {
    has_usual_case(word) && vocabulary::is_short(&word.to_lowercase())
}

/// All small, all capital, or a capital first letter.
fn has_usual_case(word: &str) -> bool {
    let small = |text: &str| text.chars().all(|c| !c.is_uppercase());
    let rest = word.char_indices().nth(1).map_or("", |(at, _)| &word[at..]);
    small(rest) || word.chars().all(|c| !c.is_lowercase())
}

/// Whether a run of two letters or more is a product of variables: short, and no word or unit.
pub(crate) fn is_product(word: &str, spaced: bool) -> bool {
    let letters = word.chars().count();
    let limit = if spaced { 3 } else { 4 };
    let capitals = word.chars().all(char::is_uppercase);
    is_letters(word)
        && letters <= limit
        // Relations that lost their backslash: `x gt 5`.
        && !(spaced && matches!(word, "gt" | "lt" | "ge" | "le" | "ne" | "eq"))
        // `per`, `div` and `nCr` are words even among factors, `GMm` and `nRT` are not.
        && (letters < 3 || capitals || !is_string(word) || is_consonants(word))
}

/// Letters of both cases that cannot be spoken, and are no notation for combinations.
fn is_consonants(word: &str) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    (capitals > 1 || word.starts_with(char::is_lowercase) && capitals == 1)
        && !word.to_lowercase().contains(['a', 'e', 'i', 'o', 'u'])
        && !matches!(word, "nCr" | "nPr")
}

/// Whether some text names a quantity, and says nothing else about it: `\text{total area} = 5`.
pub(crate) fn is_name(text: &str) -> bool {
    // What is spelled as notation (`P(A|B)`) is a name by its bracket.
    if text.ends_with(')') || text.ends_with(']') {
        return text.contains(['(', '[']) && !text.contains(' ') && !text.starts_with("not");
    }
    if let Some(function) = text.strip_prefix("\\nabla") {
        return function.chars().all(char::is_alphabetic);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let proper = words.len() == 1 && is_proper(words[0]);
    let points = |word: &str| word.len() <= 4 && word.chars().all(char::is_uppercase);
    !words.is_empty()
        && (proper
            || words
                .iter()
                .all(|word| vocabulary::is_quantity(&word.to_lowercase()) || words.len() > 1 && points(word)))
}

/// A word that begins with a capital and is no word of grammar: a person's name.
fn is_proper(word: &str) -> bool {
    let plain = word.starts_with(|c: char| c.is_uppercase()) && word.chars().skip(1).all(char::is_lowercase);
    plain
        && word.chars().count() > 2
        && !vocabulary::is_function_word(&word.to_lowercase())
        && !super::is_number_word(&word.to_lowercase())
}

/// Whether a run of letters before a bracket names a function: `Var(X)`, `deg(f)`.
pub(crate) fn is_function(word: &str) -> bool {
    const FUNCTIONS: &[&str] = &[
        "var", "cov", "corr", "deg", "dim", "rank", "tr", "ord", "erf", "sgn", "sign", "ker", "span", "card",
        "std", "sd", "prob", "diag", "area", "vol", "perm", "len", "null", "mean", "rad", "sup", "id", "adj",
    ];
    let titled = word.len() > 2 && word.starts_with(|c: char| c.is_uppercase());
    titled || FUNCTIONS.contains(&word.to_lowercase().as_str())
}

/// Whether a word is a short run of letters, and no known word or unit.
pub(crate) fn is_letters(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.is_ascii()
        && word.chars().count() <= 4
        && !is_short_word(word)
        && !units::is_abbreviation(word)
}

/// Whether a run of letters that is a whole answer is a string of letters, where their order matters: tosses of a
/// coin, a Roman numeral, a word. `xy` and `abc` are products.
pub(crate) fn is_string(word: &str) -> bool {
    let letters = word.chars().count();
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    if capitals > 1 || capitals == 1 && letters > 2 {
        return true;
    }
    // `ii`, `iv`: numbers of items.
    if letters > 1 && word.contains('i') && word.chars().all(|c| matches!(c, 'i' | 'v')) {
        return true;
    }
    let usual = |c: char| matches!(c, 'a'..='e' | 'k' | 'm' | 'n' | 'x'..='z');
    letters > 2 && word.contains(['a', 'e', 'i', 'o', 'u']) && !word.chars().all(usual)
}

/// A word as it is compared: its case counts only where letters are symbols (`mW`, `HTH`, `AaBb`).
pub(crate) fn folded(word: &str) -> SmolStr {
    // Four capitals are a word where they can be spoken: `KATE`, but not `HTHT`.
    let spoken = word.chars().count() == 4 && word.contains(['A', 'E', 'I', 'O', 'U']);
    let long = word.chars().count() >= 5
        || spoken
            && !word.chars().all(|c| matches!(c, 'A' | 'C' | 'G' | 'T' | 'U' | 'I' | 'V' | 'X' | 'B' | 'D'));
    let titled = word.chars().count() >= 3 && word.chars().skip(1).all(|c| !c.is_uppercase());
    if has_usual_case(word) && (long || titled || is_short_word(word)) {
        SmolStr::new(word.to_lowercase())
    } else {
        SmolStr::new(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_counts_in_symbols_only() {
        for (a, b) in
            [("Yes", "YES"), ("monday", "Monday"), ("TRUE", "true"), ("Bob", "bob"), ("KATE", "Kate")]
        {
            assert_eq!(folded(a), folded(b), "{a} {b}");
        }
        for (a, b) in
            [("mW", "MW"), ("HTH", "hth"), ("AaBb", "aabb"), ("ABC", "abc"), ("A", "a"), ("HTHT", "htht")]
        {
            assert_ne!(folded(a), folded(b), "{a} {b}");
        }
    }

    #[test]
    fn strings_of_letters_are_no_products() {
        for word in ["HTH", "IV", "ABC", "cat", "AaB", "AB"] {
            assert!(is_string(word), "{word}");
        }
        for word in ["xy", "abc", "xyz", "kmn", "Ax", "mgh"] {
            assert!(!is_string(word), "{word}");
        }
    }
}
