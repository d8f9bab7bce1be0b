//! The fixed tokens: commands, operators and words.

use super::token::{Bracket, Tok};
use aske_algebra::expr::Function as F;
use aske_algebra::relation::RelationOp;
use std::sync::LazyLock;

const COMMANDS: &[(&[&str], Tok)] = &[
    (
        &[
            ",",
            "thinspace",
            ":",
            "medspace",
            ";",
            "thickspace",
            "quad",
            "qquad",
            "!",
            "negthinspace",
            "negmedspace",
            "negthickspace",
            "$",
            "vrule",
            "vcenter",
            "vbox",
            "vskip",
            "vspace",
            "hfil",
        ],
        Tok::Skip,
    ),
    (&["over", "div"], Tok::Div),
    (&["times", "cdot"], Tok::Mul),
    (&["mod"], Tok::Mod),
    (&["("], Tok::Open(Bracket::ParenVisual)),
    (&[")"], Tok::Close(Bracket::ParenVisual)),
    (&["lgroup"], Tok::Open(Bracket::Group)),
    (&["rgroup"], Tok::Close(Bracket::Group)),
    (&["{"], Tok::Open(Bracket::BraceVisual)),
    (&["}"], Tok::Close(Bracket::BraceVisual)),
    (&["lbrace"], Tok::Open(Bracket::BraceCommand)),
    (&["rbrace"], Tok::Close(Bracket::BraceCommand)),
    (&["lbrack"], Tok::Open(Bracket::SquareCommand)),
    (&["rbrack"], Tok::Close(Bracket::SquareCommand)),
    (&["phantom"], Tok::Phantom),
    (&["boxed"], Tok::Boxed),
    (&["lvert"], Tok::Open(Bracket::Vert)),
    (&["rvert"], Tok::Close(Bracket::Vert)),
    (&["vert"], Tok::Vert),
    (&["|"], Tok::Norm),
    (&["langle"], Tok::Open(Bracket::Angle)),
    (&["rangle"], Tok::Close(Bracket::Angle)),
    (&["lfloor"], Tok::Open(Bracket::Floor)),
    (&["rfloor"], Tok::Close(Bracket::Floor)),
    (&["llcorner"], Tok::Open(Bracket::LowerCorner)),
    (&["lrcorner"], Tok::Close(Bracket::LowerCorner)),
    (&["lceil"], Tok::Open(Bracket::Ceil)),
    (&["rceil"], Tok::Close(Bracket::Ceil)),
    (&["ulcorner"], Tok::Open(Bracket::UpperCorner)),
    (&["urcorner"], Tok::Close(Bracket::UpperCorner)),
    (&["lim"], Tok::Lim),
    (&["to", "rightarrow", "Rightarrow", "longrightarrow", "Longrightarrow"], Tok::Approach),
    (&["int"], Tok::Int),
    (&["sum"], Tok::Sum),
    (&["prod"], Tok::Prod),
    (&["log"], Tok::Log),
    (&["ln"], Tok::Ln),
    (&["exp"], Tok::Exp),
    (&["sin"], Tok::Function(F::Sin)),
    (&["cos"], Tok::Function(F::Cos)),
    (&["tan"], Tok::Function(F::Tan)),
    (&["csc"], Tok::Function(F::Csc)),
    (&["sec"], Tok::Function(F::Sec)),
    (&["cot"], Tok::Function(F::Cot)),
    (&["Gamma", "gamma"], Tok::Gamma),
    (&["arcsin"], Tok::Function(F::Arcsin)),
    (&["arccos"], Tok::Function(F::Arccos)),
    (&["arctan"], Tok::Function(F::Arctan)),
    (&["arccsc"], Tok::Function(F::Arccsc)),
    (&["arcsec"], Tok::Function(F::Arcsec)),
    (&["arccot"], Tok::Function(F::Arccot)),
    (&["sinh"], Tok::Function(F::Sinh)),
    (&["cosh"], Tok::Function(F::Cosh)),
    (&["tanh"], Tok::Function(F::Tanh)),
    (&["arsinh", "arcsinh"], Tok::Function(F::Arsinh)),
    (&["arcosh", "arccosh"], Tok::Function(F::Arcosh)),
    (&["artanh", "arctanh"], Tok::Function(F::Artanh)),
    (&["floor"], Tok::Function(F::Floor)),
    (&["ceil"], Tok::Function(F::Ceil)),
    (&["det"], Tok::Det),
    (&["sqrt"], Tok::Sqrt),
    (&["gcd"], Tok::Several(F::Gcd)),
    (&["lcm"], Tok::Several(F::Lcm)),
    (&["max"], Tok::Several(F::Max)),
    (&["min"], Tok::Several(F::Min)),
    (&["frac", "dfrac", "tfrac", "cfrac"], Tok::Frac),
    (&["binom", "tbinom", "dbinom"], Tok::Binom),
    (&["choose"], Tok::Choose),
    (&["mathit"], Tok::Other),
    (&["operatorname"], Tok::Operator),
    (&["begin{matrix}", "begin{pmatrix}", "begin{bmatrix}"], Tok::MatrixStart),
    (&["end{matrix}", "end{pmatrix}", "end{bmatrix}"], Tok::MatrixEnd),
    (&["end{array}"], Tok::ArrayEnd),
    (&["begin{vmatrix}"], Tok::DetStart),
    (&["end{vmatrix}"], Tok::DetEnd),
    (&["\\"], Tok::Row),
    (&["exponentialE"], Tok::E),
    (&["xrightarrow", "xRightarrow", "leftrightarrow", "Leftrightarrow"], Tok::Other),
    (&["in"], Tok::In),
    (&["notin"], Tok::NotIn),
    (&["equiv"], Tok::Relation(RelationOp::Equal)),
    (&["approx"], Tok::Near),
    (&["lt"], Tok::Relation(RelationOp::Less)),
    (&["leq", "le", "leqslant"], Tok::Relation(RelationOp::LessEqual)),
    (&["gt"], Tok::Relation(RelationOp::Greater)),
    (&["geq", "ge", "geqslant"], Tok::Relation(RelationOp::GreaterEqual)),
    (&["ne", "neq", "not\\equiv"], Tok::Relation(RelationOp::NotEqual)),
    (
        &[
            "alpha",
            "beta",
            "gamma ",
            "Gamma ",
            "delta",
            "Delta",
            "epsilon",
            "varepsilon",
            "zeta",
            "eta",
            "theta",
            "Theta",
            "vartheta",
            "iota",
            "kappa",
            "lambda",
            "Lambda",
            "mu",
            "nu",
            "xi",
            "Xi",
            "omicron",
            "pi",
            "Pi",
            "varpi",
            "rho",
            "varrho",
            "sigma",
            "Sigma",
            "varsigma",
            "tau",
            "upsilon",
            "Upsilon",
            "phi",
            "Phi",
            "varphi",
            "chi",
            "psi",
            "Psi",
            "omega",
            "Omega",
            "Bbbk",
            "wp",
            "nabla",
            "bigstar",
            "angle",
            "nexists",
            "diagdown",
            "measuredangle",
            "eth",
            "diagup",
            "sphericalangle",
            "clubsuit",
            "varnothing",
            "Diamond",
            "complement",
            "diamondsuit",
            "imath",
            "Finv",
            "triangledown",
            "heartsuit",
            "jmath",
            "Game",
            "triangle",
            "spadesuit",
            "ell",
            "hbar",
            "vartriangle",
            "hslash",
            "blacklozenge",
            "lozenge",
            "blacksquare",
            "mho",
            "blacktriangle",
            "sharp",
            "prime",
            "Im",
            "flat",
            "square",
            "backprime",
            "Re",
            "natural",
            "surd",
            "circledS",
        ],
        Tok::Named,
    ),
    (&["infty", "infty%", "infty\\%", "$\\infty"], Tok::Infinity),
    (&["partial"], Tok::Partial),
    (&["mathbb{N}"], Tok::Naturals),
    (&["mathbb{Z}"], Tok::Integers),
    (&["mathbb{Q}"], Tok::Rationals),
    (&["mathbb{R}"], Tok::Reals),
    (&["mathbb{C}"], Tok::Complexes),
    (&["mathbb{P}"], Tok::Primes),
    (&["cup"], Tok::Union),
    (&["cap"], Tok::Intersection),
    (&["setminus"], Tok::Minus),
    (&["pm", "mp"], Tok::PlusMinus),
    (&["emptyset", "{\\}", "lbrace\\rbrace"], Tok::Empty),
    (&["supseteq"], Tok::Superset),
    (&["subseteq"], Tok::Subset),
];

