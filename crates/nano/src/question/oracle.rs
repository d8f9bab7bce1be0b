//! The oracle: parses questions of the nano world.

use super::form::Form;
use super::phrase::{gaps, plain};
use super::{Question, families};
use std::sync::LazyLock;

/// Longer texts are not parsed.
const MAX_LENGTH: usize = 400;

/// All phrasings, normalized.
static PHRASINGS: LazyLock<Vec<(String, &'static Form)>> = LazyLock::new(|| {
    let forms = families::forms();
    forms.flat_map(|form| form.phrasings.iter().map(move |text| (plain(text), form))).collect()
});

/// Parses a question; `None` if the text does not match a phrasing.
pub fn parse_question(text: &str) -> Option<Question> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let short = plain(text);
    let (form, numbers) =
        PHRASINGS.iter().find_map(|(phrasing, form)| Some((*form, gaps(phrasing, &short)?)))?;
    Some(Question { form, numbers, text: text.trim().to_owned() })
}
