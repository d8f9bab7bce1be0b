//! Removal of units at the end of an answer.

use regex::Regex;
use std::sync::LazyLock;

/// math-verify's list of units; a dot matches any character.
const UNITS: &str = "integerpoint|feet|sue|digit|pound|meal|edge|student|children ticket|multiple|east|degree|mph|\
    kmph|ft|m square| m east|sq m|deg|mile|q .|monkey|prime|ratio|profit of rs|rd|o|gm|p . m|lb|tile|per|dm|lt|gain|\
    ab|way|west|a .|b .|c .|d .|e .|f .|g .|h .|t|h|no change|men|soldier|pie|bc|excess|st|inches|noon|cent|by|gal|\
    kmh|c|acre|rise|a . m|th|π r 2|sq|mark|l|toy|coin|sq . m|gallon|° f|profit|minw|yr|women|am|pm|hr|cu cm|square|\
    v â € ™|are|rupee|rounds|cubic|cc|mtr|s|ohm|number|day|hour|minute|min|second|man|woman|sec|cube|mt|sq inch|mp|\
    ∏ cm ³|hectare|more|unit|cu . m|cm 2|rs .|rs|kg|g|month|km|m|cm|mm|apple|liter|loss|yard|pure|year|increase|\
    decrease|d|less|Surface|litre|pi sq m|s .|metre|meter|inch";

static UNIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(\d|\}}|\s)\s*(?:{UNITS})(?:s|es)?\s*$")).ok());

/// Removes a `\text{…}` or `\mbox{…}` that ends the text, from the first of them on.
pub(super) fn without_text(text: &str) -> Option<String> {
    let trimmed = |text: &str| {
        let short = text.trim();
        (!short.is_empty() && short.len() != text.len()).then(|| short.to_owned())
    };
    let first = [r"\text{", r"\mbox{"].iter().filter_map(|command| Some(text.find(command)? + 6)).min();
    let Some(inside) = first else { return trimmed(text) };
    let without_power = text.strip_suffix(char::is_numeric).and_then(|text| text.strip_suffix('^'));
    let body = without_power.unwrap_or(text);
    if !body.ends_with('}') || body.len() <= inside {
        return trimmed(text);
    }
    let short = text[..inside - 6].trim();
    (!short.is_empty()).then(|| short.to_owned())
}

/// Removes a unit in plain letters at the end.
pub(super) fn without_unit(text: &str) -> Option<String> {
    let mut back = text.trim_end().chars().rev();
    let last = back.next()?;
    if !last.is_alphabetic() && !back.next().is_some_and(char::is_whitespace) {
        return None;
    }
    let from = tail(text);
    let found = UNIT.as_ref()?.captures(&text[from..])?;
    let (whole, kept) = (found.get(0)?, found.get(1)?);
    let short = format!("{}{}", &text[..from + whole.start()], kept.as_str());
    (short != text).then_some(short)
}

/// Where a unit at the end may begin: the longest has sixteen letters, and two for the plural.
fn tail(text: &str) -> usize {
    let end = text.trim_end();
    let near = end.char_indices().rev().take(24).last().map_or(0, |(at, _)| at);
    let spaces = text[..near].trim_end();
    spaces.char_indices().next_back().map_or(0, |(at, _)| at)
}
