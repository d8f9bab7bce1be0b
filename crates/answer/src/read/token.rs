//! Tokens of mathematical notation: LaTeX, Unicode and plain text.

use aske_algebra::expr::Rational;
use smol_str::SmolStr;

/// One token of notation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    /// A number as written.
    Num(Num),
    /// One letter: a variable, or e, or i.
    Letter(char),
    /// Two or more letters in a row that name nothing known: a product, a unit or a token.
    Word(SmolStr),
    /// A command, an operator or a function by its one name here (`\leqslant`, `<=` and `≤` are all `le`).
    Cmd(SmolStr),
    /// Text set as text: `\text{…}`.
    Text(SmolStr),
    /// One of `+ - * / ^ _ ( ) [ ] { } | , ; : = < > ! % ' & ?`.
    Op(char),
    /// `\{`.
    SetOpen,
    /// `\}`.
    SetClose,
    /// `\\`: the end of a row.
    Row,
    /// What is too long or too deep to be read.
    TooLong,
}

/// A number as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Num {
    /// Its exact value.
    pub(crate) value: Rational,
    /// Written with a decimal point and not as a repeating decimal.
    pub(crate) decimal: bool,
    /// Its digits, where they are an integer's without separators.
    pub(crate) digits: Option<SmolStr>,
}

/// A token and whether white space stood before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) spaced: bool,
}

impl Token {
    #[inline]
    pub(crate) fn is_op(&self, op: char) -> bool {
        matches!(self.tok, Tok::Op(own) if own == op)
    }

    #[inline]
    pub(crate) fn is_cmd(&self, name: &str) -> bool {
        matches!(&self.tok, Tok::Cmd(known) if known == name)
    }

    /// +1 where a bracket opens, −1 where one closes.
    #[inline]
    pub(crate) fn nesting(&self) -> i32 {
        match &self.tok {
            Tok::Op('(' | '[' | '{') | Tok::SetOpen => 1,
            Tok::Op(')' | ']' | '}') | Tok::SetClose => -1,
            Tok::Cmd(name) => match name.as_bytes() {
                [b'l', ..] if matches!(name.as_str(), "langle" | "lfloor" | "lceil") => 1,
                [b'r', ..] if matches!(name.as_str(), "rangle" | "rfloor" | "rceil") => -1,
                b"begin" => 1,
                b"end" => -1,
                _ => 0,
            },
            _ => 0,
        }
    }
}