/// Commands that take what is in the braces after them as their name.
const ACCENTS: &[&str] = &[
    "acute",
    "bar",
    "overline",
    "breve",
    "check",
    "widecheck",
    "dot",
    "ddot",
    "grave",
    "hat",
    "tilde",
    "widetilde",
    "vec",
    "overrightarrow",
    "bm",
    "boldsymbol",
    "text",
    "textit",
    "textbf",
    "textnormal",
    "mathbb",
    "mathbin",
    "mathbf",
    "mathcal",
    "mathclap",
    "mathclose",
    "mathellipsis",
    "mathfrak",
    "mathinner",
    "mathit",
    "mathnormal",
    "mathop",
    "mathopen",
    "mathord",
    "mathpunct",
    "mathrel",
    "mathring",
    "mathrlap",
    "mathrm",
    "mathscr",
    "mathsf",
    "mathsterling",
    "mathtt",
    "mbox",
];

/// Bare words that are tokens of their own.
const WORDS: &[&str] = &[
    "arsinh",
    "arcsinh",
    "arcosh",
    "arccosh",
    "artanh",
    "arctanh",
    "gcd",
    "lcm",
    "floor",
    "ceil",
    "eye",
    "zeros",
    "ones",
    "cols",
    "rows",
    "diag",
    "norm",
    "rank",
    "trace",
    "tr",
    "rref",
    "hstack",
    "vstack",
    "orth",
    "ortho",
    "orthogonal",
    "orthogonalize",
    "nullspace",
    "eig",
    "eigen",
    "diagonalize",
    "eigenvals",
    "eigenvalues",
    "eigenvects",
    "eigenvectors",
    "svd",
    "SVD",
    "matrix",
    "pmatrix",
    "bmatrix",
    "vmatrix",
];

