//! The fixed tokens: commands, operators and words. In lists of names, white space separates.

use super::token::{Bracket, Tok};
use super::tree::NamedSet;
use aske_algebra::expr::Function as F;
use aske_algebra::relation::RelationOp;
use std::sync::LazyLock;

const COMMANDS: &[(&str, Tok)] = &[
    (
        ", thinspace : medspace ; thickspace quad qquad ! negthinspace negmedspace negthickspace $ vrule vcenter vbox \
         vskip vspace hfil",
        Tok::Skip,
    ),
    ("over div", Tok::Div),
    ("times cdot", Tok::Mul),
    ("mod", Tok::Mod),
    ("(", Tok::Open(Bracket::ParenVisual)),
    (")", Tok::Close(Bracket::ParenVisual)),
    ("lgroup", Tok::Open(Bracket::Group)),
    ("rgroup", Tok::Close(Bracket::Group)),
    ("{", Tok::Open(Bracket::BraceVisual)),
    ("}", Tok::Close(Bracket::BraceVisual)),
    ("lbrace", Tok::Open(Bracket::BraceCommand)),
    ("rbrace", Tok::Close(Bracket::BraceCommand)),
    ("lbrack", Tok::Open(Bracket::SquareCommand)),
    ("rbrack", Tok::Close(Bracket::SquareCommand)),
    ("phantom boxed", Tok::Wrapper),
    ("lvert", Tok::Open(Bracket::Vert)),
    ("rvert", Tok::Close(Bracket::Vert)),
    ("vert", Tok::Vert),
    ("langle", Tok::Open(Bracket::Angle)),
    ("rangle", Tok::Close(Bracket::Angle)),
    ("lfloor", Tok::Open(Bracket::Floor)),
    ("rfloor", Tok::Close(Bracket::Floor)),
    ("llcorner", Tok::Open(Bracket::LowerCorner)),
    ("lrcorner", Tok::Close(Bracket::LowerCorner)),
    ("lceil", Tok::Open(Bracket::Ceil)),
    ("rceil", Tok::Close(Bracket::Ceil)),
    ("ulcorner", Tok::Open(Bracket::UpperCorner)),
    ("urcorner", Tok::Close(Bracket::UpperCorner)),
    ("lim", Tok::Lim),
    ("to rightarrow Rightarrow longrightarrow Longrightarrow", Tok::Approach),
    ("int", Tok::Int),
    ("sum", Tok::Sum),
    ("prod", Tok::Prod),
    ("log", Tok::Log),
    ("ln", Tok::Ln),
    ("exp", Tok::Exp),
    ("Gamma gamma", Tok::Gamma),
    ("arcsinh", Tok::Function(F::Arsinh)),
    ("arccosh", Tok::Function(F::Arcosh)),
    ("arctanh", Tok::Function(F::Artanh)),
    ("sqrt", Tok::Sqrt),
    ("gcd", Tok::Several(F::Gcd)),
    ("lcm", Tok::Several(F::Lcm)),
    ("max", Tok::Several(F::Max)),
    ("min", Tok::Several(F::Min)),
    ("frac dfrac tfrac cfrac", Tok::Frac),
    ("binom tbinom dbinom", Tok::Binom),
    ("choose", Tok::Choose),
    ("operatorname", Tok::Operator),
    ("begin{matrix} begin{pmatrix} begin{bmatrix}", Tok::MatrixStart),
    ("end{matrix} end{pmatrix} end{bmatrix}", Tok::MatrixEnd),
    ("end{array}", Tok::ArrayEnd),
    ("begin{vmatrix}", Tok::DetStart),
    ("end{vmatrix}", Tok::DetEnd),
    ("\\", Tok::Row),
    ("exponentialE", Tok::E),
    ("in", Tok::In),
    ("notin", Tok::NotIn),
    ("equiv", Tok::Relation(RelationOp::Equal)),
    ("approx", Tok::Near),
    ("lt", Tok::Relation(RelationOp::Less)),
    ("leq le leqslant", Tok::Relation(RelationOp::LessEqual)),
    ("gt", Tok::Relation(RelationOp::Greater)),
    ("geq ge geqslant", Tok::Relation(RelationOp::GreaterEqual)),
    ("ne neq not\\equiv", Tok::Relation(RelationOp::NotEqual)),
    (
        "alpha beta delta Delta epsilon varepsilon zeta eta theta Theta vartheta iota kappa lambda Lambda mu nu xi Xi \
         omicron pi Pi varpi rho varrho sigma Sigma varsigma tau upsilon Upsilon phi Phi varphi chi psi Psi omega Omega \
         Bbbk wp nabla bigstar angle nexists diagdown measuredangle eth diagup sphericalangle clubsuit varnothing \
         Diamond complement diamondsuit imath Finv triangledown heartsuit jmath Game triangle spadesuit ell hbar \
         vartriangle hslash blacklozenge lozenge blacksquare mho blacktriangle sharp prime Im flat square backprime Re \
         natural surd circledS",
        Tok::Named,
    ),
    ("infty infty% infty\\% $\\infty", Tok::Infinity),
    ("mathbb{N}", Tok::Set(NamedSet::Naturals)),
    ("mathbb{Z}", Tok::Set(NamedSet::Integers)),
    ("mathbb{Q}", Tok::Set(NamedSet::Rationals)),
    ("mathbb{R}", Tok::Set(NamedSet::Reals)),
    ("mathbb{C}", Tok::Set(NamedSet::Complexes)),
    ("cup", Tok::Union),
    ("cap", Tok::Intersection),
    ("setminus", Tok::Minus),
    ("pm mp", Tok::PlusMinus),
    ("emptyset {\\} lbrace\\rbrace", Tok::Set(NamedSet::Empty)),
    // Tokens that no rule here uses.
    (
        "| det mathit xrightarrow xRightarrow leftrightarrow Leftrightarrow partial mathbb{P} supseteq subseteq",
        Tok::Other,
    ),
];

