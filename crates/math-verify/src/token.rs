//! The tokens of math-verify's grammar.

use super::tree::NamedSet;
use aske_algebra::expr::Function;
use aske_algebra::relation::RelationOp;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    /// An opening bracket of a kind.
    Open(Bracket),
    /// A closing bracket of a kind.
    Close(Bracket),
    Bar,
    Vert,
    /// `\phantom` and `\boxed`.
    Wrapper,
    Lim,
    Approach,
    Int,
    Sum,
    Prod,
    /// `\log` and `\ln`.
    Log,
    Ln,
    Exp,
    Gamma,
    /// A known function of one argument.
    Function(Function),
    /// A known function of several arguments.
    Several(Function),
    /// A bare word that means a function only inside `\operatorname`.
    Word,
    Operator,
    Sqrt,
    Frac,
    Binom,
    Choose,
    MatrixStart,
    MatrixEnd,
    ArrayStart,
    ArrayEnd,
    DetStart,
    DetEnd,
    Column,
    Row,
    Under,
    Caret,
    Semicolon,
    Comma,
    Differential,
    E,
    BigE,
    Letter,
    /// A Greek letter or another symbol.
    Named,
    /// `\text{…}`, `\overline{…}` and their kind.
    Accent,
    Number,
    Scientific,
    Percent,
    Infinity,
    In,
    NotIn,
    Equal,
    Near,
    Relation(RelationOp),
    Bang,
    Transpose,
    Degree,
    Set(NamedSet),
    Union,
    Intersection,
    Minus,
    PlusMinus,
    /// Known to math-verify's lexer, not used by any rule here.
    Other,
    /// White space of all kinds, removed by the lexer.
    Skip,
    End,
}

/// The kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Paren,
    ParenVisual,
    Group,
    Brace,
    BraceVisual,
    BraceCommand,
    Square,
    SquareCommand,
    Vert,
    Angle,
    Floor,
    LowerCorner,
    Ceil,
    UpperCorner,
}

/// A token and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) start: u32,
    pub(super) end: u32,
}