/// By the first byte after the backslash, the longest first.
static BY_BYTE: LazyLock<Vec<Vec<(&'static str, Tok)>>> = LazyLock::new(|| {
    let mut table: Vec<Vec<(&'static str, Tok)>> = vec![Vec::new(); 128];
    for (names, tok) in COMMANDS {
        for name in *names {
            if let Some(slot) = name.bytes().next().and_then(|byte| table.get_mut(usize::from(byte))) {
                slot.push((name, *tok));
            }
        }
    }
    for slot in &mut table {
        slot.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }
    table
});

/// The longest command at the start of what follows a backslash.
pub(super) fn command(rest: &str) -> Option<(usize, Tok)> {
    let slot = BY_BYTE.get(usize::from(*rest.as_bytes().first()?))?;
    let (name, tok) = slot.iter().find(|(name, _)| rest.starts_with(name))?;
    // A Greek letter or a symbol takes one space with it.
    let space =
        usize::from(*tok == Tok::Named && rest[name.len()..].starts_with(' ') && !name.ends_with(' '));
    Some((name.len() + space, *tok))
}

/// An accent with its braces at the start of what follows a backslash: how long it is.
pub(super) fn accent(rest: &str) -> Option<usize> {
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = &rest[..letters];
    let after = &rest[letters..];
    let space = usize::from(after.starts_with([' ', '\t', '\r', '\n']));
    if !after[space..].starts_with('{') || !ACCENTS.contains(&name) {
        return None;
    }
    Some(letters + space + after[space..].find('}')? + 1)
}

/// Words by their first byte.
static WORDS_BY_BYTE: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 128];
    for word in WORDS {
        if let Some(slot) = word.bytes().next().and_then(|byte| table.get_mut(usize::from(byte))) {
            slot.push(*word);
        }
    }
    table
});

/// The longest word at the start of the text.
pub(super) fn word(rest: &str) -> Option<usize> {
    let slot = WORDS_BY_BYTE.get(usize::from(*rest.as_bytes().first()?))?;
    slot.iter().filter(|word| rest.starts_with(**word)).map(|word| word.len()).max()
}

