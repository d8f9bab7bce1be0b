//! Renders LaTeX to MathML.

use super::check::checked;
use crate::text::hidden;
use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum nesting depth of groups, and of commands that may take each other as arguments.
const MAX_DEPTH: usize = 60;

/// The formula as a checked `<math>` element; none if it cannot or must not be rendered.
pub(super) fn mathml(tex: &str, display: bool) -> Option<String> {
    if tex.contains(hidden) || defines(tex) || counts(tex) || too_deep(tex) {
        return None;
    }
    let tex = boxed(tex);
    let display_mode = if display { DisplayMode::Block } else { DisplayMode::Inline };
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    // The renderer may panic on hostile input; the source is shown then.
    let written = catch_unwind(AssertUnwindSafe(|| {
        let storage = Storage::new();
        let mut written = String::new();
        push_mathml(&mut written, Parser::new(&tex, &storage), config).ok().map(|()| written)
    }));
    checked(&written.ok().flatten()?)
}

/// The renderer does not support `\boxed{…}`: replaces it with a one-cell table with borders.
fn boxed(tex: &str) -> Cow<'_, str> {
    const BOXED: &str = "\\boxed{";
    let mut out = String::new();
    let mut rest = tex;
    while let Some((before, after)) = rest.split_once(BOXED) {
        let mut depth = 1_usize;
        let close = after.bytes().position(|byte| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(close) = close else { break };
        out.push_str(before);
        out.push_str("\\begin{array}{|c|}\\hline ");
        out.push_str(&after[..close]);
        out.push_str("\\\\ \\hline\\end{array}");
        rest = &after[close + 1..];
    }
    if out.is_empty() { tex.into() } else { (out + rest).into() }
}

/// Whether it defines commands: a few that each use the last one twice would expand exponentially.
fn defines(tex: &str) -> bool {
    ["\\def", "\\let", "\\futurelet", "command"].iter().any(|define| tex.contains(define))
}

/// Whether it uses character or column numbers: the renderer expects ASCII there, and the former can disguise characters.
fn counts(tex: &str) -> bool {
    tex.contains("\\char") || (!tex.is_ascii() && tex.contains("at}"))
}

fn too_deep(tex: &str) -> bool {
    let (mut depth, mut row) = (0_usize, 0_usize);
    let mut name = false;
    for c in tex.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // `\sqrt\sqrt\sqrt x` nests without braces.
        match c {
            '\\' => (row, name) = (row + 1, true),
            _ if (name && c.is_ascii_alphabetic()) || c.is_whitespace() || "{[^_".contains(c) => {}
            _ => (row, name) = (0, false),
        }
        if depth > MAX_DEPTH || row > MAX_DEPTH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_formula_becomes_mathematics() {
        let half = mathml(r"\frac{1}{2} < x", false).unwrap();
        assert!(
            half.starts_with("<math display=\"inline\"><mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn>"),
            "{half}"
        );
        assert!(half.contains("<mo>&lt;</mo>"), "{half}");
        assert!(mathml("x", true).unwrap().contains("display=\"block\""));
        for tex in [
            r"\sum_{i=1}^{n} i^2",
            r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
            r"\boxed{42}",
            r"a\,b\quad c",
            r"\left( \frac{a}{b} \right]",
            r"\text{if } x \ne 0",
            r"\sqrt[3]{2}",
            r"\big( x \big)",
            r"50\%",
            r"\begin{cases} 1 & x>0 \\ 0 & \text{else} \end{cases}",
            r"\overline{AB} \parallel \vec{v}",
            "x'",
            r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
            r"\lfloor x \rfloor",
            r"\binom{5}{2}",
            "a & b",
        ] {
            assert_eq!(mathml(tex, true).is_some(), tex != "a & b", "{tex}");
        }
    }

    #[test]
    fn hostile_formulas_are_harmless_or_stay_text() {
        for tex in [
            r"\href{javascript:alert(1)}{x}",
            r"\url{javascript:alert(1)}",
            r"\style{background:url(x)}{y}",
            r"\def\a{x}\a",
            r"\newcommand{\a}{\b\b}",
            r"\let\a=b",
            "a\u{202e}b",
            "\\unknown",
            r"\class{a}{b}",
            r"\char 8",
            r"\htmlData{onclick=alert(1)}{x}",
            r"\includegraphics{http://x}",
        ] {
            assert_eq!(mathml(tex, false), None, "{tex}");
        }
        let text = mathml(r"\text{<img src=x onerror=alert(1)>}", false).unwrap();
        assert!(text.contains("&lt;img") && !text.contains("<img"), "{text}");
        let coloured = mathml(r"\color{red} x", false).unwrap();
        assert!(!coloured.contains("style"), "{coloured}");
    }

    #[test]
    fn deep_formulas_stay_text_and_take_no_stack() {
        for open in [
            "{",
            r"\sqrt{",
            r"\sqrt",
            r"\hat",
            r"\frac",
            "x^{",
            "^",
            r"\left(",
            r"\begin{matrix}",
            r"\not",
            "x_",
        ] {
            for count in [50, 200, 1_900] {
                let tex = open.repeat(count.min(1_900 / open.len()));
                let _ = mathml(&tex, false);
                let _ = mathml(&format!("{tex}x{}", "}".repeat(count)), true);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn any_formula_is_rendered_or_refused(parts in proptest::collection::vec(prop::sample::select(vec![
            "\\frac", "{", "}", "x", "1", "^", "_", "&", "\\\\", "\\left(", "\\right)", "\\begin{matrix}", "#",
            "\\end{matrix}", "\\text{", "<", ">", "%", "\n", "~", "'", "\\sqrt[", "]", "\\color{red}", "\\char", "\"",
            "é", "\\", "\\hspace{", "1em", "\\big", "\\not", "\\limits", "\\sum", "\\mathbb", "\\begin{array}{c|c}",
            "\\end{array}", "\\hline", "\\phantom", "\\operatorname", "\\substack", "-", ".", "\\tag{1}", "[2pt]", "\\begin{alignedat}{", "\\end{alignedat}", "\\begin{cases}", "\\end{cases}", "\\boxed{",
            "\\overset", "\\color[", "\\rule{", "\\mathrm{", "\\middle|", "\\dots", "\\mod", "\\genfrac", "\\kern", "\\raisebox",
        ]), 0..14)) {
            let tex: String = parts.concat();
            if let Some(mathml) = mathml(&tex, false) {
                prop_assert_eq!(checked(&mathml), Some(mathml));
            }
        }
    }
}
