//! Answers inside a sentence: the longest stretches of words that read as mathematics.

use super::sentence::formulas;
use super::{chain, cue};
use crate::answer::Answer;
use crate::read;
use aske_algebra::fuel::Fuel;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The most words of one answer.
const WORDS: usize = 14;
/// Longer sentences are searched at their end.
const LONGEST: usize = 2_000;
/// Work for one reading, and for all of a sentence.
const FUEL: u64 = 50_000;
const READS: u32 = 400;

/// Punctuation and emphasis around an answer.
const AROUND: &[char] =
    &['*', '_', '`', '"', '\'', '“', '”', '‘', '’', '「', '」', '|', '~', ' ', '\t', '\n'];
const BEHIND: &[char] = &['.', ',', ';', ':', '?', '!', '。', '，', '、', '！', '✓', '✔', '✅'];
/// Words behind which a number counts something else.
const LABELS: &[&str] = &[
    "step", "case", "question", "part", "theorem", "lemma", "chapter", "figure", "equation", "eq", "problem",
    "section", "example", "exercise", "page", "item", "remark", "modulo", "mod",
];

/// Verbs behind which a sentence has its value.
static VERB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\b(?:is|are|was|were|equals?|gives?|get|obtain|yields?|becomes?|costs?|takes?|makes?|has|have|find|be|prints?|",
        r"need|needs|ist|sind|beträgt|est|sont|es|son|è|sono)\b|[:=：]"
    ))
    .ok()
});

/// Without delimiters of text and punctuation.
pub(super) fn undressed(text: &str) -> &str {
    let mut text = text;
    loop {
        let mut next = text.trim_matches(AROUND).trim_end_matches(BEHIND);
        next = next.trim_start_matches(['=', ':', '：', '＝']);
        // Dots go on, one ends the sentence.
        if text.trim_end_matches(AROUND).ends_with("...") {
            next = text.trim_matches(AROUND);
            return next;
        }
        if next.len() == text.len() {
            return text;
        }
        text = next;
    }
}

/// Whether nothing is left of a text without its punctuation.
pub(super) fn is_blank(text: &str) -> bool {
    !text.chars().any(|c| c.is_alphanumeric() || "$?∞∅√".contains(c))
}

/// Whether a text reads as an answer, and is not a sentence.
pub(super) fn is_answer(text: &str) -> bool {
    let text = undressed(text);
    if text.is_empty() || text.len() > LONGEST || text.contains("\n\n") {
        return false;
    }
    let prose = text
        .split_whitespace()
        .filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic))
        .count();
    let framed = VERB.as_ref().is_some_and(|verb| {
        verb.find_iter(text).any(|found| found.as_str().chars().all(char::is_alphabetic))
    });
    prose < 4 && !framed && !text.to_lowercase().starts_with("so ") && reads(text)
}

/// Whether a text reads as mathematics in all of its parts.
fn reads(text: &str) -> bool {
    let fuel = Fuel::new(FUEL);
    read::readings(text, &fuel).is_ok_and(|found| found.first().is_some_and(is_typed))
}

fn is_typed(answer: &Answer) -> bool {
    match answer {
        Answer::Text(_) | Answer::Opaque(_) | Answer::Letters(_) | Answer::Dots => false,
        Answer::Bare(parts)
        | Answer::Any(parts)
        | Answer::All(parts)
        | Answer::Tuple(parts)
        | Answer::List(parts)
        | Answer::Set(parts) => parts.iter().all(|part| is_typed(part) || *part == Answer::Dots),
        Answer::Choice(_, beside) => beside.as_deref().is_none_or(is_typed),
        Answer::Relation(relation) => relation.sides.iter().all(is_typed),
        _ => true,
    }
}

/// The answer at the start of what a sentence announces.
pub(super) fn first(value: &str) -> Option<String> {
    let found = all(value, true);
    let range = found.first()?;
    // `2` of `the square root of 2` and of `1 less than 2` is not the value.
    let before = value[..range.start].to_lowercase();
    let operation = ["root of", "times", "more than", "less than", "power", "half of", "twice", "not "];
    let taken = &value[range.clone()];
    (!operation.iter().any(|word| before.contains(word))).then(|| chain::last_side(undressed(taken)))
}