/// Commands that are the names of functions of one argument.
const FUNCTIONS: &str = "sin cos tan csc sec cot arcsin arccos arctan arccsc arcsec arccot sinh cosh tanh arsinh arcosh \
                         artanh floor ceil";

/// Commands whose name includes the braces after them.
const ACCENTS: &str = "acute bar overline breve check widecheck dot ddot grave hat tilde widetilde vec overrightarrow bm \
                       boldsymbol text textit textbf textnormal mathbb mathbin mathbf mathcal mathclap mathclose \
                       mathellipsis mathfrak mathinner mathit mathnormal mathop mathopen mathord mathpunct mathrel \
                       mathring mathrlap mathrm mathscr mathsf mathsterling mathtt mbox";

/// Words without a backslash that are tokens.
const WORDS: &str = "arsinh arcsinh arcosh arccosh artanh arctanh gcd lcm floor ceil eye zeros ones cols rows diag norm \
                     rank trace tr rref hstack vstack orth ortho orthogonal orthogonalize nullspace eig eigen diagonalize \
                     eigenvals eigenvalues eigenvects eigenvectors svd SVD matrix pmatrix bmatrix vmatrix";

/// Names and their tokens by their first byte, the longest first.
type Index = Vec<Vec<(&'static str, Tok)>>;

fn index(names: impl Iterator<Item = (&'static str, Tok)>) -> Index {
    let mut index: Index = vec![Vec::new(); 128];
    for (name, tok) in names {
        if let Some(slot) = name.bytes().next().and_then(|byte| index.get_mut(usize::from(byte))) {
            slot.push((name, tok));
        }
    }
    for slot in &mut index {
        slot.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }
    index
}

/// The longest name at the start of a text.
fn longest(index: &Index, rest: &str) -> Option<(&'static str, Tok)> {
    let slot = index.get(usize::from(*rest.as_bytes().first()?))?;
    slot.iter().find(|(name, _)| rest.starts_with(name)).copied()
}

/// The longest command at the start of what follows a backslash.
pub(super) fn command(rest: &str) -> Option<(usize, Tok)> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| {
        let functions =
            FUNCTIONS.split_whitespace().filter_map(|name| Some((name, Tok::Function(F::named(name)?))));
        let commands =
            COMMANDS.iter().flat_map(|(names, tok)| names.split_whitespace().map(|name| (name, *tok)));
        index(commands.chain(functions))
    });
    let (name, tok) = longest(&INDEX, rest)?;
    // A Greek letter or a symbol takes one space with it, and the gamma function becomes the letter.
    if matches!(tok, Tok::Named | Tok::Gamma) && rest[name.len()..].starts_with(' ') {
        return Some((name.len() + 1, Tok::Named));
    }
    Some((name.len(), tok))
}

/// An accent with its braces at the start of what follows a backslash: how long it is.
pub(super) fn accent(rest: &str) -> Option<usize> {
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = &rest[..letters];
    let after = &rest[letters..];
    let space = usize::from(after.starts_with([' ', '\t', '\r', '\n']));
    if !after[space..].starts_with('{') || !ACCENTS.split(' ').any(|accent| accent == name) {
        return None;
    }
    Some(letters + space + after[space..].find('}')? + 1)
}

/// The longest word at the start of the text.
pub(super) fn word(rest: &str) -> Option<usize> {
    static INDEX: LazyLock<Index> =
        LazyLock::new(|| index(WORDS.split_whitespace().map(|word| (word, Tok::Word))));
    longest(&INDEX, rest).map(|(word, _)| word.len())
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
        'ℕ' => Tok::Set(NamedSet::Naturals),
        'ℤ' => Tok::Set(NamedSet::Integers),
        'ℚ' => Tok::Set(NamedSet::Rationals),
        'ℝ' => Tok::Set(NamedSet::Reals),
        'ℂ' => Tok::Set(NamedSet::Complexes),
        '∪' => Tok::Union,
        '∩' => Tok::Intersection,
        '∖' => Tok::Minus,
        '±' | '∓' => Tok::PlusMinus,
        '∅' => Tok::Set(NamedSet::Empty),
        '∉' => Tok::NotIn,
        '.' | 'ℙ' | '⊇' | '⊆' => Tok::Other,
        'ℵ' | 'ℶ' | 'ℷ' | 'ℸ' => Tok::Named,
        _ => return greek(c).map(|_| Tok::Named),
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
