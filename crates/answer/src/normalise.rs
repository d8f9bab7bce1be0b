//! Text normalisation before any comparison: removes wrappers, delimiters and spacing that carry no meaning.

/// Commands that only wrap their argument.
const WRAPPERS: &[&str] = &["boxed", "text", "mathrm", "textbf", "mathbf", "mbox", "textrm", "textit"];
/// Commands that only space or size.
const SPACING: &[&str] = &["left", "right", "quad", "qquad", "displaystyle", "limits"];

/// `answer` without `\boxed`, `\text` and `\mathrm` wrappers, math delimiters, `\left`/`\right` and LaTeX
/// spacing; runs of white space become one space and a closing full stop goes.
pub fn normalise(answer: &str) -> String {
    let mut out = String::with_capacity(answer.len());
    // For each open brace: does it belong to a wrapper, and so vanish?
    let mut braces: Vec<bool> = Vec::new();
    let mut rest = answer;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = command(rest, &mut out, &mut braces),
            '$' => {}
            '{' => {
                braces.push(false);
                out.push('{');
            }
            '}' => {
                if !braces.pop().unwrap_or(false) {
                    out.push('}');
                }
            }
            '~' | '\u{a0}' | '\u{2009}' | '\u{202f}' => out.push(' '),
            '−' | '–' => out.push('-'),
            _ => out.push(c),
        }
    }
    let spaced = out.split_whitespace().collect::<Vec<_>>().join(" ");
    spaced.trim_end_matches('.').trim_end().to_owned()
}

/// Handles what follows a backslash and returns what is left to read.
fn command<'a>(rest: &'a str, out: &mut String, braces: &mut Vec<bool>) -> &'a str {
    let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (name, after) = rest.split_at(letters);
    if name.is_empty() {
        // `\,` `\;` `\:` `\!` `\ ` space; `\(` `\)` `\[` `\]` delimit; anything else stands for itself.
        let Some(c) = after.chars().next() else { return after };
        let tail = &after[c.len_utf8()..];
        match c {
            ',' | ';' | ':' | '!' | ' ' => out.push(' '),
            '(' | ')' | '[' | ']' => {}
            '%' | '$' | '#' | '&' | '_' => out.push(c),
            _ => {
                out.push('\\');
                out.push(c);
            }
        }
        return tail;
    }
    if WRAPPERS.contains(&name)
        && let Some(inside) = after.trim_start().strip_prefix('{')
    {
        braces.push(true);
        return inside;
    }
    if SPACING.contains(&name) {
        out.push(' ');
        return after;
    }
    out.push('\\');
    out.push_str(match name {
        "dfrac" | "tfrac" => "frac",
        other => other,
    });
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dressing_is_dropped() {
        assert_eq!(normalise(r"\boxed{\text{Yes}}"), "Yes");
        assert_eq!(normalise(r"$\left( 1,\, 2 \right)$"), "( 1, 2 )");
        assert_eq!(normalise(r"\(x\)."), "x");
        assert_eq!(normalise(r"\dfrac{1}{2}"), r"\frac{1}{2}");
        assert_eq!(normalise(r"50\%"), "50%");
        assert_eq!(normalise(r"\{1,2\}"), r"\{1,2\}");
    }
}