/// The answer behind the last verb of a sentence, or the last one in it.
pub(super) fn concluded(clause: &str) -> Option<String> {
    let clause = tail(clause);
    if let Some(result) = behind_equals(clause)
        && let Some(range) = all(result, false).first()
        && range.start < 3
    {
        return Some(chain::last_side(undressed(&result[range.clone()])));
    }
    let found = all(clause, false);
    let verbs = VERB.as_ref()?.find_iter(clause);
    let outside = |at: usize| found.iter().all(|range| !range.contains(&at));
    let behind = verbs
        .filter(|verb| outside(verb.start()))
        .map(|verb| verb.end())
        .filter_map(|end| found.iter().find(|range| range.start >= end));
    let range = behind.last().or(found.last())?;
    let answer = || chain::last_side(undressed(&clause[range.clone()]));
    (!cue::is_negated(&clause[..range.start])).then(answer)
}

/// The result of arithmetic in words, `32 years - 3 years = 29 years`: what is behind the last `=`, unless the name of a
/// variable is before it.
fn behind_equals(clause: &str) -> Option<&str> {
    let formulas = formulas(clause);
    let outside = |at: &usize| !formulas.iter().any(|formula| formula.contains(at));
    let at = clause.match_indices('=').map(|(at, _)| at).rfind(outside)?;
    let (before, after) = (&clause[..at], &clause[at + 1..]);
    let mut words = before.trim_end().rsplit(char::is_whitespace);
    let name = words.next().unwrap_or_default();
    // `kg` of `3 kg` is a unit.
    let counted = words.next().is_some_and(|word| word.ends_with(|c: char| c.is_ascii_digit()));
    let letters = name.chars().take_while(|c| c.is_alphabetic()).count();
    let named = !counted && (1..3).contains(&letters) && !name.contains(|c: char| c.is_ascii_digit());
    (!named && !name.is_empty() && !before.ends_with(['<', '>', '!', ':', '='])).then_some(after)
}

/// The last formula of a sentence.
pub(super) fn last_formula(clause: &str) -> Option<String> {
    let clause = tail(clause);
    let range = formulas(clause).pop()?;
    (!cue::is_negated(&clause[..range.start])).then(|| chain::last_side(&clause[range]))
}

/// The last number of a sentence.
pub(super) fn last_number(clause: &str) -> Option<String> {
    let clause = tail(clause);
    let range = all(clause, false)
        .into_iter()
        .rev()
        .find(|range| clause[range.clone()].contains(|c: char| c.is_ascii_digit()))?;
    (!cue::is_negated(&clause[..range.start])).then(|| chain::last_side(undressed(&clause[range])))
}

