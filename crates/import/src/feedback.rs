//! Finds the answers of both solvers in a message to the asker.

use aske_session::{Pack, Section};

/// Maximum characters before the colon of a line that introduces an answer.
const MAX_LABEL_CHARS: usize = 40;

/// The answers of Model 1 and Model 2 in a message; `None` if they cannot be found.
///
/// Exact for a message of one of the packs. Otherwise a line that names Model 1 before a colon starts its answer, and one
/// that names Model 2 the other, up to the paragraph that asks for the next sections. A message that names Model 2 more
/// than once is ambiguous, as an answer could imitate the label of the other.
pub(crate) fn answers<'m>(packs: &[Pack], message: &'m str) -> Option<[&'m str; 2]> {
    packs.iter().find_map(|pack| pack.answers(message)).or_else(|| labelled(message))
}

fn labelled(message: &str) -> Option<[&str; 2]> {
    let labels = |which: [&'static str; 2]| {
        lines(message).filter_map(move |(at, line)| Some((at, at + label(line, which)?)))
    };
    let (_, begin) = labels(["model 1", "model a"]).next()?;
    let mut seconds = labels(["model 2", "model b"]);
    let (end, after) = seconds.next()?;
    if begin > end || seconds.next().is_some() {
        return None;
    }
    Some([message[begin..end].trim(), until_instructions(&message[after..]).trim()])
}

/// The lines of a text with their byte offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let begin = *at;
        *at += line.len();
        Some((begin, line))
    })
}

/// The offset of the answer in a line that introduces one of these models.
fn label(line: &str, names: [&str; 2]) -> Option<usize> {
    let colon = line.find(':')?;
    let before = line[..colon].to_ascii_lowercase();
    let name = names.into_iter().find_map(|name| before.find(name).map(|at| (at, name.len())));
    let (at, length) = name?;
    let whole = !before[at + length..].starts_with(|c: char| c.is_alphanumeric());
    let after = line[colon + 1..].trim_start_matches(['*', '_']);
    (whole && before.chars().count() <= MAX_LABEL_CHARS).then(|| line.len() - after.len())
}

/// The text before the first paragraph that names a section of the asker's reply.
fn until_instructions(text: &str) -> &str {
    let mut at = 0;
    for paragraph in text.split_inclusive("\n\n") {
        if Section::ALL.into_iter().any(|section| section.is_in(paragraph)) {
            return &text[..at];
        }
        at += paragraph.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_session::Domain;

    #[test]
    fn the_wording_of_the_paper_is_read() {
        // The labels and the end of the appendix's prompt "Probing feedback".
        let message = "Model 1 answered:\nI added.\n\n\\boxed{67}\n\nModel 2 answered:\n\\boxed{68}\n\nUse #Reasoning# to go on.\n\n#Draft#\n";
        assert_eq!(answers(&[], message), Some(["I added.\n\n\\boxed{67}", "\\boxed{68}"]));
        let last =
            "Model 1 answered:\na\n\nModel 2 answered:\nb\n\nThis was the last. Use #Reasoning# to:\n- x";
        assert_eq!(answers(&[], last), Some(["a", "b"]));
    }

    #[test]
    fn other_wordings_are_read_with_tolerance() {
        for message in [
            "**Model A:** 4\n**Model B:** 5",
            "Results.\n\n### Response of Model 1:\n4\n### Response of Model 2:\n5\n",
            "model 1 said: 4\nmodel 2 said: 5\n\nNow write #Question#.",
        ] {
            assert_eq!(answers(&[], message), Some(["4", "5"]), "{message}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_read() {
        for message in [
            "Write all three sections.",
            "Model 1 answered:\n4",
            "Model 2 answered:\n4\n\nModel 1 answered:\n5",
            "Model 1 answered:\n4\nModel 2 answered:\n9\n\nModel 2 answered:\n5",
            "Model 10 answered: 4\nModel 20 answered: 5",
        ] {
            assert_eq!(answers(&[], message), None, "{message}");
        }
    }

    #[test]
    fn a_message_of_a_pack_is_read_exactly() {
        // In a pack's own message even an answer that speaks like the message is told apart.
        let pack = Pack::parse(&{
            let mut files = Pack::builtin_files(&Domain::math());
            files.insert(
                "asker_next.txt".into(),
                "<1>{{boundary_a_answer}}</1><2>{{boundary_b_answer}}</2>".into(),
            );
            files
        })
        .unwrap();
        assert_eq!(answers(&[pack], "<1>Model 2: 9</1><2>5</2>"), Some(["Model 2: 9", "5"]));
    }
}