/// A sign that is one character.
pub(super) fn sign(c: char) -> Option<Tok> {
    Some(match c {
        ' ' | '\t' | '\r' | '\n' => Tok::Skip,
        '+' | '∔' | '⊕' | '⊞' => Tok::Add,
        '-' | '−' | '∸' => Tok::Sub,
        '*' | '×' | '⋅' | '⋄' | '⊡' | '∗' | '⋆' | '∘' | '∙' | '⊗' | '⊠' | '⋈' | '⋉' | '⋊' => {
            Tok::Mul
        }
        '/' | '÷' | '∕' | ':' => Tok::Div,
        '(' => Tok::Open(Bracket::Paren),
        ')' => Tok::Close(Bracket::Paren),
        '{' => Tok::Open(Bracket::Brace),
        '}' => Tok::Close(Bracket::Brace),
        '[' => Tok::Open(Bracket::Square),
        ']' => Tok::Close(Bracket::Square),
        '|' => Tok::Bar,
        '&' => Tok::Column,
        '_' => Tok::Under,
        '^' => Tok::Caret,
        ';' => Tok::Semicolon,
        ',' => Tok::Comma,
        '.' => Tok::Period,
        '!' => Tok::Bang,
        '\'' => Tok::Transpose,
        'e' => Tok::E,
        'E' => Tok::BigE,
        'a'..='z' | 'A'..='Z' => Tok::Letter,
        '=' | '≡' | '≣' | '≟' | '≎' | '≏' | '≐' | '≑' | '≒' | '≓' | '≔' | '≕' | '≖' | '≗' => {
            Tok::Equal
        }
        '≈' | '≊' | '≋' | '≃' | '≅' => Tok::Near,
        '<' | '≪' | '≺' | '⋖' => Tok::Relation(RelationOp::Less),
        '≤' | '≦' | '≲' | '≾' => Tok::Relation(RelationOp::LessEqual),
        '>' | '≫' | '≻' | '⋗' => Tok::Relation(RelationOp::Greater),
        '≥' | '≧' | '≳' | '≿' => Tok::Relation(RelationOp::GreaterEqual),
        '≠' | '≁' | '≄' | '≇' | '≉' | '≢' => Tok::Relation(RelationOp::NotEqual),
        'α' | 'β' | 'γ' | 'Γ' | 'δ' | 'Δ' | 'ε' | 'ϵ' | 'ζ' | 'η' | 'θ' | 'Θ' | 'ϑ' | 'ι' | 'κ' | 'λ'
        | 'Λ' | 'μ' | 'ν' | 'ξ' | 'Ξ' | 'ο' | 'π' | 'Π' | 'ϖ' | 'ρ' | 'ϱ' | 'σ' | 'Σ' | 'ς' | 'τ' | 'υ'
        | 'Υ' | 'φ' | 'Φ' | 'ϕ' | 'χ' | 'ψ' | 'Ψ' | 'ω' | 'Ω' | 'ℵ' | 'ℶ' | 'ℷ' | 'ℸ' => {
            Tok::Named
        }
        'ℕ' => Tok::Naturals,
        'ℤ' => Tok::Integers,
        'ℚ' => Tok::Rationals,
        'ℝ' => Tok::Reals,
        'ℂ' => Tok::Complexes,
        'ℙ' => Tok::Primes,
        '∪' => Tok::Union,
        '∩' => Tok::Intersection,
        '∖' => Tok::Minus,
        '±' | '∓' => Tok::PlusMinus,
        '∅' => Tok::Empty,
        '⊇' => Tok::Superset,
        '⊆' => Tok::Subset,
        '∉' => Tok::NotIn,
        _ => return None,
    })
}

/// Greek letters by their name.
pub(super) fn greek(c: char) -> Option<&'static str> {
    Some(match c {
        'α' => "alpha",
        'β' => "beta",
        'γ' | 'Γ' => "gamma",
        'δ' | 'Δ' => "delta",
        'ε' => "epsilon",
        'ϵ' => "varepsilon",
        'ζ' => "zeta",
        'η' => "eta",
        'θ' | 'Θ' => "theta",
        'ϑ' => "vartheta",
        'ι' => "iota",
        'κ' => "kappa",
        'λ' | 'Λ' => "lambda",
        'μ' => "mu",
        'ν' => "nu",
        'ξ' | 'Ξ' => "xi",
        'ο' => "omicron",
        'π' | 'Π' => "pi",
        'ϖ' => "varpi",
        'ρ' => "rho",
        'ϱ' => "varrho",
        'σ' | 'Σ' => "sigma",
        'ς' => "varsigma",
        'τ' => "tau",
        'υ' | 'Υ' => "upsilon",
        'φ' | 'Φ' => "phi",
        'ϕ' => "varphi",
        'χ' => "chi",
        'ψ' | 'Ψ' => "psi",
        'ω' | 'Ω' => "omega",
        _ => return None,
    })
}