fn tail(text: &str) -> &str {
    let mut from = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The answers of a text, each as long as it reads as mathematics, from left to right. A letter alone counts where a
/// choice is `announced`.
fn all(text: &str, announced: bool) -> Vec<Range<usize>> {
    let text = if announced { text.get(..LONGEST).unwrap_or(text) } else { text };
    if text.len() > LONGEST + 4 {
        return Vec::new();
    }
    let pieces = pieces(text);
    let mut out = Vec::new();
    let (mut at, mut reads_left) = (0, READS);
    while at < pieces.len() {
        let end = if may_start(text, &pieces, at, announced) {
            longest(text, &pieces[at..], &mut reads_left)
        } else {
            None
        };
        match end {
            Some(count) => {
                out.push(pieces[at].start..pieces[at + count - 1].end);
                at += count;
            }
            None => at += 1,
        }
        if announced && !out.is_empty() {
            break;
        }
    }
    out
}

/// How many pieces the longest answer takes that begins with the first.
fn longest(text: &str, pieces: &[Range<usize>], reads_left: &mut u32) -> Option<usize> {
    let start = pieces.first()?.start;
    // A full stop, or the sign of a new thought, ends it.
    let most = pieces
        .iter()
        .take(WORDS)
        .take_while(|piece| !text[(*piece).clone()].starts_with(['(', '（']) || piece.start == start)
        .count();
    (1..=most.max(1)).rev().find(|count| {
        *reads_left = reads_left.saturating_sub(1);
        let slice = undressed(&text[start..pieces[count - 1].end]);
        *reads_left > 0
            && !slice.is_empty()
            && !is_stop(slice.rsplit(' ').next().unwrap_or_default())
            && reads(slice)
    })
}

/// A word that does not end an answer.
fn is_stop(word: &str) -> bool {
    [
        "and", "or", "of", "a", "an", "the", "in", "is", "are", "by", "for", "as", "to", "so", "at", "/",
        "+", "-", "=", "*", "×", "·",
    ]
    .contains(&word.to_lowercase().as_str())
}

/// Words and formulas, as byte ranges.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let formulas = formulas(text);
    let mut out: Vec<Range<usize>> = Vec::new();
    let (mut start, mut next): (Option<usize>, usize) = (None, 0);
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        while formulas.get(next).is_some_and(|formula| formula.end <= at) {
            next += 1;
        }
        let inside = formulas.get(next).is_some_and(|formula| formula.contains(&at));
        let foreign =
            |c: char| c.is_alphabetic() && !c.is_ascii() && !matches!(c, 'Α'..='ω' | 'À'..='ɏ' | 'А'..='я');
        let border = !inside && before.is_some_and(|before| foreign(before) != foreign(c) && before != ' ');
        if let Some(from) = start
            && !inside
            && (c.is_whitespace() || border)
        {
            out.push(from..at);
            start = None;
        }
        if start.is_none() && !c.is_whitespace() {
            start = Some(at);
        }
        before = Some(c);
    }
    out.extend(start.map(|from| from..text.len()));
    out
}

/// Whether an answer may begin with a piece.
fn may_start(text: &str, pieces: &[Range<usize>], at: usize, announced: bool) -> bool {
    let bare = undressed(&text[pieces[at].clone()]);
    if at > 0 {
        let before =
            text[pieces[at - 1].clone()].trim_matches(AROUND).trim_end_matches(BEHIND).to_lowercase();
        if LABELS.contains(&before.as_str()) {
            return false;
        }
    }
    let next = pieces.get(at + 1).map_or("", |next| &text[next.clone()]);
    let mut letters = bare.chars();
    let Some(first) = letters.next() else { return false };
    let choice = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_uppercase() && text != "I";
    let inner = bare.trim_matches(['(', ')', '.']);
    if inner.len() <= 1 && choice(inner) {
        return announced || next.starts_with(['=', '<', '>', '≤', '≥']);
    }
    let relation = next.starts_with(['=', '<', '>', '≤', '≥', '∈', '^', '/'])
        || (next.starts_with(['+', '-', '−', '*', '·']) && next.len() < 3);
    let operators = bare.contains(['=', '<', '>', '^', '≤', '≥', '∈', '/', '+'])
        || bare.contains(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || "-−+–√π∞∅$€£¥₹\\{([.±|".contains(first) {
        // A bracket before words is a remark.
        let opens = matches!(first, '(' | '[' | '{' | '|');
        return !opens
            || bare.contains(|c: char| c.is_ascii_digit() || "-−∞\\".contains(c))
            || bare.len() < 4
            || operators;
    }
    let word = bare.to_lowercase();
    if read::is_number_word(&word)
        && !matches!(word.as_str(), "a" | "an" | "one" | "first" | "second" | "third")
    {
        return true;
    }
    if word == "one" {
        return announced || next.starts_with("half") || next.starts_with("third");
    }
    if matches!(word.as_str(), "infinity" | "sqrt" | "pi" | "zero") {
        return true;
    }
    let short = bare.chars().take_while(|c| c.is_alphabetic()).count() <= 3;
    first.is_ascii_alphabetic() && short && (operators || (relation && bare.len() <= 4))
}
