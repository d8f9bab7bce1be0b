//! Text normalisation before parsing: fixed replacements, words, units, malformed operators.

mod passes;
mod repair;
mod units;

use super::extract::last_equation;
use super::parse::Normalisation;

/// The text as math-verify parses and compares it.
pub(super) fn normalise(text: &str) -> String {
    normalise_with(text, Normalisation::LATEX)
}

/// The text after these steps; the boxes are left to the caller.
pub(super) fn normalise_with(text: &str, steps: Normalisation) -> String {
    let mut text = if steps.basic_latex { basic(text) } else { text.to_owned() };
    if steps.equations
        && let Some(last) = last_equation(&text)
    {
        text = String::from(last);
    }
    if steps.units {
        if let Some(shorter) = units::without_text(&text) {
            text = shorter;
        }
        for _ in 0..2 {
            if let Some(shorter) = units::without_unit(&text) {
                text = shorter;
            }
        }
    }
    if steps.nits {
        if text.starts_with('.') {
            text.insert(0, '0');
        }
        if text == "0.5" {
            r"\frac{1}{2}".clone_into(&mut text);
        }
    }
    if steps.malformed_operators {
        text = repair::operators(text);
    }
    text.trim().to_owned()
}

fn basic(text: &str) -> String {
    let mut text = text.to_owned();
    for (old, new) in [
        (r"\mathrm{T}", "T"),
        (r"\mathrm{d}", "d"),
        (r"{\rm d}", "d"),
        (r"\left[\begin{matrix}", r"\begin{bmatrix}"),
        (r"\end{matrix}\right]", r"\end{bmatrix}"),
    ] {
        if text.contains(old) {
            text = text.replace(old, new);
        }
    }
    text = passes::without_left_right(text);
    text = repair::permutations(text);
    text = passes::removed(&text).into_owned();
    text = passes::replaced(&text);
    if text.contains(['\n', '\t']) {
        text = text.replace(['\n', '\t'], " ");
    }
    if text.contains(r"\\") && !text.contains("matrix") {
        text = passes::single_backslashes(&text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::normalise;

    /// Each with its canonical form by math-verify 0.9.0.
    #[test]
    fn forms() {
        for (text, expected) in [
            (r"\dfrac12", r"\frac{1}{2}"),
            (r"5\text{ cm}^2", "5"),
            (r"1-\frac{1}{\mathrm{e}}", r"1-\frac{1}{"),
            (r"2ab", "2"),
            (r"12 square feet", "12"),
            (r"\cos t", r"\cos"),
            (r"0.5", r"\frac{1}{2}"),
            (r"\frac{1}{\log_{5} 12}", r"\frac{1}{\log_{5}{1}2}"),
            (r"\left(1,2\right]", "(1,2]"),
            (r"x=1 \text{ or } x=2", "x=1, x=2"),
            (r"5 percent", r"5\%"),
            (r"1{,}234", "1,234"),
            (r"\frac\pi4", r"\frac{\}{p}i4"),
            (r"\sqrt3", r"\sqrt{3}"),
            (r"3/4", r"\frac{3}{4}"),
            (r"(5)_{2}", r"\frac{(5)!}{((5)-(2))!}"),
        ] {
            assert_eq!(normalise(text), expected, "{text}");
        }
    }
}
