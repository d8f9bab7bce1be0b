//! LaTeX equivalents of mathematical Unicode.

/// The number in a circle: `①`.
pub(crate) fn circled(c: char) -> Option<u32> {
    ('①'..='⑳').contains(&c).then(|| u32::from(c) - u32::from('①') + 1)
}

/// What a character stands for, or `None` where it stands for itself.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn latex(c: char) -> Option<&'static str> {
    Some(match c {
        '−' | '–' | '—' | '‐' | '‑' | '﹣' => "-",
        '×' | '✕' | '✖' | '⨯' => "\\times ",
        '·' | '⋅' | '∙' | '•' | '∗' => "*",
        '÷' => "\\div ",
        '∕' | '⁄' => "/",
        '≤' | '⩽' | '≦' => "\\le ",
        '≥' | '⩾' | '≧' => "\\ge ",
        '≠' => "\\ne ",
        '≈' | '≃' => "\\approx ",
        '≅' => "\\cong ",
        '∥' => "\\parallel ",
        '⊥' => "\\perp ",
        '∠' => "\\angle ",
        '△' => "\\triangle ",
        '⊂' => "\\subset ",
        '⊃' => "\\supset ",
        '⊆' => "\\subseteq ",
        '¬' => "\\neg ",
        '∀' => "\\forall ",
        '∃' => "\\exists ",
        '∂' => "\\partial ",
        '∶' => ":",
        '✓' | '✔' => "\\checkmark ",
        '℃' => "^\\circ C",
        '℉' => "^\\circ F",
        '¢' => "\\text{ cents}",
        '≡' => "\\equiv ",
        '±' => "\\pm ",
        '∓' => "\\mp ",
        '∞' => "\\infty ",
        '√' => "\\sqrt ",
        '∛' => "\\sqrt[3]",
        '∜' => "\\sqrt[4]",
        '∑' => "\\sum ",
        '∏' => "\\prod ",
        '∫' => "\\int ",
        '∪' => "\\cup ",
        '∩' => "\\cap ",
        '∖' => "\\setminus ",
        '∈' => "\\in ",
        '∉' => "\\notin ",
        '∅' | '⌀' => "\\emptyset ",
        'ℝ' => "\\R ",
        'ℤ' => "\\Z ",
        'ℕ' => "\\N ",
        'ℚ' => "\\Q ",
        'ℂ' => "\\C ",
        '→' => "\\to ",
        '⇒' | '⟹' | '∴' => "\\implies ",
        '⇔' | '⟺' => "\\iff ",
        '∧' => "\\land ",
        '∨' => "\\lor ",
        '⌊' => "\\lfloor ",
        '⌋' => "\\rfloor ",
        '⌈' => "\\lceil ",
        '⌉' => "\\rceil ",
        '⟨' | '〈' => "\\langle ",
        '⟩' | '〉' => "\\rangle ",
        '∣' => "|",
        '°' | '˚' | 'º' => "^\\circ ",
        '′' | '’' | '‘' => "'",
        '…' | '⋯' => "\\dots ",
        '、' => ",",
        '【' => "[",
        '】' => "]",
        '。' => ".",
        '€' => "\\euro ",
        '£' => "\\pounds ",
        'π' | '𝜋' | 'ℼ' => "\\pi ",
        'ℯ' | '𝑒' => "e",
        'ⅈ' | '𝑖' => "i",
        'α' => "\\alpha ",
        'β' => "\\beta ",
        'γ' => "\\gamma ",
        'δ' => "\\delta ",
        'ε' | 'ϵ' => "\\epsilon ",
        'ζ' => "\\zeta ",
        'η' => "\\eta ",
        'θ' | 'ϑ' => "\\theta ",
        'κ' => "\\kappa ",
        'λ' => "\\lambda ",
        'μ' | 'µ' => "\\mu ",
        'ι' => "\\iota ",
        'Ξ' => "\\Xi ",
        'Π' => "\\Pi ",
        'ν' => "\\nu ",
        'ξ' => "\\xi ",
        'ρ' => "\\rho ",
        'σ' => "\\sigma ",
        'τ' => "\\tau ",
        'φ' | 'ϕ' => "\\phi ",
        'χ' => "\\chi ",
        'ψ' => "\\psi ",
        'ω' => "\\omega ",
        'Γ' => "\\Gamma ",
        'Δ' | '∆' => "\\Delta ",
        'Θ' => "\\Theta ",
        'Λ' => "\\Lambda ",
        'Σ' => "\\Sigma ",
        'Φ' => "\\Phi ",
        'Ψ' => "\\Psi ",
        'Ω' => "\\Omega ",
        'ℓ' => "\\ell ",
        '½' => "\\frac12",
        '⅓' => "\\frac13",
        '⅔' => "\\frac23",
        '¼' => "\\frac14",
        '¾' => "\\frac34",
        '⅕' => "\\frac15",
        '⅖' => "\\frac25",
        '⅗' => "\\frac35",
        '⅘' => "\\frac45",
        '⅙' => "\\frac16",
        '⅚' => "\\frac56",
        '⅛' => "\\frac18",
        '⅜' => "\\frac38",
        '⅝' => "\\frac58",
        '⅞' => "\\frac78",
        _ => return None,
    })
}

/// The character that a superscript raises.
pub(crate) fn superscript(c: char) -> Option<char> {
    Some(match c {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        '⁺' => '+',
        '⁻' => '-',
        '⁽' => '(',
        '⁾' => ')',
        'ⁿ' => 'n',
        'ⁱ' => 'i',
        'ˣ' => 'x',
        _ => return None,
    })
}

/// The character that a subscript lowers.
pub(crate) fn subscript(c: char) -> Option<char> {
    Some(match c {
        '₀' => '0',
        '₁' => '1',
        '₂' => '2',
        '₃' => '3',
        '₄' => '4',
        '₅' => '5',
        '₆' => '6',
        '₇' => '7',
        '₈' => '8',
        '₉' => '9',
        'ₙ' => 'n',
        'ᵢ' => 'i',
        'ₖ' => 'k',
        _ => return None,
    })
}

/// White space of every kind, some of which Rust does not count as such.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{2061}' | '\u{2062}' | '\u{2063}')
}

/// The usual form of a full-width letter, digit or sign.
pub(crate) fn half_width(c: char) -> char {
    // Mathematical italics.
    if let '\u{1d434}'..='\u{1d467}' = c {
        let at = u32::from(c) - 0x1d434;
        return char::from_u32(if at < 26 { 65 + at } else { 97 + at - 26 }).unwrap_or(c);
    }
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    }
}
