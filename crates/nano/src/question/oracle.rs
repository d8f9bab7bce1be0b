//! The oracle: it reads a question of the nano world's language and knows the answer.

use super::form::Form;
use super::phrase::{gaps, plain};
use super::{Question, families};
use std::sync::LazyLock;

/// Texts longer than this are none of ours.
const LONGEST: usize = 400;

/// Every phrasing with what carries no meaning left out.
static PHRASINGS: LazyLock<Vec<(String, &'static Form)>> = LazyLock::new(|| {
    let forms = families::forms();
    forms.flat_map(|form| form.phrasings.iter().map(move |text| (plain(text), form))).collect()
});

/// The question that a text asks; none where the text is not of the nano world's language.
pub fn understand(text: &str) -> Option<Question> {
    if text.len() > LONGEST {
        return None;
    }
    let short = plain(text);
    let (form, numbers) =
        PHRASINGS.iter().find_map(|(phrasing, form)| Some((*form, gaps(phrasing, &short)?)))?;
    Some(Question { form, numbers, text: text.trim().to_owned() })
}
