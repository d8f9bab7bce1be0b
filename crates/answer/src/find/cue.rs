//! The words that announce an answer, take it back, or leave it open.

use super::sentence::{Sentence, formulas};
use regex::Regex;
use std::sync::LazyLock;

type Words = LazyLock<Option<Regex>>;

/// `The answer is …` in several languages; the value follows.
static ANNOUNCED: Words = LazyLock::new(|| {
    let nouns = r"\b(?:answer|ans|antwort|réponse|reponse|respuesta|risposta|resposta|antwoord)\b|\bcorrect (?:choice|option)\b|ответ|答案|答え|답";
    let verbs = r"\b(?:is|are|was|ist|lautet|est|es|è|é|should be|must be)\b|[:=：]|是|为|為|は|은|는";
    let heading = r"(?:\bfinal\s+)?\banswer\b[\s*_:#]*$";
    Regex::new(&format!(r"(?i)####|(?:{nouns})[^.!?\n]{{0,60}}?(?:{verbs})[\s:：]*|{heading}")).ok()
});
/// The words before an announcement that make it someone else's, or a case among others.
static REPORTED: Words = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:if|might|would|may|could|people|some|someone|students?|you|not)\b[^,;]*$").ok()
});
/// The value is behind the answer: `24 is the answer`.
static REVERSED: Words = LazyLock::new(|| {
    Regex::new(r"(?i)^(.{1,200}?)\bis\s+(?:the|my|our)\s+(?:final\s+|correct\s+)*answer\b").ok()
});
static CORRECTION: Words = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:wait|actually|correction|mistaken?|incorrect|oops|scratch that|should be|(?:is|was|'s) (?:wrong|false)|not (?:right|correct))\b").ok()
});
/// A sentence after the answer that is about the answer.
static REMARK: Words = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^\W*(?:let me know|i hope|hope (?:this|that)|would you|do you|shall i|should i|want me|feel free|",
        r"(?:you|we) can (?:check|verify)|check\w*\b|verif\w*|to (?:check|verify)|note\b|remark\b|this (?:is consistent|agrees|matches|completes|confirms)|",
        r"confidence|q\.?e\.?d|thank|please|as (?:required|desired|expected)|for reference|source)",
        r"|^\W*\\?(?:blacksquare|square|qed|checkmark)\W*$"
    ))
    .ok()
});
/// Words of a sentence that concludes nothing.
static OPEN: Words = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\bwere\b.*\bwould\b|\b(?:might|maybe|perhaps|possibly|guess|unsure|unknown|undetermined|unclear|depends?|ambiguous|",
        r"unable|insufficient|either|n/a|attempt\w*|sorry|unfortunately|let me|let(?:'|’)s|would need|need to know|ran out|",
        r"(?:i|we) (?:need to|must|should|have to|guess|cannot|can(?:'|’)t|could(?:n(?:'|’)t| not)|do(?: not|n(?:'|’)t))|",
        r"not (?:sure|able|enough|given|known)|no single|impossible|suppose|assume|to consider)\b"
    ))
    .ok()
});
/// A plan, where the reply breaks off behind it.
static PLANNED: Words =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:i|we)(?: will| shall|'ll|’ll)\b|^\W*first\b").ok());
/// A negation of what follows.
static NEGATED: Words =
    LazyLock::new(|| Regex::new(r"(?i)(?:\b(?:not|never|nor|cannot)|n(?:'|’)t)(?:\s+\w+)?\W*$").ok());

fn matches(words: &Words, text: &str) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(text))
}

/// What stands behind the last announcement of an answer in a sentence; it may be blank.
pub(super) fn announced(sentence: &str) -> Option<&str> {
    if sentence.trim_end().ends_with('?') && !sentence.contains(':') {
        return None;
    }
    if let Some(found) = REVERSED.as_ref()?.captures(sentence) {
        return found.get(1).map(|value| value.as_str());
    }
    let found = ANNOUNCED.as_ref()?.find_iter(sentence).last()?;
    (!matches(&REPORTED, &sentence[..found.start()])).then(|| &sentence[found.end()..])
}

/// The part of an announced value that is asserted: `7` of `not 6 but 7`, and of `the root of 49, i.e. 7`.
pub(super) fn asserted(value: &str) -> Option<&str> {
    let value = ["i.e.", "that is,", "in other words"]
        .iter()
        .fold(value, |value, words| value.rsplit_once(words).map_or(value, |(_, rest)| rest));
    let lower = value.trim_start_matches(|c: char| !c.is_alphanumeric());
    if lower.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("not ")) {
        return value.split_once(" but ").map(|(_, rest)| rest);
    }
    let before_reason = value.find(" because ").map_or(value, |at| &value[..at]);
    let hedged = ["either ", "depends", "unknown", "somewhere", "between ", "undefined"];
    let start = before_reason.trim_start();
    (!hedged.iter().any(|word| start.starts_with(word))).then_some(before_reason)
}

/// Whether a sentence takes back what was said before it.
pub(super) fn is_correction(sentence: &str) -> bool {
    matches(&CORRECTION, sentence)
}

/// The sentences that may conclude something, from the last one back, each from its last "so" on. Nothing is concluded
/// before a question or an open end.
pub(super) fn concluding<'s>(sentences: &'s [Sentence<'_>]) -> impl Iterator<Item = &'s str> {
    let said = sentences.iter().rev().filter(|sentence| !matches(&REMARK, sentence.text));
    let mut last = true;
    said.take(3).map_while(move |sentence| {
        let text = sentence.text;
        let open = text.trim_end().ends_with(['?', '？']) || matches(&OPEN, text);
        let ends = std::mem::take(&mut last) && !sentence.is_complete;
        let broken_off = ends
            && (matches(&PLANNED, text)
                || !text.contains(|c: char| c.is_ascii_digit() || "$\\π√∞".contains(c)));
        (!open && !broken_off).then_some(clause(text))
    })
}

/// Whether the words before an answer negate it.
pub(super) fn is_negated(before: &str) -> bool {
    matches(&NEGATED, before)
}

/// The part behind the reason of `Since …, …` and behind the last "so", up to a "for every".
fn clause(sentence: &str) -> &str {
    let text = behind_so(sentence);
    let text = text.find(" for every ").filter(|at| *at > 3).map_or(text, |at| &text[..at]);
    let reason = ["since ", "because ", "as ", "given "];
    let start = text.get(..8).unwrap_or_default().to_lowercase();
    if !reason.iter().any(|word| start.starts_with(word)) {
        return text;
    }
    let formulas = formulas(text);
    let comma = text.match_indices(", ").find(|(at, _)| !formulas.iter().any(|formula| formula.contains(at)));
    comma.map_or(text, |(at, _)| &text[at + 2..])
}

fn behind_so(sentence: &str) -> &str {
    const WORDS: [&str; 12] = [
        "so ",
        "thus ",
        "hence ",
        "therefore ",
        "therefore, ",
        "thus, ",
        "hence, ",
        "but ",
        "finally ",
        "i.e. ",
        "that is ",
        "that is, ",
    ];
    let lower = sentence.to_ascii_lowercase();
    let starts = WORDS.iter().filter_map(|word| {
        let found = lower
            .match_indices(word)
            .filter(|(at, _)| !lower[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '\\'));
        found.last().map(|(at, word)| at + word.len())
    });
    let at = starts.filter(|at| sentence[*at..].contains(|c: char| c.is_alphanumeric())).max().unwrap_or(0);
    &sentence[at..]
}
